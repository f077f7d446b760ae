// The last warp sums without barriers: its lanes have to meet between the steps.
// ptxcheck: arch sm_90

// ptxcheck: launch block=128
__global__ void unrolled(const float *input, float *output) {
  __shared__ float sums[128];
  sums[threadIdx.x] = input[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 64) sums[threadIdx.x] += sums[threadIdx.x + 64];
  __syncthreads();
  if (threadIdx.x < 32) {
    float sum = sums[threadIdx.x] + sums[threadIdx.x + 32];
    sums[threadIdx.x] = sum;
    __syncwarp();
    sum += sums[threadIdx.x ^ 16];
    sums[threadIdx.x + 64] = sum;
    __syncwarp();
    sum += sums[64 + (threadIdx.x ^ 8)];
    if (threadIdx.x == 0) *output = sum;
  }
}

// ptxcheck: launch block=32
__global__ void rotated(const float *input, float *output) {
  __shared__ float values[32];
  values[threadIdx.x] = input[threadIdx.x];
  __syncwarp();
  output[threadIdx.x] = values[(threadIdx.x + 1) % 32];
}

// ptxcheck: launch block=64
__global__ void tile_of_each_warp(const float *input, float *output, int rounds) {
  __shared__ float tiles[2][32];
  float *tile = tiles[threadIdx.x / 32];
  int lane = threadIdx.x % 32;
  for (int i = 0; i < rounds; ++i) {
    tile[lane] = input[i * 64 + threadIdx.x];
    __syncwarp();
    output[i * 64 + threadIdx.x] = tile[31 - lane];
    __syncwarp();
  }
}
