// The barrier is initialised by a function that is called, not inlined.
// ptxcheck: arch sm_90a
#include <cstdint>

__device__ __noinline__ void set_up(uint64_t *barrier, uint32_t count) {
  uint32_t bar = static_cast<uint32_t>(__cvta_generic_to_shared(barrier));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
  __syncthreads();
}

__global__ void __launch_bounds__(128) meet(int *out) {
  __shared__ alignas(8) uint64_t barrier;
  set_up(&barrier, 128);
  uint32_t bar = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
  uint64_t state;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(bar) : "memory");
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{ .reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(bar), "l"(state)
        : "memory");
  out[threadIdx.x] = 1;
}
