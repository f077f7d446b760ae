// Scans and sorts whose steps read what other threads have written in the step before.
// ptxcheck: arch sm_90

// ptxcheck: launch block=128
__global__ void up_and_down(const int *input, int *output) {
  __shared__ int sums[256];
  sums[2 * threadIdx.x] = input[2 * threadIdx.x];
  sums[2 * threadIdx.x + 1] = input[2 * threadIdx.x + 1];
  int offset = 1;
  for (int width = 128; width > 0; width >>= 1) {
    __syncthreads();
    if (threadIdx.x < width) {
      int left = offset * (2 * threadIdx.x + 1) - 1, right = offset * (2 * threadIdx.x + 2) - 1;
      sums[right] += sums[left];
    }
    offset *= 2;
  }
  if (threadIdx.x == 0) sums[255] = 0;
  for (int width = 1; width < 256; width *= 2) {
    offset >>= 1;
    __syncthreads();
    if (threadIdx.x < width) {
      int left = offset * (2 * threadIdx.x + 1) - 1, right = offset * (2 * threadIdx.x + 2) - 1;
      int kept = sums[left];
      sums[left] = sums[right];
      sums[right] += kept;
    }
  }
  __syncthreads();
  output[2 * threadIdx.x] = sums[2 * threadIdx.x];
  output[2 * threadIdx.x + 1] = sums[2 * threadIdx.x + 1];
}

// ptxcheck: launch block=128
__global__ void odd_and_even(int *values) {
  __shared__ int sorted[256];
  sorted[threadIdx.x] = values[threadIdx.x];
  sorted[threadIdx.x + 128] = values[threadIdx.x + 128];
  __syncthreads();
  for (int step = 0; step < 256; ++step) {
    int at = 2 * threadIdx.x + (step & 1);
    if (at + 1 < 256) {
      int a = sorted[at], b = sorted[at + 1];
      sorted[at] = min(a, b);
      sorted[at + 1] = max(a, b);
    }
    __syncthreads();
  }
  values[threadIdx.x] = sorted[threadIdx.x];
  values[threadIdx.x + 128] = sorted[threadIdx.x + 128];
}

// ptxcheck: launch block=256
__global__ void in_place(const int *input, int *output) {
  __shared__ int sums[256];
  sums[threadIdx.x] = input[threadIdx.x];
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    int before = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
    __syncthreads();
    sums[threadIdx.x] += before;
    __syncthreads();
  }
  output[threadIdx.x] = sums[threadIdx.x];
}
