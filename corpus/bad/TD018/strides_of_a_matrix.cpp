// A batch dimension was added to the sizes but not to the strides, which are read beyond their end.
#include <cuda.h>

CUresult encode_batch(CUtensorMap *map, void *data, cuuint64_t m, cuuint64_t batch) {
  cuuint64_t dims[3] = {1024, m, batch};
  cuuint64_t strides[1] = {2048};
  cuuint32_t box[3] = {64, 128, 1};
  cuuint32_t steps[3] = {1, 1, 1};
  return cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3, data, dims,
                                strides,  // expect: TD018
                                box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
