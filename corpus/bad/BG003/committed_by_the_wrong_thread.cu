// One thread starts a bulk store, another one commits and waits: groups belong to a thread.
// After facebookexperimental/triton #1704 and #1678, where commits depended on other conditions than copies.
// ptxcheck: arch sm_90a
#include <cstdint>

__device__ __forceinline__ uint32_t shared_address(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ __forceinline__ void wait_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

__global__ void __launch_bounds__(128) hand_over(float *out) {
  __shared__ alignas(128) float tile[128];
  tile[threadIdx.x] = threadIdx.x;
  fence();
  __syncthreads();
  if (threadIdx.x == 0)
    // expect: BG003
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(out), "r"(shared_address(tile))
                 : "memory");
  if (threadIdx.x == 32) {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    wait_read();
  }
}
