// Reductions of a block: the barrier that a round needs.

extern "C" __global__ void __launch_bounds__(256) sum_tree(const float* in, float* out)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int half = 128; half > 0; half >>= 1) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

extern "C" __global__ void __launch_bounds__(256) sum_rounds(const float* in, float* out)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int half = 128; half > 0; half >>= 1) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

extern "C" __global__ void __launch_bounds__(128) sum_interleaved(const int* in, int* out)
{
    __shared__ int part[128];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 128 + t];
    for (int step = 1; step < 128; step *= 2) {
        __syncthreads();
        if (t % (2 * step) == 0) part[t] += part[t + step];
    }
    __syncthreads();
    if (t == 0) out[blockIdx.x] = part[0];
}

extern "C" __global__ void __launch_bounds__(256) sum_told_to_all(const float* in, float* out)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int half = 128; half > 1; half >>= 1) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) part[0] += part[1];
    __syncthreads();
    out[blockIdx.x * 256 + t] = part[0];
}

extern "C" __global__ void __launch_bounds__(256) sums_of_warps(const int* in, int* out)
{
    __shared__ int sums[8];
    int t = threadIdx.x, sum = in[blockIdx.x * 256 + t];
    for (int step = 16; step > 0; step >>= 1) sum += __shfl_xor_sync(~0u, sum, step);
    if (t % 32 == 0) sums[t / 32] = sum;
    __syncthreads();
    int all = 0;
    for (int warp = 0; warp < 8; ++warp) all += sums[warp];
    out[blockIdx.x * 256 + t] = all;
}

extern "C" __global__ void __launch_bounds__(128) rows_one_after_the_other(const float* in, float* out, int rows)
{
    __shared__ float sums[4];
    int t = threadIdx.x;
    for (int row = 0; row < rows; ++row) {
        float sum = in[row * 128 + t];
        for (int step = 16; step > 0; step >>= 1) sum += __shfl_xor_sync(~0u, sum, step);
        if (t % 32 == 0) sums[t / 32] = sum;
        __syncthreads();
        if (t == 0) out[row] = sums[0] + sums[1] + sums[2] + sums[3];
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(256) minimum_and_maximum(const int* in, int* out)
{
    __shared__ int part[256];
    int t = threadIdx.x, x = in[blockIdx.x * 256 + t];
    part[t] = x;
    __syncthreads();
    for (int half = 128; half > 0; half >>= 1) {
        if (t < half) part[t] = min(part[t], part[t + half]);
        __syncthreads();
    }
    int least = part[0];
    __syncthreads();
    part[t] = x;
    __syncthreads();
    for (int half = 128; half > 0; half >>= 1) {
        if (t < half) part[t] = max(part[t], part[t + half]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0] - least;
}

extern "C" __global__ void __launch_bounds__(192) dot_of_any_block(const float* a, const float* b, float* out)
{
    __shared__ float part[192];
    int t = threadIdx.x;
    part[t] = a[t] * b[t];
    __syncthreads();
    for (int count = 192; count > 1;) {
        int half = (count + 1) / 2;
        float other = t + half < count ? part[t + half] : 0;
        __syncthreads();
        if (t + half < count) part[t] += other;
        __syncthreads();
        count = half;
    }
    if (t == 0) out[0] = part[0];
}

extern "C" __global__ void __launch_bounds__(128) columns_of_a_plane(const float* in, float* out)
{
    __shared__ float part[8][16];
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    part[y][x] = in[threadIdx.x];
    __syncthreads();
    if (y == 0) {
        float sum = 0;
        for (int row = 0; row < 8; ++row) sum += part[row][x];
        out[x] = sum;
    }
}
