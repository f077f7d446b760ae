// One thread arrives for its whole warp on a barrier that expects four warps, not 32 threads each.
// After HazyResearch/ThunderKittens 77ab267a.
// ptxcheck: arch sm_90a
#include <cstdint>

__global__ void __launch_bounds__(128) warps(int *out) {
  __shared__ alignas(8) uint64_t barrier;
  uint32_t bar = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;" ::"r"(bar) : "memory");
  __syncthreads();
  // expect: MB009
  if (threadIdx.x % 32 == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(32) : "memory");
  out[threadIdx.x] = 1;
}
