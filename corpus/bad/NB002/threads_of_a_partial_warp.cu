// 48 threads load a tile and meet at a barrier that is to count 48.
// After tile-ai/tilelang 4aea435ba: barriers for thread counts that are no multiple of a warp.
// ptxcheck: arch sm_90a

// ptxcheck: launch block=128
__global__ void __launch_bounds__(128) load_tile(const float *input, float *output) {
  __shared__ float tile[48];
  const unsigned threads = 48;
  if (threadIdx.x < 64) {
    if (threadIdx.x < threads) tile[threadIdx.x] = input[threadIdx.x];
    asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");  // expect: NB002
    if (threadIdx.x < threads) output[threadIdx.x] = tile[threads - 1 - threadIdx.x];
  }
}
