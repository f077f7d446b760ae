// One place for many threads: atomics beside plain accesses, counters, what one thread tells the others.

extern "C" __global__ void __launch_bounds__(256) bins_not_cleared(const unsigned char* in, int* out)
{
    __shared__ int bins[256];
    int t = threadIdx.x;
    bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[t * 7 & 255], in[t]);
    __syncthreads();
    out[t] = bins[t];
}

extern "C" __global__ void __launch_bounds__(256) bins_read_early(const unsigned char* in, int* out)
{
    __shared__ int bins[256];
    int t = threadIdx.x;
    bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[t * 7 & 255], in[t]);
    __syncthreads();
    out[t] = bins[t];
}

extern "C" __global__ void __launch_bounds__(256) bins_without_atomics(const int* in, int* out)
{
    __shared__ int bins[64];
    int t = threadIdx.x;
    if (t < 64) bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[t & 63], in[t]);
    __syncthreads();
    if (t < 64) out[t] = bins[t];
}

extern "C" __global__ void __launch_bounds__(128) count_of_all(const int* in, int* out)
{
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (in[threadIdx.x] > 0) out[threadIdx.x] = 1;
    atomicAdd(&count, in[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) out[128] = count;
}

extern "C" __global__ void __launch_bounds__(128) count_set_back(const int* in, int* out, int rounds)
{
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    for (int round = 0; round < rounds; ++round) {
        atomicAdd(&count, in[round * 128 + threadIdx.x]);
        __syncthreads();
        out[round * 128 + threadIdx.x] = count;
        __syncthreads();
        if (threadIdx.x == 0) count = 0;
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(128) first_thread_tells(const int* in, int* out)
{
    __shared__ int base;
    if (threadIdx.x == 0) base = atomicAdd(out, 128);
    __syncthreads();
    out[base + threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(128) told_in_each_round(int* work, int* out, int total)
{
    __shared__ int item;
    for (int i = 0; i < total; ++i) {
        if (threadIdx.x == 0) item = atomicAdd(work, 1);
        __syncthreads();
        out[item * 128 + threadIdx.x] = i;
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(128) last_one_stays(const int* in, int* out)
{
    __shared__ int chosen;
    if (threadIdx.x == 5) chosen = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = chosen;
}

extern "C" __global__ void __launch_bounds__(128) flags_of_warps(const int* in, int* out)
{
    __shared__ int flags[2];
    if (threadIdx.x % 64 == 0) flags[threadIdx.x / 64] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = flags[threadIdx.x / 64] + in[threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(128) list_of_positives(const int* in, int* out)
{
    __shared__ int count, list[128];
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (in[threadIdx.x] & 1) list[atomicAdd(&count, 1)] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = threadIdx.x < count ? list[threadIdx.x] : -1;
}

extern "C" __global__ void __launch_bounds__(128) table_of_one_warp(const float* in, float* out)
{
    __shared__ float table[32];
    if (threadIdx.x < 32) table[threadIdx.x] = in[threadIdx.x] * 2;
    __syncthreads();
    out[threadIdx.x] = table[threadIdx.x % 32];
}

extern "C" __global__ void __launch_bounds__(128) warps_side_by_side(const int* in, int* out)
{
    __shared__ int lines[4][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    lines[warp][lane] = in[threadIdx.x];
    __syncwarp();
    out[threadIdx.x] = lines[warp][31 - lane];
}

extern "C" __global__ void __launch_bounds__(128) maximum_beside_atomics(const int* in, int* out)
{
    __shared__ int best;
    if (threadIdx.x == 0) best = -1;
    __syncthreads();
    atomicMax(&best, in[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 64) best = 0;
    if (threadIdx.x == 64) out[0] = best;
}
