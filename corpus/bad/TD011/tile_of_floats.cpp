// A tile of 256 by 256 floats has 256 KiB, more than a multiprocessor has.
#include <cuda.h>

template <int kRows, int kColumns>
CUresult encode_tile(CUtensorMap *map, float *data, cuuint64_t m, cuuint64_t n) {
  cuuint64_t dims[2] = {n, m};
  cuuint64_t strides[1] = {4096};
  cuuint32_t box[2] = {kColumns, kRows};
  cuuint32_t steps[2] = {1, 1};
  return cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, data, dims, strides, box, steps,
                                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

CUresult encode(CUtensorMap *map, float *data) {
  return encode_tile<256, 256>(map, data, 1024, 1024);  // expect: TD011
}
