// The peer is written to and told before it is known to have started.
// After facebookexperimental/triton #2292.
// ptxcheck: launch block=32 cluster=2
// expect-verdict: lifecycle violated @ here
// ptxcheck: arch sm_90a
#include <cooperative_groups.h>
#include <cstdint>

__global__ void __cluster_dims__(2) cluster_pair(const int *values, int *out) {
  __shared__ alignas(8) uint64_t told;
  __shared__ int from_peer[32];
  auto cluster = cooperative_groups::this_cluster();
  uint32_t peer = cluster.block_rank() ^ 1, lane = threadIdx.x;
  uint32_t barrier = static_cast<uint32_t>(__cvta_generic_to_shared(&told)), remote;
  if (lane == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(barrier) : "memory");
  __syncthreads();
  *cluster.map_shared_rank(&from_peer[lane], peer) = values[blockIdx.x * 32 + lane];  // <- here
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(barrier), "r"(peer));
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote) : "memory");  // <- here
  asm volatile(
      "{ .reg .pred done; AGAIN: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], 0; @!done bra AGAIN; }" ::"r"(
          barrier)
      : "memory");
  out[blockIdx.x * 32 + lane] = from_peer[31 - lane];
  cluster.sync();
}
