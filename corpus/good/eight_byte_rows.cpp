// Scale factors of two rows are taken as one row of 16 bytes.
#include <cuda.h>
#include <vector>

CUresult encode_scales(CUtensorMap *map, void *scales, cuuint64_t rows) {
  constexpr unsigned kPerRow = 8, kRows = 2;
  std::vector<cuuint64_t> dims{kPerRow * kRows, rows / kRows};
  std::vector<cuuint64_t> strides{16};
  std::vector<cuuint32_t> box{kPerRow * kRows, 128 / kRows};
  std::vector<cuuint32_t> steps(dims.size(), 1);
  return cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_UINT8, dims.size(), scales, dims.data(),
                                strides.data(), box.data(),
                                steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
