# A launcher in Python: 64 columns of two bytes are one span of the 128-byte swizzle.
from cuda.bindings import driver

BLOCK_K = 64


def encode(pointer, rows, columns, block_rows, block_columns):
    dims = [driver.cuuint64_t(columns), driver.cuuint64_t(rows)]
    strides = [driver.cuuint64_t(columns * 2)]
    box = [driver.cuuint32_t(block_columns), driver.cuuint32_t(block_rows)]
    steps = [driver.cuuint32_t(1)] * 2
    error, tensor_map = driver.cuTensorMapEncodeTiled(
        driver.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        2,
        pointer,
        dims,
        strides,
        box,
        steps,
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        driver.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_128B,
        driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )
    if error != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"cuTensorMapEncodeTiled: {error}")
    return tensor_map


def launch(a):
    return encode(a.data_ptr(), a.shape[0], a.shape[1], 128, BLOCK_K)
