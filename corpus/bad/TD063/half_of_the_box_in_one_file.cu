// The box of the host was halved, the kernel beside it still expects the bytes of the old one.
#include <cuda.h>
#include <cuda_fp16.h>

constexpr unsigned TILE = 64;

__global__ void __launch_bounds__(128) scale_tile(const __grid_constant__ CUtensorMap matrix, half *out) {
  __shared__ alignas(1024) half tile[TILE * TILE];
  __shared__ alignas(8) unsigned long long full;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(&full));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(tile));
    // expect: TD063
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(TILE * TILE * 2u) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %2}], [%3];"
                 ::"r"(to), "l"(&matrix), "r"(0), "r"(bar) : "memory");
  }
  unsigned done = 0;
  while (!done) {
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done) : "r"(bar) : "memory");  // expect: TX001
  }
  for (unsigned i = threadIdx.x; i < TILE * TILE; i += 128)
    out[i] = __hmul(tile[i], __float2half(2.0f));
}

void scale(void *source, half *out, unsigned long long rows, cudaStream_t stream) {
  CUtensorMap matrix;
  const cuuint64_t sizes[2] = {1024, rows};
  const cuuint64_t strides[1] = {1024 * sizeof(half)};
  const cuuint32_t box[2] = {TILE, TILE / 2};
  const cuuint32_t steps[2] = {1, 1};
  cuTensorMapEncodeTiled(&matrix, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, source, sizes, strides, box, steps,
                         CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                         CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  scale_tile<<<1, 128, 0, stream>>>(matrix, out);
}
