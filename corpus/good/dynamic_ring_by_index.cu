// Barriers and buffers in dynamic shared memory, rounded up by hand; barrier n is initialised by thread n.
// ptxcheck: arch sm_90a
// ptxcheck: launch block=128
#include <cstdint>

extern __shared__ char memory[];

__device__ __forceinline__ void wait(uint32_t bar, uint32_t parity) {
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(bar), "r"(parity)
        : "memory");
}

__global__ void ring(const char *source, int *out, int tiles) {
  constexpr int stages = 4, bytes = 2048;
  uint32_t base = (static_cast<uint32_t>(__cvta_generic_to_shared(memory)) + 1023) & ~1023u;
  uint32_t full = base + stages * bytes, data = base;
  if (threadIdx.x < stages)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full + 8 * threadIdx.x) : "memory");
  __syncthreads();
  int sum = 0;
  for (int n = 0; n < tiles; n++) {
    int stage = n % stages;
    if (threadIdx.x == 0) {
      uint32_t bar = full + 8 * stage;
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 2048;" ::"r"(bar) : "memory");
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 2048, [%2];" ::"r"(
              data + bytes * stage),
          "l"(source + bytes * n), "r"(bar)
          : "memory");
    }
    wait(full + 8 * stage, (n / stages) & 1);
    int value;
    asm volatile("ld.shared.s32 %0, [%1];" : "=r"(value) : "r"(data + bytes * stage + 4 * threadIdx.x) : "memory");
    sum += value;
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}
