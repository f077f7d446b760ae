// Two buffers in turn need one barrier a round, in the right place.
// ptxcheck: arch sm_90

// ptxcheck: launch block=256
__global__ void in_turn(const float *input, float *output, int rows) {
  __shared__ float buffer[2][256];
  for (int y = 0; y < rows; ++y) {
    buffer[y % 2][threadIdx.x] = input[y * 256 + threadIdx.x];
    __syncthreads();
    output[y * 256 + threadIdx.x] = buffer[y % 2][255 - threadIdx.x];
  }
}

// ptxcheck: launch block=128
__global__ void one_ahead(const float *input, float *output, int rows) {
  __shared__ float buffer[2][128];
  buffer[0][threadIdx.x] = input[threadIdx.x];
  __syncthreads();
  for (int y = 0; y + 1 < rows; ++y) {
    output[y * 128 + threadIdx.x] = buffer[y & 1][127 - threadIdx.x];
    buffer[(y + 1) & 1][threadIdx.x] = input[(y + 1) * 128 + threadIdx.x];
    __syncthreads();
  }
}

// ptxcheck: launch block=64
__global__ void sums_before(const int *input, int *output) {
  __shared__ int sums[2][64];
  int from = 0;
  sums[0][threadIdx.x] = input[threadIdx.x];
  __syncthreads();
  for (int step = 1; step < 64; step *= 2) {
    int sum = sums[from][threadIdx.x];
    if (threadIdx.x >= step) sum += sums[from][threadIdx.x - step];
    from ^= 1;
    sums[from][threadIdx.x] = sum;
    __syncthreads();
  }
  output[threadIdx.x] = sums[from][threadIdx.x];
}
