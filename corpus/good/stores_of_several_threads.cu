// One place in shared memory, and several threads that store different values there.
// ptxcheck: arch sm_90

// ptxcheck: launch block=256
__global__ void last_of_warp(const int *input, int *output) {
  __shared__ int last[8];
  if (threadIdx.x % 32 == 31) last[threadIdx.x / 32] = input[threadIdx.x];
  __syncthreads();
  output[threadIdx.x] = last[threadIdx.x / 32];
}

// ptxcheck: launch block=128
__global__ void flag_and_value(const int *input, int *output) {
  __shared__ int first, second;
  if (threadIdx.x < 1) first = input[threadIdx.x];
  if (threadIdx.x == 64) second = input[64];
  __syncthreads();
  output[threadIdx.x] = first + second;
}

// ptxcheck: launch block=64
__global__ void halves(const int *input, int *output) {
  __shared__ int values[64];
  values[threadIdx.x & 63] = input[threadIdx.x];
  __syncthreads();
  output[threadIdx.x] = values[63 - threadIdx.x];
}
