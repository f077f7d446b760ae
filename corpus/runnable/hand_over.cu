// Two warps write a tile, two read it; named barriers say when the tile is full and when it is free.
// ptxcheck: launch block=128
#include "async.cuh"

constexpr int kFull = 1;
constexpr int kEmpty = 3;

extern "C" __global__ void __launch_bounds__(128) hand_over(const float* input, float* output, int tiles) {
  __shared__ float buffer[2][64];
  const float* source = input + static_cast<size_t>(blockIdx.x) * tiles * 64;
  float* destination = output + static_cast<size_t>(blockIdx.x) * tiles * 64;
  int lane = threadIdx.x % 64;
  if (threadIdx.x < 64) {
    for (int tile = 0; tile < tiles; ++tile) {
      int half = tile & 1;
      if (tile >= 2) named_sync(kEmpty + half, 128);
      buffer[half][lane] = source[tile * 64 + lane] * 2;
      named_arrive(kFull + half, 128);
    }
  } else {
    for (int tile = 0; tile < tiles; ++tile) {
      int half = tile & 1;
      named_sync(kFull + half, 128);
      destination[tile * 64 + lane] = buffer[half][63 - lane];
      if (tile + 2 < tiles) named_arrive(kEmpty + half, 128);
    }
  }
}
