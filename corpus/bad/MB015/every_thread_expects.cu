// The producer branch was forgotten around the arrival: 128 threads announce the bytes of one copy.
// After jax-ml/jax db7484f392 (several arrivals with bytes on a barrier that counts one).
// ptxcheck: arch sm_90a
// ptxcheck: launch block=128
#include <cstdint>

__global__ void load(const char *source, char *out) {
  __shared__ alignas(128) char tile[2048];
  __shared__ alignas(8) uint64_t barrier;
  uint32_t bar = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
  uint32_t dst = static_cast<uint32_t>(__cvta_generic_to_shared(tile));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
  __syncthreads();
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 2048;" ::"r"(bar) : "memory");  // expect: MB015
  if (threadIdx.x == 0)
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 2048, [%2];" ::"r"(dst),
        "l"(source), "r"(bar)
        : "memory");
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(bar)  // expect: TX001
        : "memory");
  out[threadIdx.x] = tile[threadIdx.x];
}
