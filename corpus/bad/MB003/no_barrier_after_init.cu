// Thread 0 initialises; the other threads arrive without waiting for it.
// After jax-ml/jax cf6f0aa00d, NVIDIA/Fuser #1552, triton-lang/triton #2040 and ThunderKittens 4a8e908c.
// ptxcheck: arch sm_90a
#include <cstdint>

__global__ void __launch_bounds__(128) all_arrive(float *data) {
  __shared__ alignas(8) uint64_t barrier;
  uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" ::"r"(address) : "memory");
  uint64_t state;
  // expect: MB003
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(address) : "memory");
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(address), "l"(state)
        : "memory");
  data[threadIdx.x] += 1;
}
