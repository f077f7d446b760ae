// Two warpgroups work in turn; each lets the other go by a named barrier that counts both.
// ptxcheck: launch block=256 cluster=1
// expect-verdict: all holds
// ptxcheck: arch sm_90a
#include <cstdint>

__device__ __forceinline__ void meet(uint32_t number) { asm volatile("bar.sync %0, 256;" ::"r"(number) : "memory"); }
__device__ __forceinline__ void let_go(uint32_t number) { asm volatile("bar.arrive %0, 256;" ::"r"(number) : "memory"); }

__global__ void two_warpgroups_in_turn(int *out, uint32_t rounds) {
  uint32_t mine = 1 + threadIdx.x / 128, other = 3 - mine;
  if (rounds == 0) return;
  if (mine == 2) let_go(other);
  for (uint32_t r = 0; r < rounds; r++) {
    meet(mine);
    atomicAdd(out + r, 1);
    if (mine == 1 || r + 1 < rounds) let_go(other);
  }
}
