"""Wavefronts of shared memory, by hand-counted patterns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxcheck.protocols.typestate.bank_conflicts import wavefronts

from .kernels import agrees, kernel

LANES = np.arange(32, dtype=np.int64)


@pytest.mark.parametrize(
    ("offsets", "size", "at_once", "count"),
    [
        (LANES * 4, 4, 32, 1),
        (LANES * 8, 4, 32, 2),
        (LANES * 128, 4, 32, 32),
        (LANES * 0, 4, 32, 1),
        (LANES * 132, 4, 32, 1),
        (LANES * 8, 8, 16, 2),
        (LANES * 16, 16, 8, 4),
        (LANES * 128, 16, 8, 32),
        (LANES * 144, 16, 8, 4),
        ((LANES * 128) ^ ((LANES & 7) * 16), 16, 8, 4),
        (LANES // 2, 1, 32, 1),
    ],
)
def test_known_patterns(
    offsets: np.ndarray[tuple[int], np.dtype[np.int64]], size: int, at_once: int, count: int
) -> None:
    assert wavefronts(offsets, size, at_once) == count


@given(st.lists(st.integers(0, 1 << 14), min_size=32, max_size=32), st.integers(0, 1 << 10))
def test_a_common_shift_changes_nothing(numbers: list[int], shift: int) -> None:
    offsets = np.array(numbers, dtype=np.int64) * 4
    assert wavefronts(offsets, 4, 32) == wavefronts(offsets + shift * 4, 4, 32)


START = "mov.u32 %r1, %tid.x;\nmov.u32 %r2, data;\nand.b32 %r3, %r1, 31;\n"
LOAD = "ld.shared.b32 %r6, [%r5];"
MATRIX = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r6, %r7, %r8, %r9}, [%r5];"
CASES = {
    "a word a lane": START + "shl.b32 %r4, %r3, 2;\nadd.u32 %r5, %r2, %r4;\n" + LOAD,
    "every other word": START + "shl.b32 %r4, %r3, 3;\nadd.u32 %r5, %r2, %r4;\n" + LOAD + " // expect: SM007",
    "one word for all": START + "mov.u32 %r5, %r2;\n" + LOAD,
    "a common index from memory": START
    + "ld.shared.b32 %r7, [data];\nshfl.sync.idx.b32 %r8, %r7, 0, 31, -1;\n"
    "shl.b32 %r4, %r3, 2;\nadd.u32 %r5, %r2, %r4;\n"
    "add.u32 %r5, %r5, %r8;\n" + LOAD,
    "a stride from memory": START + "ld.shared.b32 %r7, [data];\nmad.lo.u32 %r5, %r3, %r7, %r2;\n" + LOAD,
    "a fill of a thread's own": START
    + "shl.b32 %r4, %r3, 8;\nadd.u32 %r5, %r2, %r4;\nst.bulk.weak.shared::cta [%r5], 256, 0;",
    "one thread": START + "setp.eq.u32 %p1, %r1, 0;\nshl.b32 %r4, %r3, 3;\nadd.u32 %r5, %r2, %r4;\n@%p1 " + LOAD,
    "rows of a matrix in one bank": START + "shl.b32 %r4, %r3, 5;\nadd.u32 %r5, %r2, %r4;\n" + MATRIX
    + " // expect: SM007",
    "rows of a matrix side by side": START + "shl.b32 %r4, %r3, 4;\nadd.u32 %r5, %r2, %r4;\n" + MATRIX,
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    assert agrees("SM007", kernel(CASES[name]))


def test_unknown_block_is_silent() -> None:
    assert agrees("SM007", kernel(CASES["every other word"].replace(" // expect: SM007", ""), ".maxntid 128"))
