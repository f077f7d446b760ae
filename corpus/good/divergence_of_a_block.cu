// Barriers that some threads of a block pass by.

extern "C" __global__ void __launch_bounds__(128) barrier_in_a_branch(const int* in, int* out)
{
    __shared__ int line[128];
    int t = threadIdx.x;
    line[t] = in[t];
    __syncthreads();
    if (t < 64) {
        out[t] = line[t + 64];
    }
    __syncthreads();
    out[t + 64] = line[127 - t];
}

extern "C" __global__ void __launch_bounds__(128) rounds_by_the_warp(const int* in, int* out)
{
    __shared__ int line[128];
    int t = threadIdx.x;
    for (int i = 0; i < 8; ++i) {
        line[t] = in[i * 128 + t];
        __syncthreads();
        out[i * 128 + t] = line[127 - t];
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(128) left_a_loop_alone(const int* in, int* out)
{
    __shared__ int line[128];
    int t = threadIdx.x;
    line[t] = in[t];
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) line[t] += line[t + half];
    }
    __syncthreads();
    out[t] = line[0];
}

extern "C" __global__ void __launch_bounds__(128) vote_in_a_branch(const int* in, int* out)
{
    int t = threadIdx.x, any = 0;
    any = __syncthreads_or(t >= 32 && in[t]);
    __syncthreads();
    out[t] = any;
}

extern "C" __global__ void __launch_bounds__(128) strides_of_threads(const int* in, int* out)
{
    __shared__ int line[128];
    int t = threadIdx.x;
    for (int i = t; i < 256; i += 128) {
        line[t] = in[i];
        __syncthreads();
        out[i] = line[127 - t];
        __syncthreads();
    }
    line[t] = t;
    __syncthreads();
    out[t] += line[127 - t];
}
