// Adds numbers half a warp apart, then reverses the block. The first barrier was moved into the branch.
// ptxcheck: arch sm_90a

// ptxcheck: launch block=128
__global__ void __launch_bounds__(128) add_and_reverse(const float *input, float *output) {
  __shared__ float tile[128];
  float sum = input[threadIdx.x];
  tile[threadIdx.x] = sum;
  if (threadIdx.x % 32 < 16) {
    __syncthreads();  // expect: NB004
    sum += tile[threadIdx.x + 16];
  }
  __syncthreads();
  tile[threadIdx.x] = sum;
  __syncthreads();
  output[threadIdx.x] = tile[127 - threadIdx.x];
}
