// A thread writes global memory, fences the proxies for it, and has it copied back in bulk in the same kernel.
// The repaired form of NVIDIA/cccl #3197 and #3198.
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
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes), "r"(bar) : "memory");
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(bar)
        : "memory");
}

__global__ void __launch_bounds__(1) round_trip(int4 *data, int *out) {
  __shared__ alignas(128) int4 tile[2];
  __shared__ alignas(8) uint64_t barrier;
  data[0] = make_int4(1, 2, 3, 4);
  data[1] = make_int4(5, 6, 7, 8);
  asm volatile("fence.proxy.async.global;" ::: "memory");
  load(tile, data, 32, &barrier);
  *out = tile[0].x + tile[1].w;
}
