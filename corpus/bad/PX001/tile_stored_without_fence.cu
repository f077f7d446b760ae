// All threads fill a tile; after the barrier one has it stored in bulk. Nobody fences the proxies.
// After NVIDIA/Fuser #1967, triton-lang/triton #9610 and tile-ai/tilelang #2634.
// ptxcheck: arch sm_90a
#include <cstdint>

__device__ __forceinline__ uint32_t shared_address(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ __forceinline__ void wait_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

__global__ void __launch_bounds__(128) scale(const float *in, float *out) {
  __shared__ alignas(128) float tile[128];
  tile[threadIdx.x] = 2 * in[128 * blockIdx.x + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    float *to = out + 128 * blockIdx.x;
    uint32_t from = shared_address(tile);
    // expect: PX001
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(to), "r"(from) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    wait_read();
  }
}
