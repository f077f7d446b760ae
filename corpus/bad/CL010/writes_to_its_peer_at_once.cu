// The first thing that a CTA does is to write into the shared memory of CTA 0 of its cluster.
// After facebookexperimental/triton #2292: nothing tells that CTA 0 has started.
// ptxcheck: arch sm_90a
#include <cstdint>

__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) gather(int *out) {
  __shared__ int slot[2];
  uint32_t own = static_cast<uint32_t>(__cvta_generic_to_shared(slot)), peer, rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(peer) : "r"(own));
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(peer + 4 * (rank & 1)), "r"(rank + 1) : "memory");  // expect: CL010
  asm volatile("barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;" ::: "memory");
  if (rank == 0) out[threadIdx.x] = slot[threadIdx.x % 2];
}
