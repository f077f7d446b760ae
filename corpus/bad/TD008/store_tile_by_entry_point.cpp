// A store of a whole tile: 512 rows are more than a box can have. The encode function is looked up at run time.
#include <algorithm>
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime.h>

#define BLOCK_M 512

static PFN_cuTensorMapEncodeTiled encoder() {
  void *address = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &address, cudaEnableDefault, &found);
  return reinterpret_cast<PFN_cuTensorMapEncodeTiled>(address);
}

CUresult encode_store(CUtensorMap *map, void *data, cuuint64_t m) {
  auto encode = encoder();
  const cuuint64_t dims[2] = {4096, m};
  const cuuint64_t strides[1] = {8192};
  const cuuint32_t box[2] = {64, BLOCK_M};
  const cuuint32_t steps[2] = {1, 1};
  return encode(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, dims, strides,
                box,  // expect: TD008
                steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
