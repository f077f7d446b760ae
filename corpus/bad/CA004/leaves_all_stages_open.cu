// A prologue of two stages, and a wait that leaves two open: it never waits.
// After tile-ai/tilelang #2505 and #2668.
// ptxcheck: arch sm_90a
#include <cstdint>

__device__ __forceinline__ uint32_t shared_address(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void copy(float4 *to, const float4 *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}

__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int open>
__device__ __forceinline__ void wait() {
  // expect: CA004
  asm volatile("cp.async.wait_group %0;" ::"n"(open) : "memory");
}

__device__ __forceinline__ float read(const float4 *from) {
  // expect: SM020
  return *reinterpret_cast<const volatile float *>(from);
}

__global__ void __launch_bounds__(32) neighbours(const float4 *in, float *out) {
  __shared__ float4 a[32], b[32];
  copy(&a[threadIdx.x], in + threadIdx.x);
  commit();
  copy(&b[threadIdx.x], in + 32 + threadIdx.x);
  commit();
  wait<2>();
  __syncthreads();
  out[threadIdx.x] = read(&a[threadIdx.x ^ 1]);
  asm volatile("cp.async.wait_all;" ::: "memory");
}
