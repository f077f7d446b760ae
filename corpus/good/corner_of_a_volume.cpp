// The pixel box of a volume reaches 14 pixels out.
#include <cuda.h>

constexpr int kFilter = 5, kDilation = 3;
constexpr int kReach = (kFilter - 1) * kDilation + 2;

CUresult encode_volume(CUtensorMap *map, void *data, cuuint64_t batch) {
  const cuuint64_t dims[5] = {64, 64, 64, 64, batch};
  const cuuint64_t strides[4] = {128, 8192, 524288, 33554432};
  const int lower[3] = {0, 0, 0};
  const int upper[3] = {-kReach, -kReach, -kReach};
  const cuuint32_t steps[5] = {1, 1, 1, 1, 1};
  return cuTensorMapEncodeIm2col(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 5, data, dims, strides, lower,
                                 upper,
                                 64, 128, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                 CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
