// Strides are given in elements, as a framework counts them; the driver counts bytes.
#include <cstdint>
#include <cuda.h>

constexpr int64_t kHidden = 5128;

CUresult encode_hidden(CUtensorMap *map, void *data, int64_t tokens) {
  uint64_t dims[2] = {kHidden, static_cast<uint64_t>(tokens)};
  uint64_t strides[1] = {static_cast<uint64_t>(kHidden)};
  uint32_t box[2] = {64, 128};
  uint32_t steps[2] = {1, 1};
  return cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, dims,
                                strides,  // expect: TD005
                                box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
