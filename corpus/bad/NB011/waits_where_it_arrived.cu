// Eight warps write their tiles, arrive at a barrier, and then wait at the same barrier with the same count.
// Each warp is counted twice: four fast ones pass before the others have written. After the Hopper epilogue of
// FlashInfer, which kept the arrival when the warp that it was for had gone.
// ptxcheck: arch sm_90a

// ptxcheck: launch block=256
__global__ void __launch_bounds__(256) epilogue(const float *input, float *output, float *extra) {
  __shared__ float tile[256];
  tile[threadIdx.x] = input[threadIdx.x];  // expect: SM021
  asm volatile("bar.arrive 1, 256;" ::: "memory");  // expect: NB012
  if (extra != nullptr) extra[threadIdx.x] = input[threadIdx.x];
  asm volatile("bar.sync 1, 256;" ::: "memory");  // expect: NB011
  output[threadIdx.x] = tile[255 - threadIdx.x];  // expect: SM020
}
