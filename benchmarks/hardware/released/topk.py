"""FlashInfer's top-k with a late warp, and beside another kernel on its SM. Needs a GPU and PyTorch.

Where FLAGS are those of `benchmarks.corpora.flashinfer` and `ptxas` is of CUDA 13.0:

    nvcc -O3 -std=c++17 -arch=sm_90a FLAGS -ptx -o FOLDER/flashinfer_topk.ptx flashinfer_topk.cu
    python -m benchmarks.hardware.released.edits topk FOLDER/flashinfer_topk.ptx FOLDER
    ptxas -arch=sm_90a -O3 FOLDER/topk_late.ptx -o FOLDER/topk_late.cubin       # and the other variants
    ptxas -arch=sm_90a neighbour.ptx -o FOLDER/neighbour.cubin
    python -m benchmarks.hardware.released.topk FOLDER

prints a line of JSON for each variant, size, delay and neighbour; with `original` or `mended` behind FOLDER that is
launched once, for `compute-sanitizer --tool racecheck --kernel-name kernel_substring=RadixTopK`. The launch is the one
that FlashInfer's host code makes (`RadixTopKMultiCTA`): a CTA of 1,024 threads for each SM, which takes the rows in
turn.
"""
# mypy: ignore-errors

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Iterable
from pathlib import Path

import torch

from .device import DRIVER, POINTER, Kernel, Neighbour, launches_beside, microseconds, stream, succeeds

SIZES = ((1024, 4096, 64), (1024, 32768, 256), (4096, 16384, 1024))
"""Rows, keys of each, and how many are chosen."""
_FEW, _FEW_CHOSEN = (264, 8192), 64
_ALL, _LAST, _HALF = 0xFFFFFFFF, 0x80000000, 0xFFFF0000
DELAYS = (
    (0, 0), (0, _LAST), (500, _LAST), (1000, _LAST), (2000, _LAST), (10000, _LAST), (2000, _HALF), (2000, _ALL),
)  # fmt: skip
_LAUNCHES = 300
"""With a delay."""
_FIXED = 2080
"""Bytes of shared memory in front of the keys."""
_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
_SECONDS = 2.0


def main(folder: Path) -> None:
    """Run all variants."""
    torch.manual_seed(7)
    neighbour = Neighbour(folder / "neighbour.cubin")
    for size in SIZES:
        rows, keys, count = size
        source = torch.randn(rows, keys, device="cuda")
        for variant in ("original", "late", "mended", "mended_late"):
            kernel = Kernel(folder / f"topk_{variant}.cubin", "RadixTopKKernel_Unified")
            launch, wrong_rows = _prepared(kernel, source, count)
            row = {"kernel": variant, "size": size}
            for delay in DELAYS if variant.endswith("late") else ():
                kernel.delay(*delay)
                _tell(row | {"delay": delay}, range(_LAUNCHES), wrong_rows, rows)
            if not variant.endswith("late"):
                row |= {"us": microseconds(launch)}
                for mode in (None, 0, 1):
                    launches = launches_beside(neighbour, mode, _SECONDS)
                    _tell(row | {"neighbour": mode}, launches, wrong_rows, rows)


def once(folder: Path, variant: str) -> None:
    """Launch a variant once, with more rows than SMs, and print how many rows are wrong."""
    torch.manual_seed(7)
    source = torch.randn(*_FEW, device="cuda")
    kernel = Kernel(folder / f"topk_{variant}.cubin", "RadixTopKKernel_Unified")
    _, wrong_rows = _prepared(kernel, source, _FEW_CHOSEN)
    print(f"{variant}: {int(wrong_rows())} of {len(source)} rows are wrong")


def _tell(row: dict[str, object], launches: Iterable[int], wrong_rows, rows: int) -> None:
    """Launch, and print how often, and in how many rows at most, something was wrong."""
    counts = torch.zeros(3, device="cuda", dtype=torch.int64)
    for _ in launches:
        wrong = wrong_rows()
        counts += torch.stack([torch.ones_like(wrong), (wrong > 0).long(), torch.relu(wrong - counts[2])])
    names = "launches", "wrong launches", "most wrong rows"
    print(json.dumps(row | dict(zip(names, counts.tolist(), strict=True)) | {"of": rows}), flush=True)


def _prepared(kernel: Kernel, source: torch.Tensor, count: int):
    """Return what launches the kernel, and what does so and counts the rows that are wrong."""
    rows, keys = source.shape
    blocks = min(torch.cuda.get_device_properties(0).multi_processor_count, rows)
    shared = _FIXED + 4 * keys
    succeeds(DRIVER.cuFuncSetAttribute(kernel.function, _SHARED, shared), "shared memory")
    indices = torch.empty(rows, count, device="cuda", dtype=torch.int32)
    values = torch.empty(rows, count, device="cuda")
    pointers = [source.data_ptr(), indices.data_ptr(), values.data_ptr(), *[0] * 5]
    arguments = [
        *map(ctypes.c_uint64, pointers), ctypes.c_int64(0), *map(ctypes.c_uint32, (count, keys, rows)),
        ctypes.c_uint64(0), ctypes.c_uint64(0), ctypes.c_uint32(keys), ctypes.c_uint32(1),
    ]  # fmt: skip
    table = (POINTER * len(arguments))(*[ctypes.cast(ctypes.pointer(each), POINTER) for each in arguments])

    def launch() -> None:
        code = DRIVER.cuLaunchKernel(kernel.function, blocks, 1, 1, 1024, 1, 1, shared, stream(), table, None)
        succeeds(code, "launch")

    reference = torch.topk(source, count, dim=1, sorted=True).values

    def wrong_rows() -> torch.Tensor:
        """A row is wrong if its values are not the largest ones, or not those at the indices."""
        indices.fill_(-1)
        values.fill_(float("nan"))
        launch()
        places = indices.long().clamp(0, keys - 1)
        right = (torch.sort(values, dim=1, descending=True).values == reference).all(1)
        return (~(right & (source.gather(1, places) == values).all(1))).sum()

    launch.keeps = arguments
    return launch, wrong_rows


if __name__ == "__main__":
    if len(sys.argv) > 2:
        once(Path(sys.argv[1]).resolve(), sys.argv[2])
    else:
        main(Path(sys.argv[1]).resolve())
