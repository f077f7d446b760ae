// A stage has two groups; the wait leaves three of four open and so completes half of the first stage.
// After tile-ai/tilelang #2505 and #2092.
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
  asm volatile("cp.async.wait_group %0;" ::"n"(open) : "memory");
}

__device__ __forceinline__ float read(const float4 *from) {
  // expect: CA003
  return *reinterpret_cast<const volatile float *>(from);
}

// Two groups a stage: the wait counts groups, not stages.
__global__ void __launch_bounds__(32) stages(const float4 *in, float *out) {
  __shared__ float4 a[2][32], b[2][32];
  for (int stage = 0; stage < 2; ++stage) {
    copy(&a[stage][threadIdx.x], in + 64 * stage + threadIdx.x);
    commit();
    copy(&b[stage][threadIdx.x], in + 64 * stage + 32 + threadIdx.x);
    commit();
  }
  wait<3>();
  out[threadIdx.x] = read(&a[0][threadIdx.x]) + read(&b[0][threadIdx.x]);
  wait<0>();
  out[32 + threadIdx.x] = read(&a[1][threadIdx.x]) + read(&b[1][threadIdx.x]);
}
