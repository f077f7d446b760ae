// Sixteen-byte loads from a buffer that starts with a header of eight bytes.
// ptxcheck: arch sm_90a
#include <cstdint>

__global__ void __launch_bounds__(32) read(float4 *out) {
  __shared__ alignas(16) char storage[8 + 32 * 16];
  reinterpret_cast<volatile char *>(storage)[threadIdx.x] = 1;
  __syncthreads();
  uint32_t base = static_cast<uint32_t>(__cvta_generic_to_shared(storage)) + 8 + 16 * threadIdx.x;
  float4 v;
  // expect: SM001
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(base));
  out[threadIdx.x] = v;
}
