// Places in shared memory that come out of data: bins, lists that are searched, ranks, permutations.

extern "C" __global__ void __launch_bounds__(256) bins_of_numbers(const unsigned char* in, int* out)
{
    __shared__ int bins[256];
    int t = threadIdx.x;
    bins[t] = 0;
    __syncthreads();
    for (int i = 0; i < 4; ++i) atomicAdd(&bins[in[t + 256 * i]], 1);
    __syncthreads();
    out[t] = bins[t];
}

extern "C" __global__ void __launch_bounds__(256) gathered(const float* in, const unsigned char* places, float* out)
{
    __shared__ float tile[256];
    int t = threadIdx.x;
    tile[t] = in[t];
    __syncthreads();
    out[t] = tile[places[t]];
}

extern "C" __global__ void __launch_bounds__(128) searched(const int* in, const int* keys, int* out)
{
    __shared__ int list[128];
    int t = threadIdx.x;
    list[t] = in[t];
    __syncthreads();
    int low = 0, key = keys[t];
    for (int step = 64; step > 0; step >>= 1)
        if (list[low + step - 1] < key) low += step;
    out[t] = low;
}

// The host passes a permutation: no two threads have one place.
extern "C" __global__ void __launch_bounds__(128) scattered(const int* in, const int* places, int* out)
{
    __shared__ int tile[128];
    int t = threadIdx.x;
    tile[places[t]] = in[t];
    __syncthreads();
    out[t] = tile[t];
}

// The host passes offsets of words in bytes, all different.
extern "C" __global__ void __launch_bounds__(128) scattered_by_bytes(const int* in, const int* offsets, int* out)
{
    __shared__ int tile[128];
    int t = threadIdx.x;
    *(int*)((char*)tile + (offsets[t] & 508)) = in[t];
    __syncthreads();
    out[t] = tile[t];
}

// One of the flags is set at most.
extern "C" __global__ void __launch_bounds__(128) winner(const int* flags, int* out)
{
    __shared__ int who;
    int t = threadIdx.x;
    if (t == 0) who = -1;
    __syncthreads();
    if (flags[t] == 1) who = t;
    __syncthreads();
    out[t] = who;
}

// One pass of a radix sort: counts of each thread, exclusive sums over digits and threads, places.
extern "C" __global__ void __launch_bounds__(128) sorted_by_two_bits(const unsigned* in, unsigned* out)
{
    __shared__ unsigned counts[4 * 128];
    __shared__ unsigned sums[4];
    __shared__ unsigned tile[128];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    unsigned key = in[t];
    for (int d = 0; d < 4; ++d) counts[d * 128 + t] = 0;
    unsigned* mine = &counts[key % 4 * 128 + t];
    unsigned before = *mine;
    *mine = before + 1;
    __syncthreads();
    unsigned own[4], sum = 0;
    for (int i = 0; i < 4; ++i) {
        own[i] = counts[4 * t + i];
        sum += own[i];
    }
    unsigned upto = sum;
    for (int step = 1; step < 32; step *= 2) {
        unsigned other = __shfl_up_sync(0xffffffff, upto, step);
        if (lane >= step) upto += other;
    }
    if (lane == 31) sums[warp] = upto;
    __syncthreads();
    unsigned place = upto - sum;
    for (int w = 0; w < 3; ++w)
        if (w < warp) place += sums[w];
    for (int i = 0; i < 4; ++i) {
        counts[4 * t + i] = place;
        place += own[i];
    }
    __syncthreads();
    tile[*mine + before] = key;
    __syncthreads();
    out[t] = tile[t];
}
