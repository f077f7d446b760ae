// Two consuming warpgroups take tiles in turn; an order barrier lets one store at a time.
// ptxcheck: launch block=384
#include "async.cuh"

constexpr int kStages = 4;  // ptxcheck: schedule kStages = 1..8
constexpr int kTile = 1024;

extern "C" __global__ void __launch_bounds__(384) ping_pong(const float* input, float* output, int tiles) {
  __shared__ alignas(128) float buffer[kStages][kTile];
  __shared__ float running;
  __shared__ alignas(8) uint64_t full[kStages];
  __shared__ alignas(8) uint64_t empty[kStages];
  __shared__ alignas(8) uint64_t turn[2];
  const float* source = input + static_cast<size_t>(blockIdx.x) * tiles * kTile;
  float* destination = output + static_cast<size_t>(blockIdx.x) * tiles * kTile;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      barrier_init(&full[stage], 1);
      barrier_init(&empty[stage], 128);
    }
    barrier_init(&turn[0], 128);
    barrier_init(&turn[1], 128);
    fence_barrier_init();
    running = 0;
  }
  __syncthreads();
  int group = threadIdx.x / 128;
  int lane = threadIdx.x % 128;
  if (group == 0) {
    if (lane == 0) {
      for (int tile = 0; tile < tiles; ++tile) {
        int stage = tile % kStages, phase = (tile / kStages) & 1;
        barrier_wait(&empty[stage], phase ^ 1);
        barrier_expect(&full[stage], kTile * 4);
        bulk_load(buffer[stage], source + tile * kTile, kTile * 4, &full[stage]);
      }
    }
  } else {
    int mine = group - 1, round = 0;
    for (int tile = mine; tile < tiles; tile += 2, ++round) {
      int stage = tile % kStages, phase = (tile / kStages) & 1;
      barrier_wait(&full[stage], phase);
      // Group 0 goes first: its first wait passes at once, the other waits for it.
      barrier_wait(&turn[mine], mine == 0 ? (round & 1) ^ 1 : round & 1);
      float before = running;
      for (int i = lane; i < kTile; i += 128) destination[tile * kTile + i] = buffer[stage][i] + before;
      named_sync(1 + mine, 128);
      if (lane == 0) running = before + 1;
      barrier_arrive(&turn[mine ^ 1]);
      barrier_arrive(&empty[stage]);
    }
  }
}
