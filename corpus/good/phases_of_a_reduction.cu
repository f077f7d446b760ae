// Sums over a block in several phases, each of which reads what the one before has written.
// ptxcheck: arch sm_90

// ptxcheck: launch block=256
__global__ void halving(const float *input, float *output) {
  __shared__ float sums[256];
  sums[threadIdx.x] = input[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  for (int half = 128; half > 0; half >>= 1) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) output[blockIdx.x] = sums[0];
}

// ptxcheck: launch block=128
__global__ void interleaved(const int *input, int *output) {
  extern __shared__ int partial[];
  partial[threadIdx.x] = input[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    __syncthreads();
    if (threadIdx.x % (2 * stride) == 0) partial[threadIdx.x] += partial[threadIdx.x + stride];
  }
  __syncthreads();
  if (threadIdx.x == 0) output[blockIdx.x] = partial[0];
}

// ptxcheck: launch block=256
__global__ void of_warps(const float *input, float *output) {
  __shared__ float of_warp[8];
  float sum = input[blockIdx.x * 256 + threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 8) {
    sum = of_warp[threadIdx.x];
    for (int offset = 4; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffu, sum, offset);
    if (threadIdx.x == 0) output[blockIdx.x] = sum;
  }
}

// ptxcheck: launch block=256
__global__ void mean_and_variance(const float *input, float *output) {
  __shared__ float sums[256];
  float value = input[threadIdx.x];
  sums[threadIdx.x] = value;
  __syncthreads();
  for (int half = 128; half > 0; half >>= 1) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  float mean = sums[0] / 256;
  __syncthreads();
  sums[threadIdx.x] = (value - mean) * (value - mean);
  __syncthreads();
  for (int half = 128; half > 0; half >>= 1) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) output[0] = sums[0] / 256;
}
