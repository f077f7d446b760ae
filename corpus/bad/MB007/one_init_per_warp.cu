// The initialisation is under an election only: each of four warps elects a thread.
// After mlc-ai/TIRx-kernels 5f714f5.
// ptxcheck: arch sm_90a
// ptxcheck: launch block=128
#include <cstdint>

__device__ __forceinline__ bool elected() {
  uint32_t chosen;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(chosen));
  return chosen;
}

__global__ void gemm(int *out) {
  __shared__ alignas(8) uint64_t barrier;
  uint32_t bar = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
  if (elected()) asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" ::"r"(bar) : "memory");  // expect: MB007
  __syncthreads();
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
  out[threadIdx.x] = 1;
}
