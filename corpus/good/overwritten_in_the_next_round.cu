// Each round reads what all threads have stored: no thread may store again before all have read.
// ptxcheck: arch sm_90

// ptxcheck: launch block=256
__global__ void reversed_rows(const float *input, float *output, int rows) {
  __shared__ float row[256];
  for (int y = 0; y < rows; ++y) {
    row[threadIdx.x] = input[y * 256 + threadIdx.x];
    __syncthreads();
    output[y * 256 + threadIdx.x] = row[255 - threadIdx.x];
    __syncthreads();
  }
}

// ptxcheck: launch block=16x16
__global__ void multiply(const float *a, const float *b, float *c, int n) {
  __shared__ float left[16][16], right[16][16];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    left[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

// ptxcheck: launch block=128
__global__ void largest_of_rows(const float *input, float *output, int rows) {
  __shared__ float largest[4];
  for (int y = 0; y < rows; ++y) {
    float value = input[y * 128 + threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2) value = fmaxf(value, __shfl_xor_sync(~0u, value, offset));
    if (threadIdx.x % 32 == 0) largest[threadIdx.x / 32] = value;
    __syncthreads();
    float most = fmaxf(fmaxf(largest[0], largest[1]), fmaxf(largest[2], largest[3]));
    output[y * 128 + threadIdx.x] = input[y * 128 + threadIdx.x] / most;
    __syncthreads();
  }
}
