// The summing warp releases the stage before it waits for it: the first release is one of a stage that is not filled.
// ptxcheck: launch block=64 cluster=1
// expect-verdict: phase-safety|deadlock-freedom|slot-safety violated @ here
// ptxcheck: arch sm_90a
#include <cstdint>

__device__ __forceinline__ void wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{ .reg .pred done; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @!done bra AGAIN; }" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

__global__ void ring_of_three(const char *source, int *out, uint32_t tiles) {
  constexpr uint32_t stages = 3, bytes = 1024;
  __shared__ alignas(8) uint64_t full[stages], empty[stages];
  __shared__ alignas(128) char tile[stages * bytes];
  uint32_t fulls = static_cast<uint32_t>(__cvta_generic_to_shared(full));
  uint32_t empties = static_cast<uint32_t>(__cvta_generic_to_shared(empty));
  uint32_t buffers = static_cast<uint32_t>(__cvta_generic_to_shared(tile));
  if (threadIdx.x == 0)
    for (uint32_t s = 0; s < stages; s++) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(fulls + 8 * s) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(empties + 8 * s) : "memory");
    }
  __syncthreads();
  uint32_t stage = 0, phase = 0;
  if (threadIdx.x == 0) {
    for (uint32_t t = 0; t < tiles; t++) {
      wait(empties + 8 * stage, phase ^ 1);  // <- here
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(fulls + 8 * stage), "r"(bytes) : "memory");
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(buffers + bytes * stage),
          "l"(source + bytes * t), "r"(bytes), "r"(fulls + 8 * stage)
          : "memory");
      if (++stage == stages) {
        stage = 0;
        phase ^= 1;
      }
    }
  } else if (threadIdx.x >= 32) {
    int sum = 0;
    for (uint32_t t = 0; t < tiles; t++) {
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(empties + 8 * stage) : "memory");  // <- here
      wait(fulls + 8 * stage, phase);  // <- here
      sum += tile[bytes * stage + threadIdx.x];  // <- here
      if (++stage == stages) {
        stage = 0;
        phase ^= 1;
      }
    }
    out[threadIdx.x] = sum;
  }
}
