// The last copy is not committed, so that the last wait does not cover it.
// After csarofeen/pytorch #2457: the newest copies are in no group that is waited for.
// ptxcheck: arch sm_90a
#include <cstdint>

__device__ __forceinline__ uint32_t shared_address(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__global__ void __launch_bounds__(32) load(const float4 *in, float *out) {
  __shared__ float4 a[32], b[32];
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(&a[threadIdx.x])), "l"(in + threadIdx.x)
               : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  // expect: CA005
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(&b[threadIdx.x])), "l"(in + threadIdx.x + 32)
               : "memory");
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  // expect: SM020
  out[threadIdx.x] = a[threadIdx.x ^ 1].x + b[threadIdx.x ^ 1].x;
}
