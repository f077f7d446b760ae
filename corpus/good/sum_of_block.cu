// A block adds its numbers up in shared memory.
// ptxcheck: arch sm_90a
constexpr int threads = 128;

// ptxcheck: launch block=128
__global__ void __launch_bounds__(threads) sum_of_block(const float *input, float *output) {
  __shared__ float partial[threads];
  partial[threadIdx.x] = input[blockIdx.x * threads + threadIdx.x];
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) output[blockIdx.x] = partial[0];
}
