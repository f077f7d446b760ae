#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t smem_u32(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

struct Barrier {
  uint64_t word;
  __device__ void init(uint32_t n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_u32(&word)), "r"(n) : "memory"); }
  __device__ void arrive() { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem_u32(&word)) : "memory"); }
  __device__ void arrive_and_expect(uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_u32(&word)), "r"(bytes) : "memory");
  }
  __device__ void wait(uint32_t parity) {
    asm volatile(
        "{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra DONE;\nbra LAB_WAIT;\nDONE:\n}"
        ::"r"(smem_u32(&word)), "r"(parity) : "memory");
  }
};

__device__ __forceinline__ void bulk(void *dst, const void *src, uint32_t bytes, Barrier *b) {
  asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(smem_u32(dst)),
               "l"(src), "r"(bytes), "r"(smem_u32(&b->word)) : "memory");
}

template <int kStages, int kTile>
struct Shared {
  alignas(128) float tile[kStages][kTile];
  Barrier full[kStages];
  Barrier empty[kStages];
};

template <int kStages, int kTile>
__global__ void __launch_bounds__(160) sum_rows(const float *__restrict__ x, float *__restrict__ y, int n_tiles, int scale) {
  extern __shared__ __align__(128) unsigned char raw[];
  auto &s = *reinterpret_cast<Shared<kStages, kTile> *>(raw);
  const int warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      s.full[i].init(1);
      s.empty[i].init(4);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (warp == 4) {
    if (threadIdx.x % 32 == 0) {
      int stage = 0;
      uint32_t phase = 0;
      for (int t = 0; t < n_tiles; ++t) {
        s.empty[stage].wait(phase ^ 1);
        s.full[stage].arrive_and_expect(kTile * sizeof(float));
        bulk(s.tile[stage], x + (size_t)t * kTile, kTile * sizeof(float), &s.full[stage]);
        if (++stage == kStages) { stage = 0; phase ^= 1; }
      }
    }
  } else {
    int stage = 0;
    uint32_t phase = 0;
    float acc = 0.f;
    for (int t = 0; t < n_tiles; ++t) {
      s.full[stage].wait(phase);
      for (int j = threadIdx.x; j < kTile; j += 128) {
        acc += s.tile[stage][j] * scale;
      }
      __syncwarp();
      if (threadIdx.x % 32 == 0) s.empty[stage].arrive();
      if (++stage == kStages) { stage = 0; phase ^= 1; }
    }
    y[threadIdx.x] = acc;
  }
}

template __global__ void sum_rows<2, 1024>(const float *, float *, int, int);
template __global__ void sum_rows<3, 512>(const float *, float *, int, int);
