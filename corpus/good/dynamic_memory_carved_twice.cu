// Arrays cut out of dynamic shared memory by hand.
// ptxcheck: arch sm_90

// ptxcheck: launch block=128
__global__ void keys_and_values(const int *input, int *output) {
  extern __shared__ int memory[];
  int *keys = memory;
  int *values = memory + 128;
  keys[threadIdx.x] = input[threadIdx.x];
  values[threadIdx.x] = input[128 + threadIdx.x];
  __syncthreads();
  output[threadIdx.x] = keys[127 - threadIdx.x] + values[127 - threadIdx.x];
}

// ptxcheck: launch block=64
__global__ void bytes_for_elements(const double *input, double *output) {
  extern __shared__ char bytes[];
  double *sums = reinterpret_cast<double *>(bytes);
  int *flags = reinterpret_cast<int *>(bytes + 64 * 8);
  sums[threadIdx.x] = input[threadIdx.x];
  flags[threadIdx.x] = threadIdx.x;
  __syncthreads();
  output[threadIdx.x] = sums[63 - threadIdx.x] * flags[63 - threadIdx.x];
}
