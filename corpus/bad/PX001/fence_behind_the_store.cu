// The proxy fence stands behind the store that it should come before.
// After jax-ml/jax cdae5fcfc7, reduced to one thread.
// ptxcheck: arch sm_90a
#include <cstdint>

__device__ __forceinline__ uint32_t shared_address(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ __forceinline__ void wait_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

__global__ void __launch_bounds__(32) commit_shared(float *out) {
  __shared__ alignas(128) float tile[32];
  if (threadIdx.x == 0) {
    tile[0] = 1;
    tile[1] = 2;
    tile[2] = 3;
    tile[3] = 4;
    // expect: PX001
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 16;" ::"l"(out), "r"(shared_address(tile))
                 : "memory");
    fence();
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    wait_read();
  }
}
