// A helper that is to keep barrier numbers below 16 lets only larger ones pass.
// After NVIDIA/cutlass 6c3044136, where the assertion of a barrier manager was the wrong way round.
// ptxcheck: arch sm_90a

__device__ __forceinline__ unsigned reserve(unsigned wanted) { return wanted < 16 ? wanted + 16 : wanted; }

// ptxcheck: launch block=64
__global__ void __launch_bounds__(64) exchange(float *values) {
  __shared__ float tile[64];
  tile[threadIdx.x] = values[threadIdx.x];
  unsigned number = reserve(threadIdx.x < 64 ? 3 : 4);
  asm volatile("bar.sync %0, 64;" ::"r"(number) : "memory");  // expect: NB001
  values[threadIdx.x] = tile[63 - threadIdx.x];
}
