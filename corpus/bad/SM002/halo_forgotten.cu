// A stencil reads one element past the block's own elements; the array has no room for it.
// ptxcheck: arch sm_90a
// ptxcheck: launch block=128
__global__ void stencil(const float *input, float *output) {
  __shared__ float tile[128];
  tile[threadIdx.x] = input[threadIdx.x];
  __syncthreads();
  output[threadIdx.x] = tile[threadIdx.x] + reinterpret_cast<volatile float *>(tile)[threadIdx.x + 1];  // expect: SM002
}
