// Copies are committed, and a block barrier is taken for their completion.
// After csarofeen/pytorch #2457 and tile-ai/tilelang #2166, with the wait left out.
// ptxcheck: arch sm_90a
#include <cstdint>

__device__ __forceinline__ uint32_t shared_address(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void copy(float4 *to, const float4 *from) {
  // expect: CA002
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}

__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int open>
__device__ __forceinline__ void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(open) : "memory");
}

__device__ __forceinline__ float read(const float4 *from) {
  // expect: SM020
  return *reinterpret_cast<const volatile float *>(from);
}

__global__ void __launch_bounds__(32) load(const float4 *in, float *out) {
  __shared__ float4 tile[32];
  copy(&tile[threadIdx.x], in + threadIdx.x);
  commit();
  __syncthreads();
  out[threadIdx.x] = read(&tile[threadIdx.x ^ 1]);
}
