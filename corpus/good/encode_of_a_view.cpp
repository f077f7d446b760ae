// A map of a view that starts eight halves into its buffer: 16 bytes.
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

CUtensorMap encode_view() {
  __half *buffer = nullptr;
  cudaMalloc(&buffer, 1 << 24);
  __half *view = buffer + 8;
  const cuuint64_t dims[2] = {2048, 512};
  const cuuint64_t strides[1] = {2048 * sizeof(__half)};
  const cuuint32_t box[2] = {64, 64};
  const cuuint32_t steps[2] = {1, 1};
  CUtensorMap map;
  cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2,
                         view,
                         dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                         CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}
