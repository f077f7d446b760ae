// The width of the tile stands in a header: 128 halves are 256 bytes, twice what the 128-byte swizzle spans.
#include <cuda.h>

#include "tile_of_a_header.h"

CUresult encode(CUtensorMap *map, void *data, cuuint64_t rows) {
  const cuuint64_t dims[2] = {4096, rows};
  const cuuint64_t strides[1] = {8192};
  const cuuint32_t box[2] = {tile::kColumns, tile::kRows};
  const cuuint32_t steps[2] = {1, 1};
  return cuTensorMapEncodeTiled(
      map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, data, dims, strides,
      box,  // expect: TD010
      steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
