// The keys of an empty cache: a tensor with no rows has no map.
// After FlashAttention 2470: empty K and V ended in an illegal instruction.
#include <cstdint>
#include <cuda.h>

static CUresult encode_keys(CUtensorMap *map, void *keys, int64_t count) {
  const cuuint64_t dims[3] = {128, static_cast<cuuint64_t>(count), 8};
  const cuuint64_t strides[2] = {256, 256 * 4096};
  const cuuint32_t box[3] = {64, 128, 1};
  const cuuint32_t steps[3] = {1, 1, 1};
  return cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, keys, dims, strides, box, steps,
                                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

void warm_up(CUtensorMap *map, void *keys) {
  encode_keys(map, keys, 4096);
  encode_keys(map, keys, 0);  // expect: TD004
}
