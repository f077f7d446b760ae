// `{1}` sets the first element stride to 1 and the others to 0.
#include <cuda.h>

CUresult encode(CUtensorMap *map, void *data, cuuint64_t batch) {
  cuuint64_t dims[3] = {256, 256, batch};
  cuuint64_t strides[2] = {512, 131072};
  cuuint32_t box[3] = {64, 64, 1};
  cuuint32_t steps[3] = {1};
  return cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3, data, dims, strides, box,
                                steps,  // expect: TD007
                                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
