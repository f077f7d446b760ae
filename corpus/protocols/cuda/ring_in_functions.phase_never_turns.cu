// The function that steps to the next stage keeps the phase.
// ptxcheck: launch block=64 cluster=1
// expect-verdict: phase-safety violated @ here
// ptxcheck: arch sm_90a
#include <cstdint>

struct Ring {
  uint32_t stage, phase;
};

__device__ __noinline__ void init(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

__device__ __noinline__ void wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{ .reg .pred done; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @!done bra AGAIN; }" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

__device__ __noinline__ void load(uint32_t to, const char *from, uint32_t bytes, uint32_t barrier) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");  // <- here
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes),
      "r"(barrier)
      : "memory");
}

__device__ __noinline__ void release(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ __noinline__ Ring after(Ring now, uint32_t stages) {
  return now.stage + 1 == stages ? Ring{0, now.phase} : Ring{now.stage + 1, now.phase};
}

__global__ void ring_in_functions(const char *source, int *out, uint32_t tiles) {
  constexpr uint32_t stages = 3, bytes = 1024;
  __shared__ alignas(8) uint64_t full[stages], empty[stages];
  __shared__ alignas(128) char tile[stages * bytes];
  uint32_t fulls = static_cast<uint32_t>(__cvta_generic_to_shared(full));
  uint32_t empties = static_cast<uint32_t>(__cvta_generic_to_shared(empty));
  uint32_t buffers = static_cast<uint32_t>(__cvta_generic_to_shared(tile));
  if (threadIdx.x == 0)
    for (uint32_t s = 0; s < stages; s++) {
      init(fulls + 8 * s, 1);
      init(empties + 8 * s, 32);
    }
  __syncthreads();
  Ring now{0, 0};
  if (threadIdx.x == 0) {
    for (uint32_t t = 0; t < tiles; t++) {
      wait(empties + 8 * now.stage, now.phase ^ 1);
      load(buffers + bytes * now.stage, source + bytes * t, bytes, fulls + 8 * now.stage);
      now = after(now, stages);
    }
  } else if (threadIdx.x >= 32) {
    int sum = 0;
    for (uint32_t t = 0; t < tiles; t++) {
      wait(fulls + 8 * now.stage, now.phase);
      sum += tile[bytes * now.stage + threadIdx.x];
      release(empties + 8 * now.stage);
      now = after(now, stages);
    }
    out[threadIdx.x] = sum;
  }
}
