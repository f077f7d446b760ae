// Thread 0 initialises, arms and loads at once, before any barrier; the others come after the CTA barrier.
// ptxcheck: arch sm_90a
#include <cstdint>

__global__ void __launch_bounds__(128) load(const char *source, char *out) {
  __shared__ alignas(128) char tile[2048];
  __shared__ alignas(8) uint64_t barrier;
  uint32_t bar = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
  uint32_t dst = static_cast<uint32_t>(__cvta_generic_to_shared(tile));
  for (int n = threadIdx.x; n < 2048; n += 128) tile[n] = 0;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 2048;" ::"r"(bar) : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 2048, [%2];" ::"r"(dst),
        "l"(source), "r"(bar)
        : "memory");
  }
  __syncthreads();
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(bar)
        : "memory");
  out[threadIdx.x] = tile[threadIdx.x];
}
