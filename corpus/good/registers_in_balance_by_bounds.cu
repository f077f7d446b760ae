// Both launch bounds are given.
// ptxcheck: arch sm_90a
template <int N>
__device__ void fewer() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N)); }
template <int N>
__device__ void more() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N)); }

__global__ void __launch_bounds__(384, 1) roles(float *out) {
  if (threadIdx.x < 128) {
    fewer<40>();
  } else {
    more<232>();
    out[threadIdx.x] = 1.0f;
  }
}
