// A persistent kernel: a loop over tiles around a loop over K; the ring goes on from tile to tile.
// ptxcheck: launch block=160 cluster=1
#include "async.cuh"

constexpr int kStages = 3;
constexpr int kChunk = 512;

extern "C" __global__ void __launch_bounds__(160) persistent(const float* input, float* output, int tiles, int depth) {
  __shared__ alignas(128) float buffer[kStages][kChunk];
  __shared__ alignas(8) uint64_t full[kStages];
  __shared__ alignas(8) uint64_t empty[kStages];
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      barrier_init(&full[stage], 1);
      barrier_init(&empty[stage], 4);
    }
    fence_barrier_init();
  }
  __syncthreads();
  int stage = 0;
  if (threadIdx.x < 128) {
    int phase = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      float sum[kChunk / 128] = {};
      for (int k = 0; k < depth; ++k) {
        barrier_wait(&full[stage], phase);
        for (int i = 0; i < kChunk / 128; ++i) sum[i] += buffer[stage][i * 128 + threadIdx.x];
        __syncwarp();
        if (threadIdx.x % 32 == 0) barrier_arrive(&empty[stage]);
        if (++stage == kStages) stage = 0, phase ^= 1;
      }
      for (int i = 0; i < kChunk / 128; ++i) {
        output[static_cast<size_t>(tile) * kChunk + i * 128 + threadIdx.x] = sum[i];
      }
    }
  } else if (threadIdx.x == 128) {
    int phase = 1;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      for (int k = 0; k < depth; ++k) {
        barrier_wait(&empty[stage], phase);
        barrier_expect(&full[stage], kChunk * 4);
        bulk_load(buffer[stage], input + (static_cast<size_t>(tile) * depth + k) * kChunk, kChunk * 4, &full[stage]);
        if (++stage == kStages) stage = 0, phase ^= 1;
      }
    }
  }
}
