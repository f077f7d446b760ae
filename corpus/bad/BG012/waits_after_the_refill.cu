// Two buffers take turns; the wait for a buffer's store comes behind its next filling.
// After Dao-AILab/flash-attention a5856bfa and 66bedce2.
// ptxcheck: arch sm_90a
#include <cstdint>

__device__ __forceinline__ uint32_t shared_address(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ __forceinline__ void store(float *to, const float *from) {
  fence();
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 16;" ::"l"(to), "r"(shared_address(from))
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

__device__ __forceinline__ void fill(float *buffer, float with) {
  // expect: BG012
  *reinterpret_cast<volatile float *>(buffer) = with;
}

__global__ void __launch_bounds__(1) three_parts(float *out) {
  __shared__ alignas(128) float a[4], b[4];
  fill(a, 1);
  store(out, a);
  fill(b, 2);
  store(out + 4, b);
  fill(a, 3);
  asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
  store(out + 8, a);
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
