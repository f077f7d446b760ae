// Values of other threads are used: a barrier has to lie between storing and using them.
// ptxcheck: arch sm_90

// ptxcheck: launch block=256
__global__ void reverse(const float *input, float *output) {
  __shared__ float values[256];
  values[threadIdx.x] = input[threadIdx.x];
  __syncthreads();
  output[threadIdx.x] = values[255 - threadIdx.x];
}

// ptxcheck: launch block=128
__global__ void broadcast(const float *input, float *output) {
  __shared__ float scale;
  if (threadIdx.x == 0) scale = input[0];
  __syncthreads();
  output[threadIdx.x] = input[threadIdx.x] * scale;
}

// ptxcheck: launch block=256
__global__ void blur(const float *input, float *output, int n) {
  __shared__ float row[258];
  int i = blockIdx.x * 256 + threadIdx.x;
  row[threadIdx.x + 1] = i < n ? input[i] : 0.0f;
  if (threadIdx.x == 0) row[0] = i > 0 ? input[i - 1] : 0.0f;
  if (threadIdx.x == 255) row[257] = i + 1 < n ? input[i + 1] : 0.0f;
  __syncthreads();
  float sum = row[threadIdx.x] + row[threadIdx.x + 1] + row[threadIdx.x + 2];
  if (i < n) output[i] = sum;
}

// ptxcheck: launch block=64
__global__ void gather(const int *index, const float *table, float *output) {
  __shared__ float copy[64];
  copy[threadIdx.x ^ 32] = table[threadIdx.x];
  __syncthreads();
  output[threadIdx.x] = copy[threadIdx.x] + index[threadIdx.x];
}
