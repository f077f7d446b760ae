// Tiles whose rows are padded: a pitch below the width lets rows overlap.
// ptxcheck: arch sm_90

// ptxcheck: launch block=32x8
__global__ void transpose(const float *input, float *output, int width) {
  __shared__ float tile[32 * 33];
  for (int j = 0; j < 32; j += 8)
    tile[(threadIdx.y + j) * 33 + threadIdx.x] = input[(threadIdx.y + j) * width + threadIdx.x];
  __syncthreads();
  for (int j = 0; j < 32; j += 8) output[(threadIdx.y + j) * width + threadIdx.x] = tile[threadIdx.x * 33 + threadIdx.y + j];
}

// ptxcheck: launch block=32x32
__global__ void transpose_in_place(float *values) {
  __shared__ float tile[32][33];
  tile[threadIdx.y][threadIdx.x] = values[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  values[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

// ptxcheck: launch block=16x16
__global__ void column_sums(const float *input, float *output) {
  __shared__ float tile[16 * 16];
  tile[threadIdx.y * 16 + threadIdx.x] = input[threadIdx.y * 16 + threadIdx.x];
  __syncthreads();
  if (threadIdx.y == 0) {
    float sum = 0;
    for (int y = 0; y < 16; ++y) sum += tile[y * 16 + threadIdx.x];
    output[threadIdx.x] = sum;
  }
}
