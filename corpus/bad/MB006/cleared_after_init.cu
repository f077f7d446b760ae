// Shared memory is cleared after the barrier in it was initialised.
// ptxcheck: arch sm_90a
#include <cstdint>

__global__ void __launch_bounds__(64) clear(int *out) {
  __shared__ alignas(16) uint64_t storage[4];
  uint32_t bar = static_cast<uint32_t>(__cvta_generic_to_shared(&storage[2]));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(bar) : "memory");
    for (int n = 0; n < 4; n++) reinterpret_cast<volatile uint64_t *>(storage)[n] = 0;  // expect: MB006
  }
  __syncthreads();
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
  out[threadIdx.x] = 1;
}
