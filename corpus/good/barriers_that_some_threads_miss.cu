// All threads of a block come to each barrier, or have ended.
// ptxcheck: arch sm_90

// ptxcheck: launch block=256
__global__ void in_a_branch(const int *input, int *output) {
  __shared__ int values[256];
  values[threadIdx.x] = input[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 128) {
    output[threadIdx.x] = values[127 - threadIdx.x];
  }
  __syncthreads();
  values[threadIdx.x] = input[256 + threadIdx.x];
  __syncthreads();
  output[256 + threadIdx.x] = values[255 - threadIdx.x];
}

// ptxcheck: launch block=128
__global__ void in_a_loop(const int *input, int *output) {
  __shared__ int values[128];
  for (int i = 0; i < 6; i += 4) {
    values[threadIdx.x] = input[i * 128 + threadIdx.x];
    __syncthreads();
    output[i * 128 + threadIdx.x] = values[127 - threadIdx.x];
    __syncthreads();
  }
  values[threadIdx.x] = 0;
  __syncthreads();
  output[threadIdx.x] += values[127 - threadIdx.x];
}

// ptxcheck: launch block=256
__global__ void after_a_break(const int *input, int *output) {
  __shared__ int values[256];
  int sum = 0;
  for (int i = 0; i < 8; ++i) {
    values[threadIdx.x] = input[i * 256 + threadIdx.x];
    __syncthreads();
    if (threadIdx.x / 64 >= i / 2) sum += values[255 - threadIdx.x];
    __syncthreads();
  }
  values[threadIdx.x] = sum;
  __syncthreads();
  output[threadIdx.x] = values[255 - threadIdx.x];
}

// ptxcheck: launch block=64
__global__ void called_under_a_condition(const int *input, int *output, int n) {
  __shared__ int values[64];
  values[threadIdx.x] = input[threadIdx.x];
  if (n > 3) __syncthreads();
  __syncthreads();
  output[threadIdx.x] = values[63 - threadIdx.x];
}
