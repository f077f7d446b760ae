// A mapped address of the other CTA is loaded with the own CTA's window.
// ptxcheck: arch sm_90a
#include <cstdint>

__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) swap(uint32_t *out) {
  __shared__ uint32_t values[32];
  uint32_t rank, remote, value;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  values[threadIdx.x] = rank;
  asm volatile("barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;" ::: "memory");
  uint32_t own = static_cast<uint32_t>(__cvta_generic_to_shared(values + threadIdx.x));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(own), "r"(rank ^ 1));
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(remote) : "memory");  // expect: SM006
  asm volatile("barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;" ::: "memory");
  out[threadIdx.x] = value;
}
