// Sixteen threads elect a leader among themselves, but with the mask of the whole warp.
// After NVIDIA/cccl ace13cd23f: elections by groups smaller than a warp.
// ptxcheck: arch sm_90a

// ptxcheck: launch block=64
__global__ void __launch_bounds__(64) half_groups(const int *input, int *output) {
  unsigned leader = 0;
  if (threadIdx.x % 32 < 16) {
    asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(leader));  // expect: NB008
    if (leader) output[threadIdx.x / 32] = input[threadIdx.x];
  }
  __syncwarp();
  output[64 + threadIdx.x] = __shfl_xor_sync(0xffffffff, leader, 16);
}
