"""Numbers in shared memory that are others than the machine takes them for, as the run itself shows."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import VerdictKind

from .verifying import deadlock

HANDED = """
mov.u32 %r9, %tid.x; mov.u32 %r1, table; setp.eq.u32 %p9, %r9, 0; mov.u32 %r5, 1; mov.u32 %r8, 7;
ld.param.u64 %rd1, [p];
@!%p9 bra S; st.shared.u32 [table], %r5; S: bar.sync 0;
{written}
bar.sync 0; ld.shared.u32 %r6, [table]; setp.eq.u32 %p2, %r6, 1; @%p2 bra E;
setp.lt.u32 %p3, %r9, 32; @%p3 bra E; barrier.sync 3, 64;
E:
"""
OTHERS = [
    "@%p9 atom.shared.add.u32 %r7, [%r1+{}], 1;",
    "@%p9 red.shared.add.u32 [%r1+{}], 1;",
    "cvt.u64.u32 %rd2, %r1; cvta.shared.u64 %rd2, %rd2; @%p9 st.u32 [%rd2+{}], %r8;",
    "@%p9 cp.async.ca.shared.global [%r1+{}], [%rd1], 16; cp.async.wait_all;",
    "setp.gt.u32 %p8, %r9, 31; @%p8 bra M; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1+{}], {{%r9}}; M:",
]


@pytest.mark.parametrize("other", OTHERS)
def test_something_else_has_written_the_word(other: str) -> None:
    assert deadlock(HANDED.format(written=other.format(0))) is VerdictKind.UNKNOWN


@pytest.mark.parametrize("other", OTHERS)
def test_something_else_has_written_beside_the_word(other: str) -> None:
    assert deadlock(HANDED.format(written=other.format(16))) is VerdictKind.PROVED


TURNS = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p9, %r9, 0; mov.u32 %r5, 0;
@%p9 mbarrier.init.shared.b64 [%r1], 1; @%p9 mbarrier.init.shared.b64 [%r1+8], 32; bar.sync 0;
setp.gt.u32 %p1, %r9, 31; @%p1 bra READER; @!%p9 bra E; mov.u32 %r6, 1;
WRITE: add.u32 %r5, %r5, 1;
FREE: mbarrier.try_wait.parity.shared.b64 %p8, [%r1+8], %r6; @!%p8 bra FREE;
st.shared.u32 [table], %r5; mbarrier.arrive.shared.b64 _, [%r1];
xor.b32 %r6, %r6, 1; setp.lt.u32 %p3, %r5, 2; @%p3 bra WRITE; bra E;
READER: mov.u32 %r6, 0;
READ: add.u32 %r5, %r5, 1;
FULL: mbarrier.try_wait.parity.shared.b64 %p8, [%r1], %r6; @!%p8 bra FULL;
{skipped}
ld.shared.u32 %r7, [table]; setp.eq.u32 %p4, %r7, {wanted}; @%p4 bra NEXT; barrier.sync 3, 64;
NEXT: mbarrier.arrive.shared.b64 _, [%r1+8];
xor.b32 %r6, %r6, 1; setp.lt.u32 %p3, %r5, 2; @%p3 bra READ;
E:
"""


def test_reads_in_each_turn() -> None:
    assert deadlock(TURNS.format(skipped="", wanted="%r5")) is VerdictKind.PROVED


def test_reads_in_the_second_turn_alone() -> None:
    """The machine takes the first read for one of the first turn, in which 1 was written."""
    skipped = "setp.eq.u32 %p5, %r5, 1; @%p5 bra NEXT;"
    assert deadlock(TURNS.format(skipped=skipped, wanted=1)) is VerdictKind.UNKNOWN
