// Two CTAs of a cluster: each loads half of every tile and multicasts it to both.
// ptxcheck: launch block=160 cluster=2
#include "async.cuh"

constexpr int kStages = 3;  // ptxcheck: schedule kStages = 1..8
constexpr int kTile = 1024;

extern "C" __global__ void __launch_bounds__(160) __cluster_dims__(2, 1, 1)
    multicast(const float* input, float* output, int tiles) {
  __shared__ alignas(128) float buffer[kStages][kTile];
  __shared__ alignas(8) uint64_t full[kStages];
  __shared__ alignas(8) uint64_t empty[kStages];
  int rank = cluster_rank();
  const float* source = input + static_cast<size_t>(blockIdx.x / 2) * tiles * kTile;
  float* destination = output + static_cast<size_t>(blockIdx.x) * tiles * kTile;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      barrier_init(&full[stage], 1);
      barrier_init(&empty[stage], 2 * 128);
    }
    fence_barrier_init();
  }
  cluster_sync();
  if (threadIdx.x < 128) {
    int stage = 0, phase = 0;
    for (int tile = 0; tile < tiles; ++tile) {
      barrier_wait_cluster(&full[stage], phase);
      for (int i = threadIdx.x; i < kTile; i += 128) destination[tile * kTile + i] = buffer[stage][i] + rank;
      barrier_arrive_remote(&empty[stage], 0);
      barrier_arrive_remote(&empty[stage], 1);
      if (++stage == kStages) stage = 0, phase ^= 1;
    }
  } else if (threadIdx.x == 128) {
    int stage = 0, phase = 1;
    for (int tile = 0; tile < tiles; ++tile) {
      barrier_wait_cluster(&empty[stage], phase);
      barrier_expect(&full[stage], kTile * 4);
      int half = rank * (kTile / 2);
      bulk_load_multicast(&buffer[stage][half], source + tile * kTile + half, kTile * 2, &full[stage], 3);
      if (++stage == kStages) stage = 0, phase ^= 1;
    }
  }
  cluster_sync();
}
