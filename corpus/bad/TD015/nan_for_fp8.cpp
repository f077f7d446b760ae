// Eight-bit floats are UINT8 to the driver, and integers cannot be filled with NaN.
#include <cuda.h>

CUresult encode_fp8(CUtensorMap *map, void *data) {
  cuuint64_t dims[] = {4096, 4096}, strides[] = {4096};
  cuuint32_t box[] = {128, 128}, steps[] = {1, 1};
  return cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, data, dims, strides, box, steps,
                                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);  // expect: TD015
}
