// Four panels of 256 KiB are announced at once: one byte more than a phase can count.
// ptxcheck: arch sm_90a
#include <cstdint>

__global__ void __launch_bounds__(32) panels(int *out) {
  __shared__ alignas(8) uint64_t barrier;
  uint32_t bar = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
    uint32_t bytes = 4 * 256 * 1024;
    // expect: MB008
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
  }
  out[threadIdx.x] = 1;
}
