"""FlashInfer's top-k with a late warp, and beside another kernel on its SM. Needs a GPU and PyTorch.

Where FLAGS are those of `benchmarks.corpora.flashinfer` and `ptxas` is of CUDA 13.0:

    nvcc -O3 -std=c++17 -arch=sm_90a FLAGS -ptx -o FOLDER/flashinfer_topk.ptx flashinfer_topk.cu
    python -m benchmarks.hardware.released.edits topk FOLDER/flashinfer_topk.ptx FOLDER
    ptxas -arch=sm_90a -O3 FOLDER/topk_late.ptx -o FOLDER/topk_late.cubin       # and the other variants
    ptxas -arch=sm_90a neighbour.ptx -o FOLDER/neighbour.cubin
    python -m benchmarks.hardware.released.topk FOLDER

prints a line of JSON for each variant, size, delay and neighbour. The launch is the one that FlashInfer's host code
makes (`RadixTopKMultiCTA`): a CTA of 1,024 threads for each SM, which takes the rows in turn.
"""
# mypy: ignore-errors

from __future__ import annotations

import ctypes
import json
import sys
import time
from pathlib import Path

import torch

from .device import DRIVER, POINTER, Kernel, Neighbour, microseconds, stream, succeeds

SIZES = ((1024, 4096, 64), (1024, 32768, 256), (4096, 16384, 1024))
"""Rows, keys of each, and how many are chosen."""
_ALL, _LAST, _HALF = 0xFFFFFFFF, 0x80000000, 0xFFFF0000
DELAYS = (
    (0, 0),
    (0, _LAST),
    (500, _LAST),
    (1000, _LAST),
    (2000, _LAST),
    (10000, _LAST),
    (2000, _HALF),
    (2000, _ALL),
)
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
        reference = torch.topk(source, count, dim=1, sorted=True).values
        for variant, delays, launches in (
            ("original", (), 0),
            ("late", DELAYS, 300),
            ("mended", (), 0),
            ("mended_late", DELAYS, 300),
        ):
            kernel = Kernel(folder / f"topk_{variant}.cubin", "RadixTopKKernel_Unified")
            launch, out = _launch(kernel, source, count)
            row = {"kernel": variant, "size": size}
            for delay in delays:
                kernel.delay(*delay)
                print(
                    json.dumps(row | {"delay": delay} | _run(launch, out, source, reference, launches)),
                    flush=True,
                )
            for mode in () if delays else (None, 0, 1):
                counts = _run_beside(launch, out, source, reference, neighbour, mode)
                print(json.dumps(row | {"neighbour": mode, "us": microseconds(launch)} | counts), flush=True)


def _launch(kernel: Kernel, source: torch.Tensor, count: int):
    """Return a function that launches the kernel, and where it writes: indices and values."""
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

    launch.keeps = arguments
    return launch, (indices, values)


def _wrong_rows(out, source: torch.Tensor, reference: torch.Tensor) -> torch.Tensor:
    """Count the rows whose values are not the largest ones, or are not those at the indices."""
    indices, values = out
    places = indices.long().clamp(0, source.shape[1] - 1)
    right = (torch.sort(values, dim=1, descending=True).values == reference).all(1)
    return (~(right & (source.gather(1, places) == values).all(1))).sum()


def _run(launch, out, source: torch.Tensor, reference: torch.Tensor, launches: int) -> dict[str, object]:
    """Launch many times; the outputs are NaN and -1 before each launch."""
    wrong_launches = most = 0
    for _ in range(launches):
        out[0].fill_(-1)
        out[1].fill_(float("nan"))
        launch()
        wrong = int(_wrong_rows(out, source, reference))
        wrong_launches += wrong > 0
        most = max(most, wrong)
    return {
        "launches": launches,
        "wrong launches": wrong_launches,
        "most wrong rows": most,
        "of": len(reference),
    }


def _run_beside(
    launch, out, source: torch.Tensor, reference: torch.Tensor, neighbour: Neighbour, mode: int | None
) -> dict[str, object]:
    """Launch for two seconds beside another kernel."""
    counts = torch.zeros(2, device="cuda", dtype=torch.int64)
    torch.cuda.synchronize()
    start, launches = time.time(), 0
    if mode is not None:
        neighbour.run_for(_SECONDS, mode)
        time.sleep(0.01)
    while time.time() - start < _SECONDS - 0.1:
        for _ in range(20):
            out[0].fill_(-1)
            out[1].fill_(float("nan"))
            launch()
            wrong = _wrong_rows(out, source, reference)
            counts[0] += wrong > 0
            counts[1] = torch.maximum(counts[1], wrong)
        launches += 20
        torch.cuda.current_stream().synchronize()
    torch.cuda.synchronize()
    wrong_launches, most = counts.tolist()
    return {
        "launches": launches,
        "wrong launches": wrong_launches,
        "most wrong rows": most,
        "of": len(reference),
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
