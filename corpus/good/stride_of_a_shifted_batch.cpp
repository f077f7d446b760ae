// The bytes between two batches fit a stride.
#include <cuda.h>

constexpr unsigned long long kBatchBytes = 1ULL << 39;

CUresult encode_batches(CUtensorMap *map, void *data, cuuint64_t batches) {
  const cuuint64_t dims[3] = {8192, 65536, batches};
  const cuuint64_t strides[2] = {16384, kBatchBytes};
  const cuuint32_t box[3] = {64, 128, 1}, steps[3] = {1, 1, 1};
  return cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3, data, dims,
                                strides,
                                box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
