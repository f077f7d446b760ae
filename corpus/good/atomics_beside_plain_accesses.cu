// Atomic operations are in order among themselves; plain accesses of the same bytes need a barrier.
// ptxcheck: arch sm_90

// ptxcheck: launch block=256
__global__ void histogram(const unsigned char *input, unsigned *output) {
  __shared__ unsigned counts[256];
  counts[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&counts[input[blockIdx.x * 256 + threadIdx.x]], 1u);
  atomicAdd(&counts[threadIdx.x / 2], 1u);
  __syncthreads();
  output[blockIdx.x * 256 + threadIdx.x] = counts[threadIdx.x];
}

// ptxcheck: launch block=128
__global__ void count(const int *input, int *output) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, input[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) *output = total;
}

// ptxcheck: launch block=128
__global__ void largest(const int *input, int *output) {
  __shared__ int most;
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  atomicMax(&most, input[threadIdx.x]);
  __syncthreads();
  output[threadIdx.x] = most;
}
