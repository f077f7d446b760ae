// Lanes of a warp that go round a loop unequally often, and read from each other in it.

extern "C" __global__ void __launch_bounds__(64) as_often_as_the_lane(const int* in, int* out)
{
    int lane = threadIdx.x % 32, sum = in[threadIdx.x];
#pragma unroll 1
    for (int i = 0; i < lane; ++i) sum += __shfl_xor_sync(0xffffffff, sum, 1);  // expect: NB014
    out[threadIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(64) the_last_lane_leaves_first(const int* in, int* out)
{
    int lane = threadIdx.x % 32, sum = in[threadIdx.x];
#pragma unroll 1
    for (int i = lane; i < 31; ++i) sum += __shfl_up_sync(0xffffffff, sum, 1) + __shfl_down_sync(0xffffffff, sum, 1);  // expect: NB014
    out[threadIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(64) rest_of_a_row(const int* in, int* out)
{
    int sum = 0;
#pragma unroll 1
    for (int i = threadIdx.x; i < 200; i += 64) {
        int left = __shfl_xor_sync(0xffffffff, in[i], 16);  // expect: NB014
        sum += left * in[i];
    }
    out[threadIdx.x] = sum;
}
