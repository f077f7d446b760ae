// The number of bytes of a swizzle is not its enumerator.
#include <cuda.h>

static CUtensorMapSwizzle mode_of(int bytes) { return static_cast<CUtensorMapSwizzle>(bytes); }

CUresult encode(CUtensorMap *map, void *data) {
  const cuuint64_t dims[2] = {4096, 4096}, strides[1] = {8192};
  const cuuint32_t box[2] = {32, 64}, steps[2] = {1, 1};
  return cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, data, dims, strides, box, steps,
                                CU_TENSOR_MAP_INTERLEAVE_NONE,
                                mode_of(64),  // expect: TD001
                                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
