// Every thread initialises the prefetch barrier, some after others have arrived on it.
// After NVIDIA/cutlass b1d6e2c9b.
// ptxcheck: arch sm_90a
// ptxcheck: launch block=128
#include <cstdint>

__global__ void prefetch(int *out) {
  __shared__ alignas(8) uint64_t barrier;
  uint32_t bar = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" ::"r"(bar) : "memory");  // expect: MB007
  __syncthreads();
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
  out[threadIdx.x] = 1;
}
