// Producers and consumers have barriers of their own, whole warps arrive, and half a warp uses its own mask.
// ptxcheck: arch sm_90a

// ptxcheck: launch block=384
__global__ void __launch_bounds__(384) two_teams(float *values, int n) {
  __shared__ float tile[384];
  tile[threadIdx.x] = values[threadIdx.x];
  if (threadIdx.x < 128) {
    asm volatile("bar.sync 1, 128;" ::: "memory");
    float value = tile[127 - threadIdx.x];
    if (threadIdx.x % 32 < 16) value += __shfl_xor_sync(0xffff, value, 8);
    __syncwarp();
    values[threadIdx.x] = value;
  } else {
    asm volatile("bar.sync 2, 256;" ::: "memory");
    values[threadIdx.x] = tile[511 - threadIdx.x];
  }
  if (threadIdx.x >= n) return;
  values[threadIdx.x] += __shfl_sync(0xffffffff, tile[threadIdx.x], 0);
}
