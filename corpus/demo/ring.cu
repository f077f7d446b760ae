// A ring of two stages: one warp copies tiles in, four warps sum them up.
#include <cstdint>

constexpr int STAGES = 2, TILE = 1024, CONSUMERS = 128;

__device__ uint32_t address(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void init(uint64_t *bar, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address(bar)), "r"(count) : "memory");
}

__device__ void arrive(uint64_t *bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address(bar)) : "memory");
}

__device__ void expect(uint64_t *bar, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(bar)), "r"(bytes) : "memory");
}

__device__ void wait(uint64_t *bar, int parity) {
  asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra again;\n}"
               ::"r"(address(bar)), "r"(parity) : "memory");
}

__device__ void copy(float *to, const float *from, int bytes, uint64_t *bar) {
  asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(address(to)), "l"(from), "r"(bytes), "r"(address(bar)) : "memory");
}

__global__ void __launch_bounds__(CONSUMERS + 32) ring(const float *in, float *out, int tiles) {
  __shared__ alignas(128) float tile[STAGES][TILE];
  __shared__ uint64_t full[STAGES], empty[STAGES];
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) {
      init(&full[i], 1);
      init(&empty[i], CONSUMERS);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x >= CONSUMERS) {
    if (threadIdx.x == CONSUMERS)
      for (int i = 0; i < tiles; ++i) {
        int stage = i % STAGES, round = i / STAGES;
        wait(&empty[stage], round & 1);
        expect(&full[stage], TILE * sizeof(float));
        copy(tile[stage], in + i * TILE, TILE * sizeof(float), &full[stage]);
      }
  } else {
    float sum = 0;
    for (int i = 0; i < tiles; ++i) {
      int stage = i % STAGES, round = i / STAGES;
      wait(&full[stage], round & 1);
      for (int j = threadIdx.x; j < TILE; j += CONSUMERS) sum += tile[stage][j];
      arrive(&empty[stage]);
    }
    out[threadIdx.x] = sum;
  }
}
