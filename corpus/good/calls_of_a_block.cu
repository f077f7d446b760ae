// Functions that are not inlined, with barriers and shared memory in them.

struct Extremes {
    float least;
    float most;
    unsigned char lane;
};

__device__ __noinline__ float sum_of(float value, float* part)
{
    int t = threadIdx.x;
    part[t] = value;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half >>= 1) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    float sum = part[0];
    __syncthreads();
    return sum;
}

__device__ __noinline__ void meet()
{
    __syncthreads();
}

__device__ __noinline__ Extremes with_neighbour(Extremes own, Extremes* all)
{
    int t = threadIdx.x;
    all[t] = own;
    __syncthreads();
    Extremes other = all[t ^ 1];
    own.least = fminf(own.least, other.least);
    own.most = fmaxf(own.most, other.most);
    own.lane = other.lane;
    return own;
}

__device__ __noinline__ int mirrored(int index, int size)
{
    return size - 1 - index;
}

// Both sums use the same words: the barrier at the end of the function keeps them apart.
extern "C" __global__ void __launch_bounds__(256) mean_and_deviation(const float* in, float* out)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    float value = in[blockIdx.x * 256 + t];
    float mean = sum_of(value, part) / 256;
    float rest = value - mean;
    float deviation = sum_of(rest * rest, part);
    if (t == 0) out[blockIdx.x] = deviation;
}

extern "C" __global__ void __launch_bounds__(128) reversed(const int* in, int* out)
{
    __shared__ int tile[128];
    int t = threadIdx.x;
    tile[t] = in[blockIdx.x * 128 + t];
    meet();
    out[blockIdx.x * 128 + t] = tile[mirrored(t, 128)];
}

extern "C" __global__ void __launch_bounds__(64) pairs(const float* in, float* out)
{
    __shared__ Extremes all[64];
    int t = threadIdx.x;
    float value = in[blockIdx.x * 64 + t];
    Extremes found = with_neighbour({value, value, (unsigned char)t}, all);
    out[blockIdx.x * 64 + t] = found.most - found.least + found.lane;
}

// All threads of the block go the same way.
extern "C" __global__ void __launch_bounds__(128) summed_if_asked(const float* in, float* out, int asked)
{
    __shared__ float part[128];
    int t = threadIdx.x;
    float value = in[blockIdx.x * 128 + t];
    if (asked) value = sum_of(value, part);
    out[blockIdx.x * 128 + t] = value;
}

// Each warp has words of its own.
extern "C" __global__ void __launch_bounds__(128) rows(const int* in, int* out)
{
    __shared__ int tile[4][33];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    tile[warp][lane] = in[threadIdx.x];
    meet();
    out[threadIdx.x] = tile[mirrored(warp, 4)][mirrored(lane, 32)];
}
