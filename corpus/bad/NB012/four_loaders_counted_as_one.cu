// Four loading warps arrive at a barrier that was sized for one of them and one waiting warp.
// After Dao-AILab/quack #146: the count stayed 64 when more warps took part.
// ptxcheck: arch sm_90a

// ptxcheck: launch block=160
__global__ void __launch_bounds__(160) gather(const float *input, float *output) {
  __shared__ float tile[128];
  if (threadIdx.x < 128) {
    tile[threadIdx.x] = input[threadIdx.x];
    asm volatile("bar.arrive 1, 64;" ::: "memory");  // expect: NB012
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");  // expect: NB020, NB022
    for (int i = threadIdx.x % 32; i < 128; i += 32) output[i] = tile[127 - i];
  }
}
