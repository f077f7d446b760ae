// A row of five floats is copied in bulk: 20 bytes.
// After NVIDIA/Fuser #5501 and tile-ai/tilelang #2646, #2683 and #2716.
// ptxcheck: arch sm_90a
#include <cstdint>

__device__ __forceinline__ uint32_t shared_address(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void load(void *tile, const void *from, uint32_t bytes, uint64_t *barrier) {
  uint32_t bar = shared_address(barrier);
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
  uint32_t to = shared_address(tile);
  // expect: BG001
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes), "r"(bar) : "memory");
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(bar)
        : "memory");
}

__global__ void __launch_bounds__(1) first_row(const float *rows, float *out) {
  __shared__ alignas(128) float tile[8];
  __shared__ alignas(8) uint64_t barrier;
  load(tile, rows, 5 * sizeof(float), &barrier);
  *out = tile[4];
}
