// The proxy fence before a bulk store out of shared memory is the one for global memory.
// After NVIDIA/cccl #3197 and NVIDIA/Fuser #1967: each fence is right in one of the two places.
// ptxcheck: arch sm_90a
#include <cstdint>

__device__ __forceinline__ uint32_t shared_address(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void wait_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

__global__ void __launch_bounds__(128) scale(const float *in, float *out) {
  __shared__ alignas(128) float tile[128];
  tile[threadIdx.x] = 2 * in[threadIdx.x];
  asm volatile("fence.proxy.async.global;" ::: "memory");  // expect: PX002
  __syncthreads();
  if (threadIdx.x == 0) {
    // expect: PX020
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(out), "r"(shared_address(tile))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    wait_read();
  }
}
