// Tiles of matrices and neighbours in a line: load, barrier, use, barrier.

extern "C" __global__ void __launch_bounds__(256) transpose_tile(const float* in, float* out, int n)
{
    __shared__ float tile[16][17];
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    tile[y][x] = in[(blockIdx.y * 16 + y) * n + blockIdx.x * 16 + x];  // expect: SM024
    out[(blockIdx.x * 16 + y) * n + blockIdx.y * 16 + x] = tile[x][y];
}

extern "C" __global__ void __launch_bounds__(256) transpose_pitch(const float* in, float* out, int n)
{
    __shared__ float tile[16 * 17];
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    tile[y * 15 + x] = in[(blockIdx.y * 16 + y) * n + blockIdx.x * 16 + x];  // expect: SM025
    __syncthreads();
    out[(blockIdx.x * 16 + y) * n + blockIdx.y * 16 + x] = tile[x * 15 + y];
}

extern "C" __global__ void __launch_bounds__(256) transpose_many(const float* in, float* out, int tiles)
{
    __shared__ float tile[16][17];
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    for (int i = 0; i < tiles; ++i) {
        tile[y][x] = in[i * 256 + threadIdx.x];  // expect: SM024
        __syncthreads();
        out[i * 256 + threadIdx.x] = tile[x][y];
    }
}

extern "C" __global__ void __launch_bounds__(256) product_load(const float* a, const float* b, float* c, int n)
{
    __shared__ float left[16][16], right[16][16];
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        left[y][x] = a[y * n + k + x];
        right[y][x] = b[(k + y) * n + x];  // expect: SM024
        for (int i = 0; i < 16; ++i) sum += left[y][i] * right[i][x];
        __syncthreads();
    }
    c[y * n + x] = sum;
}

extern "C" __global__ void __launch_bounds__(256) product_return(const float* a, const float* b, float* c, int n)
{
    __shared__ float left[16][16], right[16][16];
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        left[y][x] = a[y * n + k + x];
        right[y][x] = b[(k + y) * n + x];  // expect: SM024
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += left[y][i] * right[i][x];
    }
    c[y * n + x] = sum;
}

extern "C" __global__ void __launch_bounds__(128) vector_times_matrix(const float* m, const float* v, float* out, int n)
{
    __shared__ float part[128];
    int t = threadIdx.x;
    float sum = 0;
    for (int start = 0; start < n; start += 128) {
        part[t] = v[start + t];  // expect: SM024
        __syncthreads();
        for (int i = 0; i < 128; ++i) sum += m[t * n + start + i] * part[i];
    }
    out[t] = sum;
}

extern "C" __global__ void __launch_bounds__(128) two_buffers(const float* in, float* out, int rounds)
{
    __shared__ float line[2][128];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = 0; i < rounds; ++i) {
        int now = i >> 1 & 1;
        line[now][t] = in[i * 128 + t];  // expect: SM024
        __syncthreads();
        sum += line[now][127 - t];
    }
    out[t] = sum;
}

extern "C" __global__ void __launch_bounds__(128) buffer_filled_ahead(const float* in, float* out, int rounds)
{
    __shared__ float line[2][128];
    int t = threadIdx.x;
    float sum = 0;
    line[0][t] = in[t];
    __syncthreads();
    for (int i = 0; i < rounds; ++i) {
        line[i & 1][t] = in[(i + 1) * 128 + t];  // expect: SM024
        sum += line[i & 1][127 - t];
        __syncthreads();
    }
    out[t] = sum;
}

extern "C" __global__ void __launch_bounds__(128) stencil_of_three(const float* in, float* out)
{
    __shared__ float line[130];
    int t = threadIdx.x;
    line[t + 1] = in[t + 1];  // expect: SM024
    if (t == 0) line[0] = in[0];
    if (t == 127) line[129] = in[129];
    out[t] = line[t] + line[t + 1] + line[t + 2];
}

extern "C" __global__ void __launch_bounds__(128) halo_too_wide(const float* in, float* out)
{
    __shared__ float line[136];
    int t = threadIdx.x;
    line[t + 4] = in[t + 4];  // expect: SM024
    if (t < 5) line[t + 131] = in[t + 132];
    if (t < 4) line[t] = in[t];
    __syncthreads();
    out[t] = line[t] + line[t + 8];
}

extern "C" __global__ void __launch_bounds__(128) heat_in_steps(const float* in, float* out, int steps)
{
    __shared__ float line[130];
    int t = threadIdx.x;
    line[t + 1] = in[t];
    if (t < 2) line[t * 129] = 0;
    __syncthreads();
    for (int step = 0; step < steps; ++step) {
        float next = (line[t] + line[t + 2]) * 0.5f;
        line[t + 1] = next;  // expect: SM024
        __syncthreads();
    }
    out[t] = line[t + 1];
}

extern "C" __global__ void __launch_bounds__(256) blur_of_columns(const float* in, float* out)
{
    __shared__ float rows[16][16];
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    rows[y][x] = in[threadIdx.x];
    __syncthreads();
    float down = rows[y][x] + rows[(y + 1) % 16][x];
    rows[y][x] = down;  // expect: SM024
    __syncthreads();
    out[threadIdx.x] = rows[y][x] + rows[y][(x + 1) % 16];
}
