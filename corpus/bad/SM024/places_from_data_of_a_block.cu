// Places in shared memory that come out of data: bins, lists that are searched, ranks.

extern "C" __global__ void __launch_bounds__(256) bins_of_numbers(const unsigned char* in, int* out)
{
    __shared__ int bins[256];
    int t = threadIdx.x;
    bins[t] = 0;  // expect: SM024
    for (int i = 0; i < 4; ++i) atomicAdd(&bins[in[t + 256 * i]], 1);
    __syncthreads();
    out[t] = bins[t];
}

extern "C" __global__ void __launch_bounds__(256) gathered(const float* in, const unsigned char* places, float* out)
{
    __shared__ float tile[256];
    int t = threadIdx.x;
    tile[t] = in[t];  // expect: SM024
    out[t] = tile[places[t]];
}

extern "C" __global__ void __launch_bounds__(128) searched(const int* in, const int* keys, int* out)
{
    __shared__ int list[128];
    int t = threadIdx.x;
    list[t] = in[t];  // expect: SM024
    int low = 0, key = keys[t];
    for (int step = 64; step > 0; step >>= 1)
        if (list[low + step - 1] < key) low += step;
    out[t] = low;
}
