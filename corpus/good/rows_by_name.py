"""A map of a tile of 160 rows, with the arguments of the binding passed by name in an order of their own."""

from cuda.bindings import driver as cuda

BLOCK_ROWS = 160


def encode(pointer, rows, columns):
    """Return the map."""
    _, tensor_map = cuda.cuTensorMapEncodeTiled(
        tensorDataType=cuda.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        tensorRank=2,
        globalAddress=pointer,
        globalDim=[cuda.cuuint64_t(columns), cuda.cuuint64_t(rows)],
        globalStrides=[cuda.cuuint64_t(2 * columns)],
        swizzle=cuda.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_128B,
        boxDim=[cuda.cuuint32_t(64), cuda.cuuint32_t(BLOCK_ROWS)],
        elementStrides=[cuda.cuuint32_t(1), cuda.cuuint32_t(1)],
        interleave=cuda.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        l2Promotion=cuda.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_NONE,
        oobFill=cuda.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )
    return tensor_map
