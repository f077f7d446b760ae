// C = A · Bᵀ in bfloat16 with wgmma: tensor maps with the 128-byte swizzle, four stages, one consuming warpgroup.
// ptxcheck: launch block=160 cluster=1
#include "async.cuh"

constexpr int kStages = 4;
constexpr int kM = 64, kN = 64, kK = 64;
constexpr int kTileBytes = kM * kK * 2;

__device__ inline void tensor_load(void* destination, const void* map, int x, int y, uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          shared_address(destination)),
      "l"(map), "r"(x), "r"(y), "r"(shared_address(barrier))
      : "memory");
}

// K-major tile with the 128-byte swizzle: 1024 bytes from one group of eight rows to the next.
__device__ inline uint64_t descriptor(const void* tile) {
  uint64_t address = (shared_address(tile) & 0x3FFFF) >> 4;
  return address | uint64_t{1} << 16 | uint64_t{64} << 32 | uint64_t{1} << 62;
}

struct alignas(64) Map {
  uint64_t words[16];
};

extern "C" __global__ void __launch_bounds__(160)
    gemm(const __grid_constant__ Map a_map, const __grid_constant__ Map b_map, float* output, int n, int k) {
  extern __shared__ char dynamic[];
  char* tiles = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(dynamic) + 1023) & ~uintptr_t{1023});
  __shared__ alignas(8) uint64_t full[kStages];
  __shared__ alignas(8) uint64_t empty[kStages];
  int row = blockIdx.y * kM, column = blockIdx.x * kN, steps = k / kK;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      barrier_init(&full[stage], 1);
      barrier_init(&empty[stage], 128);
    }
    fence_barrier_init();
  }
  __syncthreads();
  if (threadIdx.x >= 128) {
    if (threadIdx.x == 128) {
      int stage = 0, phase = 1;
      for (int step = 0; step < steps; ++step) {
        barrier_wait(&empty[stage], phase);
        barrier_expect(&full[stage], 2 * kTileBytes);
        tensor_load(tiles + stage * 2 * kTileBytes, &a_map, step * kK, row, &full[stage]);
        tensor_load(tiles + stage * 2 * kTileBytes + kTileBytes, &b_map, step * kK, column, &full[stage]);
        if (++stage == kStages) stage = 0, phase ^= 1;
      }
    }
    return;
  }
  float sum[32] = {};
  int stage = 0, phase = 0;
  for (int step = 0; step < steps; ++step) {
    barrier_wait(&full[stage], phase);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    uint64_t a = descriptor(tiles + stage * 2 * kTileBytes);
    uint64_t b = descriptor(tiles + stage * 2 * kTileBytes + kTileBytes);
#pragma unroll
    for (int part = 0; part < kK / 16; ++part) {
      asm volatile(
          "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
          "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
          "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
          "%32, %33, 1, 1, 1, 0, 0;"
          : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]),
            "+f"(sum[7]), "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]), "+f"(sum[13]),
            "+f"(sum[14]), "+f"(sum[15]), "+f"(sum[16]), "+f"(sum[17]), "+f"(sum[18]), "+f"(sum[19]), "+f"(sum[20]),
            "+f"(sum[21]), "+f"(sum[22]), "+f"(sum[23]), "+f"(sum[24]), "+f"(sum[25]), "+f"(sum[26]), "+f"(sum[27]),
            "+f"(sum[28]), "+f"(sum[29]), "+f"(sum[30]), "+f"(sum[31])
          : "l"(a + part * 2), "l"(b + part * 2));
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    barrier_arrive(&empty[stage]);
    if (++stage == kStages) stage = 0, phase ^= 1;
  }
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int i = 0; i < 32; ++i) {
    int r = row + warp * 16 + lane / 4 + (i / 2 % 2) * 8;
    int c = column + i / 4 * 8 + lane % 4 * 2 + i % 2;
    output[static_cast<size_t>(r) * n + c] = sum[i];
  }
}
