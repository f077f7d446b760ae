// One try and no look at its answer: the reader goes on when the time limit is over.
// ptxcheck: arch sm_90a
#include <cstdint>

__global__ void __launch_bounds__(128) read_once(const char *source, char *out) {
  __shared__ alignas(128) char tile[2048];
  __shared__ alignas(8) uint64_t barrier;
  uint32_t bar = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
  uint32_t dst = static_cast<uint32_t>(__cvta_generic_to_shared(tile));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 2048;" ::"r"(bar) : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 2048, [%2];" ::"r"(dst),
        "l"(source), "r"(bar)  // expect: SM021
        : "memory");
  }
  // expect: MB011
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; }" ::"r"(bar) : "memory");
  out[threadIdx.x] = tile[threadIdx.x];  // expect: SM020
}
