// Producers meet at barrier 1, and so do consumers, in other numbers: two libraries picked the same barrier.
// After flashinfer-ai/flashinfer #4533 and HazyResearch/ThunderKittens cf54408f.
// ptxcheck: arch sm_90a

// ptxcheck: launch block=384
__global__ void __launch_bounds__(384) two_teams(float *values) {
  __shared__ float tile[384];
  tile[threadIdx.x] = values[threadIdx.x];
  if (threadIdx.x < 128) {
    asm volatile("bar.sync 1, 128;" ::: "memory");  // expect: NB005
    values[threadIdx.x] = tile[127 - threadIdx.x];
  } else {
    asm volatile("bar.sync 1, 256;" ::: "memory");  // expect: NB005
    values[threadIdx.x] = tile[511 - threadIdx.x];
  }
}
