"""FlashInfer's paged MLA attention for sm_90 beside another kernel on its SM. Needs a GPU with 132 SMs, and PyTorch.

Where FLAGS are those of `benchmarks.corpora.flashinfer` and `ptxas` is of CUDA 13.0 (without `-DFP8`: in FP16):

    nvcc -O3 -std=c++17 -arch=sm_90a FLAGS -DFP8 --keep -shared -Xcompiler -fPIC -o FOLDER/mla_fp8.so flashinfer_mla.cu
    python -m benchmarks.hardware.released.edits mla_fp8 flashinfer_mla.ptx FOLDER
    ptxas -arch=sm_90a -O3 FOLDER/mla_fp8_mended.ptx -o FOLDER/mla_fp8_mended.cubin      # and the other variants
    ptxas -arch=sm_90a neighbour.ptx -o FOLDER/neighbour.cubin
    python -m benchmarks.hardware.released.mla FOLDER

prints a line of JSON for each variant, work and neighbour. No kernel has a delay.
"""
# mypy: ignore-errors

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path

import torch

from .device import POINTER, Kernel, Neighbour, address, launches_beside, microseconds, stream, succeeds

HEADS, PAGE, BLOCKS, SCALE = 64, 64, 132, 576**-0.5
WORKS = {
    "one": [5] * BLOCKS,
    "mixed": [1 + 7 * i % 6 for i in range(4 * BLOCKS)],
    "long": [65] * BLOCKS,
}
"""Pages of each request; request i runs on block i % BLOCKS."""
VARIANTS = ("original", "mended", "mended_tiles", "memory_fence")
_SECONDS, _ALLOWED = 2.0, 0.05


def main(folder: Path) -> None:
    """Run all variants, alone and beside a neighbour of each mode."""
    library = ctypes.CDLL(str(folder / "mla_fp8.so"))
    neighbour = Neighbour(folder / "neighbour.cubin")
    torch.manual_seed(7)
    for work, pages in WORKS.items():
        inputs, plan, reference = _case(pages)
        alone = None
        for variant in VARIANTS:
            kernel = Kernel(folder / f"mla_fp8_{variant}.cubin", "BatchMLAPageAttentionHopperKernel")
            library.choose(kernel.function)
            out = torch.empty(reference.shape, device="cuda", dtype=torch.bfloat16)
            launch = _launch(library, inputs, plan, out)
            launch()
            alone = out.clone() if alone is None else alone
            row = {"kernel": variant, "work": work, "us": microseconds(launch)}
            for mode in (None, 0, 1):
                counts = _run(launch, out, alone, reference, neighbour, mode)
                print(json.dumps(row | {"neighbour": mode} | counts), flush=True)


def _case(pages: list[int]) -> tuple[tuple[torch.Tensor, ...], list[torch.Tensor], torch.Tensor]:
    """Return queries and cache, the plan, and what attention makes of them in FP32."""
    count, total = len(pages), sum(pages)
    q_nope, q_pe = (torch.randn(count, HEADS, n, device="cuda").to(torch.bfloat16) for n in (512, 64))
    ckv, kpe = (torch.randn(total, PAGE, n, device="cuda").to(torch.float8_e4m3fn) for n in (512, 64))
    first = [sum(pages[:i]) for i in range(count)]
    reference = torch.empty(count, HEADS, 512, device="cuda")
    for i, (start, length) in enumerate(zip(first, pages, strict=True)):
        c, p = (x[start : start + length].float().flatten(0, 1) for x in (ckv, kpe))
        scores = (q_nope[i].float() @ c.T + q_pe[i].float() @ p.T) * SCALE
        reference[i] = torch.softmax(scores, -1) @ c
    order = sorted(range(count), key=lambda i: (i % BLOCKS, i))
    lengths = [pages[i] * PAGE for i in order]
    ends = [sum(i % BLOCKS < block for i in order) for block in range(BLOCKS + 1)]
    zeros = [0] * count
    columns = [
        order, [first[i] for i in order], [-1] * count, [1] * count, lengths, zeros, zeros, lengths, ends,
        [0] * BLOCKS, list(range(total)),
    ]  # fmt: skip
    plan = [torch.tensor(column, device="cuda", dtype=torch.int32) for column in columns]
    return (q_nope, q_pe, ckv, kpe), plan, reference


def _launch(
    library: ctypes.CDLL, inputs: tuple[torch.Tensor, ...], plan: list[torch.Tensor], out: torch.Tensor
):
    lse = torch.empty(out.shape[:2], device="cuda")
    table = (POINTER * 10)(*[column.data_ptr() for column in plan[:10]])
    sizes = HEADS, PAGE, BLOCKS, ctypes.c_float(SCALE)

    def launch() -> None:
        places = map(address, (*inputs, out, lse))
        succeeds(library.run_mla(*places, table, address(plan[10]), *sizes, stream()), "launch")

    return launch


def _run(launch, out, alone, reference, neighbour: Neighbour, mode: int | None) -> dict[str, int]:
    """Launch for two seconds; count what differs from the run alone, and what is wrong by the reference."""
    counts = torch.zeros(4, device="cuda", dtype=torch.int64)
    launches = 0
    for launches in launches_beside(neighbour, mode, _SECONDS):  # noqa: B007
        launch()
        differs = out != alone
        wrong = ~((out.float() - reference).abs() < _ALLOWED)
        each = torch.stack([differs.sum(), wrong.sum()])
        counts[:2] += each > 0
        counts[2:] = torch.maximum(counts[2:], each)
    names = "launches that differ", "wrong launches", "most that differ", "most wrong"
    return {"launches": launches} | dict(zip(names, counts.tolist(), strict=True)) | {"of": out.numel()}


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
