// Each step fills a window and has it stored in bulk; no step, and no end, ever waits for a store.
// After jax-ml/jax 0a66e2d0a4 and NVIDIA/Fuser #5448.
// ptxcheck: arch sm_90a
#include <cstdint>

__device__ __forceinline__ uint32_t shared_address(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ __forceinline__ void wait_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

__global__ void __launch_bounds__(32) steps(float *out, int count) {
  __shared__ alignas(128) float window[32];
  for (int step = 0; step < count; ++step) {
    // expect: BG012
    window[threadIdx.x] = step;
    fence();
    __syncwarp();
    if (threadIdx.x == 0) {
      float *to = out + 32 * step;
      uint32_t from = shared_address(window);
      // expect: BG004
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;" ::"l"(to), "r"(from) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
}
