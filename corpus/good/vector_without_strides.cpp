// A vector has no strides; an array that is not read is passed all the same.
#include <cuda.h>

CUresult encode_vector(CUtensorMap *map, float *data, cuuint64_t length) {
  const cuuint64_t dims[1] = {length};
  const cuuint64_t strides[1] = {0};
  const cuuint32_t box[1] = {256}, steps[1] = {1};
  return cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 1, data, dims,
                                strides,
                                box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
