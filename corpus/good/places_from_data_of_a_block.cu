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
