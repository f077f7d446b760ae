// A bulk store is waited for with the wait for small copies.
// A slip between two names that differ by one word; the groups are counted apart.
// ptxcheck: arch sm_90a
#include <cstdint>

__device__ __forceinline__ uint32_t shared_address(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__global__ void __launch_bounds__(128) scale(const float *in, float *out) {
  __shared__ alignas(128) float tile[128];
  tile[threadIdx.x] = 2 * in[threadIdx.x];
  fence();
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(out), "r"(shared_address(tile))  // expect: CL020
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 0;" ::: "memory");  // expect: BG005
  }
}
