// A ring whose results leave by bulk stores: the buffer is written again only when the store has read it.
// ptxcheck: launch block=160 cluster=1
#include "async.cuh"

constexpr int kStages = 3;  // ptxcheck: schedule kStages = 1..8
constexpr int kTile = 1024;

extern "C" __global__ void __launch_bounds__(160) ring_store(const float* input, float* output, int tiles) {
  __shared__ alignas(128) float buffer[kStages][kTile];
  __shared__ alignas(128) float result[2][kTile];
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
    int stage = 0, phase = 0, half = 0;
    for (int tile = 0; tile < tiles; ++tile) {
      if (threadIdx.x == 0) bulk_wait_read<1>();
      named_sync(1, 128);
      barrier_wait(&full[stage], phase);
      for (int i = threadIdx.x; i < kTile; i += 128) result[half][i] = buffer[stage][i] * 3 - 1;
      barrier_arrive(&empty[stage]);
      fence_async_proxy();
      named_sync(1, 128);
      if (threadIdx.x == 0) {
        bulk_store(destination + tile * kTile, result[half], kTile * 4);
        bulk_commit();
      }
      half ^= 1;
      if (++stage == kStages) stage = 0, phase ^= 1;
    }
    if (threadIdx.x == 0) bulk_wait<0>();
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
