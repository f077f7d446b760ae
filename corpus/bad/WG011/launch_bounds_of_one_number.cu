// The launch bounds do not say how many blocks share a multiprocessor: the request is dropped.
// After NVIDIA/Fuser 39588eac1 (#3972).
// ptxcheck: arch sm_90a
template <int N>
__device__ void fewer() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N)); }  // expect: WG011
template <int N>
__device__ void more() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N)); }

__global__ void __launch_bounds__(384) roles(float *out) {
  if (threadIdx.x < 128) {
    fewer<40>();
  } else {
    more<232>();
    out[threadIdx.x] = 1.0f;
  }
}
