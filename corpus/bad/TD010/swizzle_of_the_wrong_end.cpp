// The swizzle is chosen by the last dimension of the box, but the first one is the innermost.
// After CCCL 10546: bytes of the inner box were computed from the wrong end of the array.
#include <cuda.h>

static CUtensorMapSwizzle widest(unsigned bytes) {
  if (bytes % 128 == 0) return CU_TENSOR_MAP_SWIZZLE_128B;
  if (bytes % 64 == 0) return CU_TENSOR_MAP_SWIZZLE_64B;
  if (bytes % 32 == 0) return CU_TENSOR_MAP_SWIZZLE_32B;
  return CU_TENSOR_MAP_SWIZZLE_NONE;
}

CUresult encode(CUtensorMap *map, void *data, cuuint64_t rows) {
  constexpr int kRank = 2;
  const cuuint64_t dims[kRank] = {1024, rows};
  const cuuint64_t strides[kRank - 1] = {2048};
  const cuuint32_t box[kRank] = {64, 16};
  const cuuint32_t steps[kRank] = {1, 1};
  const auto swizzle = widest(box[kRank - 1] * 2);
  return cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, kRank, data, dims, strides,
                                box,  // expect: TD010
                                steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
