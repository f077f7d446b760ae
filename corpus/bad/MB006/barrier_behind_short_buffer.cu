// The barrier lies behind the 1024 bytes of the token, but the copy also brings 16 bytes of scales.
// After deepseek-ai/DeepEP 0970c4c.
// ptxcheck: arch sm_90a
#include <cstdint>

__global__ void __launch_bounds__(32) token(const char *source, char *out) {
  __shared__ alignas(128) char storage[1024 + 16];
  uint32_t base = static_cast<uint32_t>(__cvta_generic_to_shared(storage));
  uint32_t bar = base + 1024;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1040;" ::"r"(bar) : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1040, [%2];" ::"r"(base),
        "l"(source), "r"(bar)  // expect: MB006
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
  out[threadIdx.x] = storage[threadIdx.x];
}
