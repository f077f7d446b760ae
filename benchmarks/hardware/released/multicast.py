"""A product in TileLang whose first CTA loads for both of its cluster, with one CTA late. Needs a GPU and cuda-python.

    python -m benchmarks.corpora build tilelang --only matmul_multicast.cluster2x1x1
    python -m benchmarks.hardware.released.edits multicast KERNEL.ptx FOLDER
    ptxas -arch=sm_90a -O3 FOLDER/multicast_late_init.ptx -o FOLDER/multicast_late_init.cubin    # and the others
    python -m benchmarks.hardware.released.multicast FOLDER

prints a line of JSON for each variant and delay. A variant that hangs is ended after 8 seconds: each has a process.

    python -m benchmarks.hardware.released.multicast FOLDER compare multicast_original NAME ...

times kernels in turn, as graphs of launches, with ratios to the first one of the same round.
"""
# mypy: ignore-errors

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable
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
_MAPS = (((K, M), (_TILE_K, _TILE_M)), ((N, K), (_TILE_N // 2, _TILE_K)))
"""Sizes and boxes of the tensor maps of both operands."""
LAUNCHES, ROUNDS = 200, 60


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
    product = Product()
    kernel = product.kernel(path, delay)
    row = product.wrong(kernel, launches)
    print(json.dumps(row | {"us": round(statistics.median(product.times(kernel) for _ in range(9)), 2)}))


def compare(folder: Path, names: list[str]) -> None:
    """Time kernels in turn in one process, round by round, and print medians and ratios to the first one."""
    product = Product()
    kernels = [product.kernel(folder / f"{name}.cubin", (0, 0)) for name in names]
    graphs = [product.graph(kernel) for kernel in kernels]
    rounds = [[product.times(graph, 1) for graph in graphs] for _ in range(ROUNDS)]
    for index, name in enumerate(names):
        times = [each[index] for each in rounds]
        ratios = sorted(each[index] / each[0] for each in rounds)
        row = {
            "kernel": name,
            "us": round(statistics.median(times), 3),
            "ratio": round(statistics.median(ratios), 4),
            "half": [round(ratios[ROUNDS // 4], 4), round(ratios[-ROUNDS // 4], 4)],
        }
        print(json.dumps(row), flush=True)


class Product:
    """The context, operands and reference of the product."""

    def __init__(self) -> None:
        from cuda.bindings import driver as cu

        self.cu = cu
        self.do(cu.cuInit(0))
        self.do(cu.cuCtxSetCurrent(self.do(cu.cuDevicePrimaryCtxRetain(self.do(cu.cuDeviceGet(0))))))
        self.stream = self.do(cu.cuStreamCreate(0))
        rng = np.random.default_rng(7)
        a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((M, K), (K, N)))
        self.reference = a.astype(np.float32) @ b.astype(np.float32)
        self.nothing = np.full((M, N), np.nan, np.float16)
        self.places = [self.do(cu.cuMemAlloc(each.nbytes)) for each in (a, b, self.nothing)]
        for place, each in zip(self.places, (a, b), strict=False):
            self.do(cu.cuMemcpyHtoD(place, each.ctypes.data, each.nbytes))
        self.maps = [self._map(place, *how) for place, how in zip(self.places, _MAPS, strict=False)]

    def do(self, result: tuple) -> object:
        if int(result[0]):
            raise RuntimeError(result[0])
        return result[1] if len(result) == 2 else result[1:]

    def kernel(self, path: Path, delay: tuple[int, int]) -> Callable[[], None]:
        """Return what launches a kernel."""
        cu, do = self.cu, self.do
        module = do(cu.cuModuleLoadData(path.read_bytes()))
        function = do(cu.cuModuleGetFunction(module, b"product_kernel"))
        attribute = cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        do(cu.cuFuncSetAttribute(function, attribute, _SHARED))
        if "late" in path.stem:
            where, _ = do(cu.cuModuleGetGlobal(module, b"ptxcheck_delay"))
            words = np.array([*delay, 0, 0], np.uint32)
            do(cu.cuMemcpyHtoD(where, words.ctypes.data, words.nbytes))
        config = cu.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = N // _TILE_N, M // _TILE_M, 1
        config.blockDimX, config.blockDimY, config.blockDimZ = 256, 1, 1
        config.sharedMemBytes, config.hStream = _SHARED, self.stream
        cluster = cu.CUlaunchAttribute()
        cluster.id = cu.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        cluster.value.clusterDim.x, cluster.value.clusterDim.y, cluster.value.clusterDim.z = 2, 1, 1
        config.attrs, config.numAttrs = [cluster], 1
        c = np.array([int(self.places[2])], np.uint64)
        arguments = np.array([self.maps[0].getPtr(), self.maps[1].getPtr(), c.ctypes.data], np.uint64)

        def launch(_kept: object = (module, c)) -> None:
            do(cu.cuLaunchKernelEx(config, function, arguments.ctypes.data, 0))

        return launch

    def graph(self, kernel: Callable[[], None]) -> Callable[[], None]:
        """Return what launches a kernel many times with no work of the host between."""
        cu, do = self.cu, self.do
        do(cu.cuStreamBeginCapture(self.stream, cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL))
        for _ in range(LAUNCHES):
            kernel()
        made = do(cu.cuGraphInstantiate(do(cu.cuStreamEndCapture(self.stream)), 0))
        return lambda: do(cu.cuGraphLaunch(made, self.stream))

    def times(self, launch: Callable[[], None], calls: int = LAUNCHES) -> float:
        """Return microseconds of a launch, from `LAUNCHES` in a row, which are so many calls."""
        cu, do = self.cu, self.do
        start, end = (do(cu.cuEventCreate(0)) for _ in range(2))
        do(cu.cuEventRecord(start, self.stream))
        for _ in range(calls):
            launch()
        do(cu.cuEventRecord(end, self.stream))
        do(cu.cuEventSynchronize(end))
        return do(cu.cuEventElapsedTime(start, end)) * 1000 / LAUNCHES

    def wrong(self, kernel: Callable[[], None], launches: int) -> dict[str, int]:
        """Return how many launches give a wrong element, and the most of them in one."""
        cu, do, out = self.cu, self.do, np.empty_like(self.nothing)
        wrong_launches = most = 0
        for _ in range(launches):
            do(cu.cuMemcpyHtoD(self.places[2], self.nothing.ctypes.data, out.nbytes))
            kernel()
            do(cu.cuStreamSynchronize(self.stream))
            do(cu.cuMemcpyDtoH(out.ctypes.data, self.places[2], out.nbytes))
            wrong = int((~(np.abs(out.astype(np.float32) - self.reference) < _ALLOWED)).sum())
            wrong_launches += wrong > 0
            most = max(most, wrong)
        return {"wrong launches": wrong_launches, "most wrong": most, "of": out.size}

    def _map(self, place: object, sizes: tuple[int, int], box: tuple[int, int]) -> object:
        cu = self.cu
        return self.do(
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


if __name__ == "__main__":
    if len(sys.argv) == 2:
        main(Path(sys.argv[1]).resolve())
    elif sys.argv[2] == "compare":
        compare(Path(sys.argv[1]), sys.argv[3:])
    else:
        folder, kernel, *numbers = sys.argv[1:]
        cycles, warps, launches = map(int, numbers)
        one(Path(folder, f"{kernel}.cubin"), (cycles, warps), launches)
