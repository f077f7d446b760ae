// A paged cache described with every dimension it has, which are six.
#include <array>
#include <cuda.h>

CUresult encode_cache(CUtensorMap *map, void *cache, cuuint64_t pages) {
  std::array<cuuint64_t, 6> dims = {64, 16, 8, 4, 2, pages};
  std::array<cuuint64_t, 5> strides = {128, 2048, 16384, 65536, 131072};
  std::array<cuuint32_t, 6> box = {64, 16, 1, 1, 1, 1};
  std::array<cuuint32_t, 6> steps = {1, 1, 1, 1, 1, 1};
  return cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                                static_cast<cuuint32_t>(dims.size()),  // expect: TD002
                                cache, dims.data(), strides.data(), box.data(), steps.data(),
                                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
