// Storage for the barriers of four stages; the epilogue's own barrier comes after them.
// After deepseek-ai/DeepGEMM 3fc6728 (there in dynamic shared memory).
// ptxcheck: arch sm_90a
#include <cstdint>

__global__ void __launch_bounds__(128) ring(int *out) {
  __shared__ alignas(8) uint64_t barriers[8];
  uint32_t base = static_cast<uint32_t>(__cvta_generic_to_shared(barriers));
  if (threadIdx.x == 0) {
    for (int n = 0; n < 8; n++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(base + 8 * n) : "memory");
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(base + 64) : "memory");  // expect: MB016
  }
  __syncthreads();
  out[threadIdx.x] = 1;
}
