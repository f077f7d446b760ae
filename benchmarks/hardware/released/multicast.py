"""A product in TileLang whose first CTA loads for both of its cluster, with one CTA late. Needs a GPU and cuda-python.

    python -m benchmarks.corpora build tilelang --only matmul_multicast.cluster2x1x1
    python -m benchmarks.hardware.released.edits multicast KERNEL.ptx FOLDER
    ptxas -arch=sm_90a -O3 FOLDER/multicast_late_init.ptx -o FOLDER/multicast_late_init.cubin    # and the others
    python -m benchmarks.hardware.released.multicast FOLDER

prints a line of JSON for each variant and delay. A variant that hangs is ended after 8 seconds: each has a process.
"""
# mypy: ignore-errors

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np

M, N, K = 1024, 1024, 512
_TILE_M, _TILE_N, _TILE_K, _SHARED = 128, 128, 64, 65536
_ALL, _CONSUMERS = 0xFF, 0xF0
CASES = (
    ("multicast_original", (0, 0), 300),
    *(("multicast_late_init", (cycles, _ALL), 100) for cycles in (0, 500, 1000, 2000, 20000)),
    *(("multicast_late_consumer", (cycles, _CONSUMERS), 100) for cycles in (0, 300, 1000, 3000, 10000)),
    ("multicast_mended_original", (0, 0), 300),
    *(
        ("multicast_mended_late_consumer", (cycles, _CONSUMERS), 100)
        for cycles in (0, 300, 1000, 3000, 10000)
    ),
    ("multicast_original", (0, 0), 300),
)
_ALLOWED = 0.25


def main(folder: Path) -> None:
    """Run all cases, each in a process."""
    for kernel, delay, launches in CASES:
        command = [sys.executable, "-m", __spec__.name, folder, kernel, *delay, launches]
        try:
            ran = subprocess.run(
                list(map(str, command)), capture_output=True, text=True, timeout=8, check=False
            )
            outcome = json.loads(ran.stdout) if ran.returncode == 0 else {"fault": ran.stderr[-200:]}
        except subprocess.TimeoutExpired:
            outcome = {"hang": True}
        print(json.dumps({"kernel": kernel, "delay": delay, "launches": launches} | outcome), flush=True)


def one(path: Path, delay: tuple[int, int], launches: int) -> None:
    """Run one case and print what came out."""
    from cuda.bindings import driver as cu

    def do(result: tuple) -> object:
        if int(result[0]):
            raise RuntimeError(result[0])
        return result[1] if len(result) == 2 else result[1:]

    do(cu.cuInit(0))
    do(cu.cuCtxSetCurrent(do(cu.cuDevicePrimaryCtxRetain(do(cu.cuDeviceGet(0))))))
    module = do(cu.cuModuleLoadData(path.read_bytes()))
    function = do(cu.cuModuleGetFunction(module, b"product_kernel"))
    rng = np.random.default_rng(7)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((M, K), (K, N)))
    reference = a.astype(np.float32) @ b.astype(np.float32)
    out = np.full((M, N), np.nan, np.float16)
    nothing = out.copy()
    places = [do(cu.cuMemAlloc(each.nbytes)) for each in (a, b, out)]
    for place, each in zip(places, (a, b), strict=False):
        do(cu.cuMemcpyHtoD(place, each.ctypes.data, each.nbytes))
    maps = [
        do(
            cu.cuTensorMapEncodeTiled(
                cu.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                2,
                int(place),
                [cu.cuuint64_t(n) for n in sizes],
                [cu.cuuint64_t(2 * sizes[0])],
                [cu.cuuint32_t(n) for n in box],
                [cu.cuuint32_t(1)] * 2,
                cu.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
                cu.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_128B,
                cu.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                cu.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        )
        for place, sizes, box in (
            (places[0], (K, M), (_TILE_K, _TILE_M)),
            (places[1], (N, K), (_TILE_N // 2, _TILE_K)),
        )
    ]
    attribute = cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    do(cu.cuFuncSetAttribute(function, attribute, _SHARED))
    if "late" in path.stem:
        where, _ = do(cu.cuModuleGetGlobal(module, b"ptxcheck_delay"))
        words = np.array([*delay, 0, 0], np.uint32)
        do(cu.cuMemcpyHtoD(where, words.ctypes.data, words.nbytes))
    config = cu.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = N // _TILE_N, M // _TILE_M, 1
    config.blockDimX, config.blockDimY, config.blockDimZ = 256, 1, 1
    config.sharedMemBytes, config.hStream = _SHARED, cu.CUstream(0)
    cluster = cu.CUlaunchAttribute()
    cluster.id = cu.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    cluster.value.clusterDim.x, cluster.value.clusterDim.y, cluster.value.clusterDim.z = 2, 1, 1
    config.attrs, config.numAttrs = [cluster], 1
    c = np.array([int(places[2])], np.uint64)
    arguments = np.array([maps[0].getPtr(), maps[1].getPtr(), c.ctypes.data], np.uint64)
    wrong_launches = most = 0
    for _ in range(launches):
        do(cu.cuMemcpyHtoD(places[2], nothing.ctypes.data, nothing.nbytes))
        do(cu.cuLaunchKernelEx(config, function, arguments.ctypes.data, 0))
        do(cu.cuCtxSynchronize())
        do(cu.cuMemcpyDtoH(out.ctypes.data, places[2], out.nbytes))
        wrong = int((~(np.abs(out.astype(np.float32) - reference) < _ALLOWED)).sum())
        wrong_launches += wrong > 0
        most = max(most, wrong)
    times = []
    for _ in range(9):
        start, end = (do(cu.cuEventCreate(0)) for _ in range(2))
        do(cu.cuEventRecord(start, 0))
        for _ in range(200):
            do(cu.cuLaunchKernelEx(config, function, arguments.ctypes.data, 0))
        do(cu.cuEventRecord(end, 0))
        do(cu.cuEventSynchronize(end))
        times.append(do(cu.cuEventElapsedTime(start, end)) * 5)
    row = {"wrong launches": wrong_launches, "most wrong": most, "of": out.size}
    print(json.dumps(row | {"us": round(statistics.median(times), 2)}))


if __name__ == "__main__":
    if len(sys.argv) == 2:
        main(Path(sys.argv[1]).resolve())
    else:
        folder, kernel, *numbers = sys.argv[1:]
        cycles, warps, launches = map(int, numbers)
        one(Path(folder, f"{kernel}.cubin"), (cycles, warps), launches)
