"""FlashInfer's single prefill for sm_90 with a late warpgroup or warp, as it is and mended. Needs a GPU and PyTorch.

Where FLAGS are those of `benchmarks.corpora.flashinfer` and `ptxas` is of CUDA 13.0:

    nvcc -O3 -std=c++17 -arch=sm_90a FLAGS --keep -shared -Xcompiler -fPIC -o FOLDER/prefill.so flashinfer_prefill.cu
    python -m benchmarks.hardware.released.edits prefill flashinfer_prefill.ptx FOLDER
    ptxas -arch=sm_90a -O3 FOLDER/prefill_late.ptx -o FOLDER/prefill_late.cubin       # and the other variants
    python -m benchmarks.hardware.released.prefill FOLDER

prints a line of JSON for each variant, size and delay.
"""
# mypy: ignore-errors

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path

import torch

from .device import Kernel, address, microseconds, stream, succeeds

HEADS, KV_HEADS, WIDTH = 32, 8, 128
SIZES = ((1024, 1024), (128, 4096), (4096, 4096))
_FIRST, _SECOND, _LAST_WARP = 0xF0, 0xF00, 0x800
DELAYS = (
    (0, 0), (100, _SECOND), (200, _SECOND), (400, _SECOND), (1000, _SECOND), (10000, _SECOND), (1000, _FIRST),
    (200, _LAST_WARP), (1000, _LAST_WARP),
)  # fmt: skip
_ALLOWED = 0.02


def main(folder: Path) -> None:
    """Run all variants."""
    library = ctypes.CDLL(str(folder / "prefill.so"))
    torch.manual_seed(7)
    for size in SIZES:
        inputs, reference = _case(*size)
        for variant, delays, launches in (
            ("original", ((0, 0),), 10000),
            ("late", DELAYS, 300),
            ("mended", ((0, 0),), 1000),
            ("mended_late", DELAYS, 300),
        ):
            kernel = Kernel(folder / f"prefill_{variant}.cubin", "PrefillWithKVCacheKernel")
            library.choose(kernel.function)
            for delay in delays:
                kernel.delay(*delay)
                row = {"kernel": variant, "size": size, "delay": delay, "launches": launches}
                print(json.dumps(row | _run(library, inputs, reference, launches)), flush=True)


def _case(queries: int, keys: int) -> tuple[tuple[torch.Tensor, ...], torch.Tensor]:
    """Return inputs, and what attention makes of them in FP32."""
    shapes = (queries, HEADS, WIDTH), (keys, KV_HEADS, WIDTH), (keys, KV_HEADS, WIDTH)
    q, k, v = (torch.randn(shape, device="cuda", dtype=torch.half) for shape in shapes)
    wide_k, wide_v = (x.float().repeat_interleave(HEADS // KV_HEADS, 1).transpose(0, 1) for x in (k, v))
    scores = q.float().transpose(0, 1) @ wide_k.transpose(1, 2) * WIDTH**-0.5
    last = torch.arange(queries, device="cuda")[:, None] + keys - queries
    scores.masked_fill_(torch.arange(keys, device="cuda")[None] > last, float("-inf"))
    return (q, k, v), (torch.softmax(scores, -1) @ wide_v).transpose(0, 1).contiguous()


def _run(
    library: ctypes.CDLL, inputs: tuple[torch.Tensor, ...], reference: torch.Tensor, launches: int
) -> dict[str, object]:
    """Launch many times and count what differs from the reference; the output is NaN before each launch."""
    out = torch.empty_like(reference, dtype=torch.half)
    lse = torch.empty(reference.shape[:2], device="cuda")
    sizes = inputs[0].shape[0], inputs[1].shape[0], HEADS, KV_HEADS
    arguments = (*map(address, (*inputs, out, lse)), *sizes, stream())
    wrong_launches = most = 0
    for _ in range(launches):
        out.fill_(float("nan"))
        succeeds(library.prefill(*arguments), "launch")
        wrong = int((~((out.float() - reference).abs() < _ALLOWED)).sum())
        wrong_launches += wrong > 0
        most = max(most, wrong)
    time = microseconds(lambda: succeeds(library.prefill(*arguments), "launch"))
    return {"wrong launches": wrong_launches, "most wrong": most, "of": reference.numel(), "us": time}


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
