"""Lines of a `wmma` matrix in shared memory, and bytes that `st.bulk` clears."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

STORED = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; mov.u32 %r5, 32; ld.param.u32 %r6, [n]; mov.u64 %rd1, 256;
setp.lt.u32 %p9, %r9, 32; @%p9 bra MATRIX;
setp.ne.u32 %p8, %r9, 32; @%p8 bra E;
st.shared.u32 [%r1+{at}], %r9; bra E;
MATRIX: {instruction}
E:
"""
REGISTERS = "{{%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}}"
LOAD = "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 " + REGISTERS + ", [%r1]{};"
BY_COLUMNS = "wmma.load.b.sync.aligned.col.m32n8k16.shared.f16 " + REGISTERS + ", [%r1]{};"
STORE = "wmma.store.d.sync.aligned.row.m8n32k16.shared.f16 [%r1]{}, {{%r10, %r11, %r12, %r13}};"
CLEAR = "setp.ne.u32 %p7, %r9, 0; @%p7 bra E; st.bulk.weak.shared::cta [%r1], %rd1, 0;"


def slots(instruction: str, at: int) -> VerdictKind:
    text = kernel(STORED.format(instruction=instruction, at=at)).replace("sm_90a", "sm_100a")
    return kind(verified(text), Property.SLOT_SAFETY)


@pytest.mark.parametrize(
    ("instruction", "at"),
    [
        (LOAD.format(""), 508),
        (LOAD.format(", 32"), 15 * 64 + 28),
        (LOAD.format(", %r5"), 15 * 64),
        (BY_COLUMNS.format(""), 7 * 32 + 28),
        (STORE.format(""), 508),
        (CLEAR, 252),
    ],
)
def test_bytes_that_are_moved(instruction: str, at: int) -> None:
    assert slots(instruction, at) is VerdictKind.VIOLATED


@pytest.mark.parametrize(
    ("instruction", "at"),
    [
        (LOAD.format(""), 512),
        (LOAD.format(", 32"), 15 * 64 + 32),
        (LOAD.format(", %r5"), 32),
        (BY_COLUMNS.format(""), 8 * 32),
        (STORE.format(""), 512),
        (CLEAR, 256),
    ],
)
def test_bytes_between_and_behind(instruction: str, at: int) -> None:
    assert slots(instruction, at) is VerdictKind.PROVED


def test_lines_at_a_distance_that_the_host_passes() -> None:
    assert slots(LOAD.format(", %r6"), 4096) is VerdictKind.UNKNOWN


TRANSPOSED = "shl.b32 %r7, %r9, 4; add.u32 %r7, %r1, %r7; "


@pytest.mark.parametrize(
    ("count", "registers", "lanes"), [("x1", "{{%r10}}", 8), ("x2", "{{%r10, %r11}}", 16)]
)
def test_columns_that_stmatrix_stores(count: str, registers: str, lanes: int) -> None:
    instruction = (
        TRANSPOSED + f"stmatrix.sync.aligned.m16n8.{count}.trans.shared.b8 [%r7], {registers};"
    ).format()
    assert slots(instruction, 16 * lanes - 4) is VerdictKind.VIOLATED
    assert slots(instruction, 16 * lanes) is VerdictKind.PROVED


@pytest.mark.parametrize("size", [4096, 1 << 20, (1 << 32) - 8, (1 << 63) - 8, (1 << 64) - 8])
def test_more_bytes_than_there_are_are_cleared_in_no_more_work(size: int) -> None:
    fill = f"mov.u64 %rd1, {size}; " + CLEAR
    assert slots(fill, 1024) is VerdictKind.VIOLATED
    assert slots(fill.replace(", %rd1", f", {size}"), 1024) is VerdictKind.VIOLATED


def test_a_fill_of_no_bytes_touches_none() -> None:
    assert slots("mov.u64 %rd1, 0; " + CLEAR, 0) is VerdictKind.PROVED
    assert slots("mov.u64 %rd1, 8; " + CLEAR, 0) is VerdictKind.VIOLATED
