// A ring whose "empty" barrier counts its consumers, instantiated for a stage that nobody consumes: count 0.
// After jax-ml/jax 3d470f4312 and NVIDIA/cutlass a49a78ffe.
// ptxcheck: arch sm_90a
#include <cstdint>

__device__ __forceinline__ void init(uint64_t *barrier, uint32_t count) {
  uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(barrier));
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address), "r"(count));  // expect: MB001
}

template <int consumers>
__global__ void __launch_bounds__(128) ring(float *out) {
  __shared__ uint64_t full, empty;
  if (threadIdx.x == 0) {
    init(&full, 1);
    init(&empty, consumers);
  }
  __syncthreads();
  out[threadIdx.x] = 0;
}

template __global__ void ring<0>(float *);
