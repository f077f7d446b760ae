// Three roles of a block meet at one barrier, each from a branch of its own.
// After mlc-ai/TIRx-kernels 011bdee and triton-lang/triton #11710: the aligned form wants one instruction.
// ptxcheck: arch sm_90a

// ptxcheck: launch block=96
__global__ void __launch_bounds__(96) roles(int *out) {
  __shared__ int tile[96];
  const int warp = threadIdx.x / 32;
  if (warp == 0) {
    tile[threadIdx.x] = 1;
    asm volatile("bar.sync 5, 96; // load" ::: "memory");  // expect: NB006
  } else if (warp == 1) {
    tile[threadIdx.x] = 2;
    asm volatile("bar.sync 5, 96; // compute" ::: "memory");  // expect: NB006
  } else {
    tile[threadIdx.x] = 3;
    asm volatile("bar.sync 5, 96; // store" ::: "memory");  // expect: NB006
  }
  out[threadIdx.x] = tile[95 - threadIdx.x];
}
