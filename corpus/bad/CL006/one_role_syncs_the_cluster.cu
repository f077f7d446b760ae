// Only the loading warp of a warp-specialised kernel takes part in the cluster barrier.
// After triton-lang/triton #9456: the cluster barrier has no count, all threads of all CTAs must arrive.
// ptxcheck: arch sm_90a

// ptxcheck: launch block=128
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128) specialised(int *out) {
  if (threadIdx.x < 32) {
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");  // expect: CL006
  }
  __syncthreads();
  out[blockIdx.x * 128 + threadIdx.x] = 1;
}
