// Scans and sorts of a block: what is read in a round is not yet overwritten.

extern "C" __global__ void __launch_bounds__(256) scan_in_place(const int* in, int* out)
{
    __shared__ int line[256];
    int t = threadIdx.x;
    line[t] = in[t];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        int left = t >= step ? line[t - step] : 0;
        line[t] += left;  // expect: SM024
        __syncthreads();
    }
    out[t] = line[t];
}

extern "C" __global__ void __launch_bounds__(256) scan_round_without_end(const int* in, int* out)
{
    __shared__ int line[256];
    int t = threadIdx.x;
    line[t] = in[t];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        int left = t >= step ? line[t - step] : 0;
        __syncthreads();
        line[t] += left;  // expect: SM024
    }
    out[t] = line[t];
}

extern "C" __global__ void __launch_bounds__(128) scan_of_two_buffers(const int* in, int* out)
{
    __shared__ int line[2][128];
    int t = threadIdx.x, now = 0;
    line[0][t] = in[t];  // expect: SM024
    for (int step = 1; step < 128; step *= 2) {
        line[1 - now][t] = line[now][t] + (t >= step ? line[now][t - step] : 0);
        now = 1 - now;
        __syncthreads();
    }
    out[t] = line[now][t];
}

extern "C" __global__ void __launch_bounds__(128) scan_up_and_down(const int* in, int* out)
{
    __shared__ int tree[128];
    int t = threadIdx.x;
    tree[t] = in[t];  // expect: SM024
    for (int step = 1; step < 128; step *= 2) {
        int i = (t + 1) * step * 2 - 1;
        if (i < 128) tree[i] += tree[i - step];  // expect: SM024
    }
    __syncthreads();
    if (t == 0) tree[127] = 0;
    for (int step = 64; step > 0; step /= 2) {
        __syncthreads();
        int i = (t + 1) * step * 2 - 1;
        if (i < 128) {
            int left = tree[i - step];
            tree[i - step] = tree[i];
            tree[i] += left;
        }
    }
    __syncthreads();
    out[t] = tree[t];
}

extern "C" __global__ void __launch_bounds__(128) scan_of_warps(const int* in, int* out)
{
    __shared__ int ends[4];
    int t = threadIdx.x, x = in[t], lane = t % 32;
    for (int step = 1; step < 32; step *= 2) {
        int left = __shfl_up_sync(~0u, x, step);
        if (lane >= step) x += left;
    }
    if (lane == 31) ends[t / 32] = x;  // expect: SM024
    for (int warp = 0; warp < t / 32; ++warp) x += ends[warp];
    out[t] = x;
}

extern "C" __global__ void __launch_bounds__(128) scan_carried_on(const int* in, int* out, int tiles)
{
    __shared__ int line[128];
    int t = threadIdx.x, carried = 0;
    for (int tile = 0; tile < tiles; ++tile) {
        line[t] = in[tile * 128 + t];  // expect: SM024
        __syncthreads();
        for (int step = 1; step < 128; step *= 2) {
            int left = t >= step ? line[t - step] : 0;
            __syncthreads();
            line[t] += left;
            __syncthreads();
        }
        out[tile * 128 + t] = line[t] + carried;
        carried += line[127];
    }
}

extern "C" __global__ void __launch_bounds__(256) sort_bitonic(int* data)
{
    __shared__ int keys[256];
    int t = threadIdx.x;
    keys[t] = data[t];
    __syncthreads();
    for (int size = 2; size <= 256; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            int other = t ^ step;
            if (other > t) {
                int a = keys[t], b = keys[other];
                keys[t] = (t & size) == 0 ? min(a, b) : max(a, b);  // expect: SM024
                keys[other] = (t & size) == 0 ? max(a, b) : min(a, b);  // expect: SM024
            }
        }
    data[t] = keys[t];
}

extern "C" __global__ void __launch_bounds__(128) sort_odd_even(int* data)
{
    __shared__ int keys[256];
    int t = threadIdx.x;
    keys[2 * t] = data[2 * t];
    keys[2 * t + 1] = data[2 * t + 1];
    __syncthreads();
    for (int round = 0; round < 256; ++round) {
        int i = 2 * t + (round & 1);
        if (i + 1 < 256) {
            int a = keys[i], b = keys[i + 1];
            keys[i] = min(a, b);  // expect: SM024
            keys[i + 1] = max(a, b);  // expect: SM024
        }
    }
    data[2 * t] = keys[2 * t];
    data[2 * t + 1] = keys[2 * t + 1];
}

extern "C" __global__ void __launch_bounds__(128) rank_by_counting(const int* in, int* out)
{
    __shared__ int keys[128];
    int t = threadIdx.x, mine = in[t], rank = 0;
    keys[t] = mine;  // expect: SM024
    for (int i = 0; i < 128; ++i) rank += keys[i] < mine || (keys[i] == mine && i < t);
    out[rank] = mine;
}

__device__ unsigned ones(unsigned count)
{
    unsigned mask;
    asm("bmsk.clamp.b32 %0, 0, %1;" : "=r"(mask) : "r"(count));
    return mask;
}

extern "C" __global__ void __launch_bounds__(128) columns_of_counters(const unsigned* in, unsigned* out)
{
    __shared__ union { unsigned words[4][128]; unsigned short halves[4][128][2]; } counters;
    int t = threadIdx.x;
    for (int row = 0; row < 4; ++row) counters.words[row][t] = 0;  // expect: SM024
    unsigned digit = in[t] & ones(3);
    counters.halves[digit & 3][t][digit >> 2] += 1;
    unsigned sum = 0;
    for (int row = 0; row < 4; ++row) sum += counters.words[row][t ^ 64];
    out[t] = sum;
}

extern "C" __global__ void __launch_bounds__(128) place_by_bytes(const int* in, int* out)
{
    __shared__ int line[128];
    int t = threadIdx.x;
    line[t] = in[t];  // expect: SM024
    out[t] = line[__byte_perm(t, 0, 0x4440) ^ 64];
}
