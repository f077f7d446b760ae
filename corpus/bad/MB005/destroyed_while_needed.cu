// The barrier object is destroyed before the second half of the work waits on it.
// After NVIDIA/cccl 7fd9ae5184.
// ptxcheck: arch sm_90a
#include <cstdint>

__global__ void __launch_bounds__(128) halves(int *out) {
  __shared__ alignas(8) uint64_t barrier;
  uint32_t bar = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" ::"r"(bar) : "memory");
  __syncthreads();
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
  __syncthreads();
  if (threadIdx.x == 0) asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(bar) : "memory");  // expect: MB028
  out[threadIdx.x] = 1;
  // expect: MB005
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}
