// Each CTA counts into its shared memory; the other reads the counts after a relaxed cluster barrier.
// After sgl-project/sglang #38829: a block barrier and a relaxed arrival do not publish to the cluster.
// ptxcheck: arch sm_90a
#include <cstdint>

__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(256) histogram(const int *input, int *output) {
  __shared__ int count[256];
  uint32_t own = static_cast<uint32_t>(__cvta_generic_to_shared(&count[threadIdx.x])), peer, rank;
  int total;
  count[threadIdx.x] = input[threadIdx.x];
  __syncthreads();
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");  // expect: CL004
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(peer) : "r"(own), "r"(rank ^ 1));
  // expect: SM020
  asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(total) : "r"(peer) : "memory");
  asm volatile("barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;" ::: "memory");
  output[blockIdx.x * 256 + threadIdx.x] = total;
}
