// An allocator thinks that the first barrier is dead and hands its address out again.
// After facebookexperimental/triton b8a6c3f67.
// ptxcheck: arch sm_90a
#include <cstdint>

__global__ void __launch_bounds__(128) reuse(int *out) {
  __shared__ alignas(16) char storage[64];
  uint32_t base = static_cast<uint32_t>(__cvta_generic_to_shared(storage));
  uint32_t first = base + 16, second = base + 16;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(first) : "memory");
  __syncthreads();
  out[threadIdx.x] = 1;
  // expect: MB004
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" ::"r"(second) : "memory");
  __syncthreads();
}
