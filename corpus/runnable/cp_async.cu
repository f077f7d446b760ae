// cp.async in four stages with groups: every thread copies, all threads meet before a stage is read.
// ptxcheck: launch block=128
#include "async.cuh"

constexpr int kStages = 4;
constexpr int kTile = 512;

__device__ inline void copy16(void* destination, const void* source) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(destination)), "l"(source) : "memory");
}

extern "C" __global__ void __launch_bounds__(128) cp_async(const float* input, float* output, int tiles) {
  __shared__ alignas(128) float buffer[kStages][kTile];
  const float* source = input + static_cast<size_t>(blockIdx.x) * tiles * kTile;
  float* destination = output + static_cast<size_t>(blockIdx.x) * tiles * kTile;
  for (int stage = 0; stage < kStages - 1; ++stage) {
    if (stage < tiles) copy16(&buffer[stage][threadIdx.x * 4], source + stage * kTile + threadIdx.x * 4);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  for (int tile = 0; tile < tiles; ++tile) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
    __syncthreads();
    int next = tile + kStages - 1;
    if (next < tiles) copy16(&buffer[next % kStages][threadIdx.x * 4], source + next * kTile + threadIdx.x * 4);
    asm volatile("cp.async.commit_group;" ::: "memory");
    for (int i = threadIdx.x; i < kTile; i += 128) {
      destination[tile * kTile + i] = buffer[tile % kStages][kTile - 1 - i] + 1;
    }
  }
}
