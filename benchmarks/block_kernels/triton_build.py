"""Runs in an environment with Triton, without a GPU: compiles kernels that use no tensor cores to PTX.

python -m benchmarks.block_kernels.triton_build FOLDER
"""
# ruff: noqa: N803
# mypy: ignore-errors

import sys
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def sum_rows(x, y, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, COLUMNS)
    tile = tl.load(x + rows[:, None] * n + columns[None, :], mask=columns[None, :] < n, other=0)
    tl.store(y + rows, tl.sum(tile, 1))


@triton.jit
def sum_columns(x, y, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows, columns = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    tile = tl.load(x + rows[:, None] * n + columns[None, :])
    tl.store(y + columns, tl.sum(tile, 0))


@triton.jit
def softmax(x, y, n, COLUMNS: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, COLUMNS)
    line = tl.load(x + row * n + columns, mask=columns < n, other=-float("inf"))
    line = tl.exp(line - tl.max(line, 0))
    tl.store(y + row * n + columns, line / tl.sum(line, 0), mask=columns < n)


@triton.jit
def layer_norm(x, y, w, b, n, eps, COLUMNS: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((COLUMNS,), tl.float32)
    for start in range(0, n, COLUMNS):
        columns = start + tl.arange(0, COLUMNS)
        total += tl.load(x + row * n + columns, mask=columns < n, other=0.0).to(tl.float32)
    mean = tl.sum(total, 0) / n
    square = tl.zeros((COLUMNS,), tl.float32)
    for start in range(0, n, COLUMNS):
        columns = start + tl.arange(0, COLUMNS)
        each = tl.load(x + row * n + columns, mask=columns < n, other=0.0).to(tl.float32)
        each = tl.where(columns < n, each - mean, 0.0)
        square += each * each
    scale = 1 / tl.sqrt(tl.sum(square, 0) / n + eps)
    for start in range(0, n, COLUMNS):
        columns = start + tl.arange(0, COLUMNS)
        each = tl.load(x + row * n + columns, mask=columns < n, other=0.0).to(tl.float32)
        weight = tl.load(w + columns, mask=columns < n)
        bias = tl.load(b + columns, mask=columns < n)
        tl.store(y + row * n + columns, (each - mean) * scale * weight + bias, mask=columns < n)


@triton.jit
def scan(x, y, n, COLUMNS: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, COLUMNS)
    line = tl.load(x + row * n + columns, mask=columns < n, other=0)
    tl.store(y + row * n + columns, tl.cumsum(line, 0), mask=columns < n)


@triton.jit
def scan_columns(x, y, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows, columns = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    tile = tl.load(x + rows[:, None] * n + columns[None, :])
    tl.store(y + rows[:, None] * n + columns[None, :], tl.cumsum(tile, 0))


@triton.jit
def sort(x, y, n, COLUMNS: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, COLUMNS)
    tl.store(y + row * n + columns, tl.sort(tl.load(x + row * n + columns), 0))


@triton.jit
def arg_max(x, y, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows, columns = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    tile = tl.load(x + rows[:, None] * n + columns[None, :])
    tl.store(y + rows, tl.argmax(tile, 1))


@triton.jit
def transpose(x, y, n, m, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    tile = tl.load(x + rows[:, None] * n + columns[None, :])
    tl.store(y + columns[:, None] * m + rows[None, :], tl.trans(tile))


@triton.jit
def histogram(x, y, BINS: tl.constexpr, COLUMNS: tl.constexpr):
    line = tl.load(x + tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS))
    tl.store(y + tl.program_id(0) * BINS + tl.arange(0, BINS), tl.histogram(line.to(tl.int32), BINS))


@triton.jit
def loop_of_sums(x, y, n, k, COLUMNS: tl.constexpr):
    columns = tl.arange(0, COLUMNS)
    for row in range(k):
        line = tl.load(x + row * n + columns)
        tl.store(y + row * n + columns, line - tl.sum(line, 0))


@triton.jit
def gather(x, indices, y, COLUMNS: tl.constexpr):
    columns = tl.arange(0, COLUMNS)
    line, places = tl.load(x + columns), tl.load(indices + columns)
    tl.store(y + columns, tl.gather(line, places, 0))


CASES = (
    (sum_rows, "*T *T i32", {"ROWS": 16, "COLUMNS": 128}),
    (sum_rows, "*T *T i32", {"ROWS": 1, "COLUMNS": 1024}),
    (sum_columns, "*T *T i32", {"ROWS": 64, "COLUMNS": 32}),
    (softmax, "*T *T i32", {"COLUMNS": 1024}),
    (layer_norm, "*T *T *T *T i32 fp32", {"COLUMNS": 512}),
    (scan, "*T *T i32", {"COLUMNS": 1024}),
    (scan_columns, "*T *T i32", {"ROWS": 64, "COLUMNS": 16}),
    (sort, "*T *T i32", {"COLUMNS": 256}),
    (arg_max, "*T *i32 i32", {"ROWS": 8, "COLUMNS": 256}),
    (transpose, "*T *T i32 i32", {"ROWS": 64, "COLUMNS": 64}),
    (histogram, "*i32 *i32", {"BINS": 128, "COLUMNS": 1024}),
    (loop_of_sums, "*T *T i32 i32", {"COLUMNS": 512}),
    (gather, "*T *i32 *T", {"COLUMNS": 512}),
)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, (kernel, types, constants) in enumerate(CASES):
        for warps, type_ in ((1, "fp32"), (2, "fp32"), (4, "fp32"), (4, "fp16"), (8, "fp32")):
            if "T" not in types and type_ == "fp16":
                continue
            if kernel is softmax and type_ == "fp16":
                continue
            names = [name for name in kernel.arg_names if name not in constants]
            given = dict(zip(names, types.replace("T", type_).split(), strict=True))
            signature = {name: given.get(name, "constexpr") for name in kernel.arg_names}
            source = ASTSource(
                kernel,
                signature,
                {(kernel.arg_names.index(name),): value for name, value in constants.items()},
            )
            try:
                made = triton.compile(source, target=GPUTarget("cuda", 80, 32), options={"num_warps": warps})
            except Exception as error:
                print(f"{kernel.__name__} {warps} {type_}: {str(error).splitlines()[0]}")
                continue
            name = f"{kernel.__name__}_{number}_{type_}_{warps}"
            (folder / f"{name}.ptx").write_text(made.asm["ptx"], encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
