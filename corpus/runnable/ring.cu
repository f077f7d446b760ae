// A ring of bulk copies: one producing thread, 128 consuming threads, four stages.
// ptxcheck: launch block=160 cluster=1
#include "async.cuh"

constexpr int kStages = 4;  // ptxcheck: schedule kStages = 1..8
constexpr int kTile = 1024;

extern "C" __global__ void __launch_bounds__(160) ring(const float* input, float* output, int tiles) {
  __shared__ alignas(128) float buffer[kStages][kTile];
  __shared__ alignas(8) uint64_t full[kStages];
  __shared__ alignas(8) uint64_t empty[kStages];
  const float* source = input + static_cast<size_t>(blockIdx.x) * tiles * kTile;
  float* destination = output + static_cast<size_t>(blockIdx.x) * tiles * kTile;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      barrier_init(&full[stage], 1);
      barrier_init(&empty[stage], 128);
    }
    fence_barrier_init();
  }
  __syncthreads();
  if (threadIdx.x < 128) {
    int stage = 0, phase = 0;
    for (int tile = 0; tile < tiles; ++tile) {
      barrier_wait(&full[stage], phase);
      for (int i = threadIdx.x; i < kTile; i += 128) destination[tile * kTile + i] = buffer[stage][i] * 2 + 1;
      barrier_arrive(&empty[stage]);
      if (++stage == kStages) stage = 0, phase ^= 1;
    }
  } else if (threadIdx.x == 128) {
    int stage = 0, phase = 1;
    for (int tile = 0; tile < tiles; ++tile) {
      barrier_wait(&empty[stage], phase);
      barrier_expect(&full[stage], kTile * 4);
      bulk_load(buffer[stage], source + tile * kTile, kTile * 4, &full[stage]);
      if (++stage == kStages) stage = 0, phase ^= 1;
    }
  }
}
