// Two groups of 128 threads take turns; the barrier counts 128, so the arrivals alone complete it.
// After facebookexperimental/triton 687fa1072: 256 is the number of both sides.
// ptxcheck: arch sm_90a

// ptxcheck: launch block=256
__global__ void __launch_bounds__(256) ping_pong(float *values) {
  __shared__ float tile[128];
  if (threadIdx.x < 128) {
    tile[threadIdx.x] = values[threadIdx.x];
    asm volatile("bar.arrive 9, 128;" ::: "memory");  // expect: NB012
  } else {
    asm volatile("bar.sync 9, 128;" ::: "memory");  // expect: NB022
    values[threadIdx.x] = tile[255 - threadIdx.x];  // expect: SM020
  }
}
