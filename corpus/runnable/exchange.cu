// Each CTA of a pair sends its tile to the other with st.async; bytes complete on the receiver's barrier.
// ptxcheck: launch block=128 cluster=2
#include "async.cuh"

extern "C" __global__ void __launch_bounds__(128) __cluster_dims__(2, 1, 1)
    exchange(const uint32_t* input, uint32_t* output, int rounds) {
  __shared__ alignas(16) uint32_t inbox[2][128];
  __shared__ alignas(8) uint64_t arrived[2];
  int rank = cluster_rank();
  if (threadIdx.x == 0) {
    barrier_init(&arrived[0], 1);
    barrier_init(&arrived[1], 1);
    fence_barrier_init();
  }
  cluster_sync();
  uint32_t value = input[blockIdx.x * 128 + threadIdx.x];
  for (int round = 0; round < rounds; ++round) {
    int slot = round & 1, parity = (round >> 1) & 1;
    if (threadIdx.x == 0) barrier_expect(&arrived[slot], 128 * 4);
    uint32_t to = remote_address(&inbox[slot][127 - threadIdx.x], rank ^ 1);
    uint32_t barrier = remote_address(&arrived[slot], rank ^ 1);
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(to), "r"(value),
                 "r"(barrier)
                 : "memory");
    barrier_wait_cluster(&arrived[slot], parity);
    value = inbox[slot][threadIdx.x] + round;
    cluster_sync();
  }
  output[blockIdx.x * 128 + threadIdx.x] = value;
}
