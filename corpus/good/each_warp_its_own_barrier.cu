// Each warp elects a lane that initialises the warp's own barrier.
// ptxcheck: arch sm_90a
// ptxcheck: launch block=128
#include <cstdint>

__global__ void warps(int *out) {
  __shared__ alignas(8) uint64_t barriers[4];
  uint32_t bar = static_cast<uint32_t>(__cvta_generic_to_shared(barriers)) + 8 * (threadIdx.x / 32);
  asm volatile(
      "{ .reg .pred p; elect.sync _|p, 0xffffffff; @p mbarrier.init.shared::cta.b64 [%0], 32; }" ::"r"(bar)
      : "memory");
  __syncwarp();
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(bar)
        : "memory");
  out[threadIdx.x] = 1;
}
