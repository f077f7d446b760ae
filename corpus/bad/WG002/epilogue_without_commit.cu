// The last multiplication, behind the loop, is in no group: the wait that follows does not cover it.
// After NVIDIA/Fuser be4d5ecbb (#4312).
// ptxcheck: arch sm_90a
#include <cstdint>

__device__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N>
__device__ void wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
__device__ void hold(float (&d)[4]) {
  asm volatile("" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
}
__device__ void multiply(float (&d)[4], uint64_t a, uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(a), "l"(b)  // expect: WG002
      : "memory");
}

__global__ void __launch_bounds__(128) tail(float4 *out, uint64_t a, uint64_t b, int steps) {
  float4 c = out[threadIdx.x];
  float d[4] = {c.x, c.y, c.z, c.w};
  hold(d);
  fence();
  for (int step = 0; step < steps; ++step) {
    multiply(d, a + 2 * step, b + 2 * step);
    commit();
    wait<0>();
  }
  fence();
  multiply(d, a + 64, b + 64);
  wait<0>();
  hold(d);
  out[threadIdx.x] = make_float4(d[0], d[1], d[2], d[3]);
}
