// Rows padded against bank conflicts, but to 72 bytes: every second row is misaligned.
// ptxcheck: arch sm_90a
// ptxcheck: launch block=32
#include <cstdint>

__global__ void rows(uint32_t *out) {
  __shared__ alignas(16) char tile[32 * 72];
  reinterpret_cast<volatile char *>(tile)[threadIdx.x] = 1;
  __syncthreads();
  uint32_t row = static_cast<uint32_t>(__cvta_generic_to_shared(tile)) + 72 * threadIdx.x;
  uint32_t a, b, c, d;
  // expect: SM003
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(row));
  out[threadIdx.x] = a + b + c + d;
}
