// Lanes of a warp that go round a loop equally often, whatever they do in it.

extern "C" __global__ void __launch_bounds__(64) as_often_as_the_lane(const int* in, int* out)
{
    int lane = threadIdx.x % 32, sum = in[threadIdx.x];
#pragma unroll 1
    for (int i = 0; i < 31; ++i) {
        int other = __shfl_xor_sync(0xffffffff, sum, 1);
        if (i < lane) sum += other;
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(64) the_last_lane_leaves_first(const int* in, int* out)
{
    int lane = threadIdx.x % 32, sum = in[threadIdx.x];
#pragma unroll 1
    for (int i = 0; i < 31; ++i) {
        int other = __shfl_up_sync(0xffffffff, sum, 1) + __shfl_down_sync(0xffffffff, sum, 1);
        if (i >= lane) sum += other;
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(64) rest_of_a_row(const int* in, int* out)
{
    int sum = 0;
#pragma unroll 1
    for (int i = threadIdx.x; i < 256; i += 64) {
        int mine = i < 200 ? in[i] : 0;
        sum += __shfl_xor_sync(0xffffffff, mine, 16) * mine;
    }
    out[threadIdx.x] = sum;
}

// Warps of a block go round unequally often, lanes of a warp do not.
extern "C" __global__ void __launch_bounds__(64) rows_by_the_warp(const int* in, int* out)
{
    int sum = 0;
#pragma unroll 1
    for (int i = threadIdx.x / 32; i < 9; i += 2) sum += __shfl_xor_sync(0xffffffff, in[i * 32 + threadIdx.x % 32], 16);
    out[threadIdx.x] = sum;
}
