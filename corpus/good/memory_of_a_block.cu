// One array for two purposes, dynamic memory that is carved twice, vectors and bytes.

extern "C" __global__ void __launch_bounds__(128) carved_twice(const float* in, float* out)
{
    extern __shared__ float memory[];
    float* first = memory;
    float* second = memory + 128;
    first[threadIdx.x] = in[threadIdx.x];
    second[threadIdx.x] = in[threadIdx.x + 128];
    __syncthreads();
    out[threadIdx.x] = first[127 - threadIdx.x] + second[127 - threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(128) carved_by_elements(const double* in, double* out)
{
    extern __shared__ double numbers[];
    int* marks = (int*)(numbers + 128);
    numbers[threadIdx.x] = in[threadIdx.x];
    marks[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = numbers[127 - threadIdx.x] + marks[127 - threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(128) used_again(const float* in, float* out)
{
    __shared__ float memory[128];
    int t = threadIdx.x;
    memory[t] = in[t];
    __syncthreads();
    float x = memory[127 - t];
    __syncthreads();
    memory[t] = x * x;
    __syncthreads();
    out[t] = memory[t ^ 64];
}

extern "C" __global__ void __launch_bounds__(128) used_as_other_type(const float* in, float* out)
{
    __shared__ union { float reals[128]; unsigned char bytes[512]; } memory;
    int t = threadIdx.x;
    memory.reals[t] = in[t];
    __syncthreads();
    float x = memory.reals[127 - t];
    __syncthreads();
    memory.bytes[t] = t;
    __syncthreads();
    out[t] = x + memory.bytes[127 - t];
}

extern "C" __global__ void __launch_bounds__(128) vectors_read_early(const float4* in, float* out)
{
    __shared__ float4 tile[128];
    int t = threadIdx.x;
    tile[t] = in[t];
    __syncthreads();
    out[t] = ((float*)tile)[t];
}

extern "C" __global__ void __launch_bounds__(128) vectors_overlap(const float4* in, float4* out)
{
    __shared__ __align__(16) float tile[640];
    int t = threadIdx.x;
    *(float2*)&tile[t * 2] = make_float2(t, t);
    __syncthreads();
    out[t] = *(float4*)&tile[t % 32 * 4];
}

extern "C" __global__ void __launch_bounds__(128) bytes_in_words(const unsigned* in, unsigned* out)
{
    __shared__ unsigned words[32];
    int t = threadIdx.x;
    if (t < 32) words[t] = 0;
    __syncthreads();
    atomicOr(&words[t / 4], t);
    __syncthreads();
    if (t < 32) out[t] = words[t] + in[t];
}

extern "C" __global__ void __launch_bounds__(128) bits_of_bytes(const int* in, int* out)
{
    __shared__ unsigned char marks[128];
    int t = threadIdx.x;
    marks[t] = in[t] > 0;
    __syncthreads();
    if (t < 32) out[t] = ((int*)marks)[t];
}

extern "C" __global__ void __launch_bounds__(128) fields_of_structures(const int* in, int* out)
{
    __shared__ struct { int key, value; } items[128];
    int t = threadIdx.x;
    items[t].key = in[t];
    items[t].value = in[t + 128];
    out[t] = items[t].key + items[t].value;
}

extern "C" __global__ void __launch_bounds__(128) rows_of_wrong_length(const int* in, int* out)
{
    __shared__ int rows[8 * 16];
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    rows[y * 16 + x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = rows[threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(128) turned_around_in_place(int* data)
{
    __shared__ int line[128];
    int t = threadIdx.x;
    line[t] = data[t];
    __syncthreads();
    int other = line[127 - t];
    __syncthreads();
    line[t] = other;
    __syncthreads();
    data[t] = line[t];
}

extern "C" __global__ void __launch_bounds__(128) one_half_for_each(const int* in, int* out)
{
    __shared__ int line[128];
    int t = threadIdx.x;
    if (t < 64) {
        line[t] = in[t];
        line[t + 64] = in[t + 64];
    }
    __syncthreads();
    out[t] = line[t];
}
