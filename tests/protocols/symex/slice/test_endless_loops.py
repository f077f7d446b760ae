"""Loops without synchronisation that may not end."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import VerdictKind
from tests.protocols.verifying import deadlock

TEXT = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; ld.param.u32 %r2, [n]; ld.param.u64 %rd1, [p]; setp.ne.u32 %p1, %r9, 0;
setp.eq.u32 %p2, %r2, 3; mov.u32 %r3, 0; @%p1 bra E; {loop}
E: barrier.sync 1, 64;
"""
PROVED, ASSUMES, UNKNOWN = VerdictKind.PROVED, VerdictKind.ASSUMES, VerdictKind.UNKNOWN


@pytest.mark.parametrize(
    ("loop", "verdict"),
    [
        ("L: bra L;", UNKNOWN),
        ("L: @%p2 bra L;", UNKNOWN),
        ("L: @%p2 bra E; add.u32 %r3, %r3, 1; bra L;", UNKNOWN),
        ("L: add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, %r2; @%p3 bra L;", PROVED),
        ("L: @%p2 bra E; add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, %r2; @%p3 bra L;", PROVED),
        ("L: ld.volatile.shared.u32 %r4, [%r1]; setp.eq.u32 %p3, %r4, 0; @%p3 bra L;", ASSUMES),
        ("L: atom.shared.cas.b32 %r4, [%r1], 0, 1; setp.ne.u32 %p3, %r4, 0; @%p3 bra L;", ASSUMES),
        (
            "ld.volatile.shared.u32 %r2, [%r1]; L: add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, %r2; @%p3 bra L;",
            PROVED,
        ),
    ],
)
def test_loops_that_end(loop: str, verdict: VerdictKind) -> None:
    assert deadlock(TEXT.format(loop=loop)) is verdict


@pytest.mark.parametrize(
    "end",
    [
        "bar.sync 0; L: bra L;",
        "bar.sync 0; L: add.u32 %r3, %r3, 1; bra.uni M; M: bra.uni L;",
        "ld.param.u32 %r2, [n]; setp.eq.u32 %p2, %r2, 0; @%p2 bra L; bar.sync 0; ret; L: bra L;",
    ],
)
def test_kernels_that_stay_in_a_loop_are_given_up(end: str) -> None:
    assert deadlock("mov.u32 %r3, 0; mov.u32 %r1, smem; mbarrier.init.shared.b64 [%r1], 1; " + end) is UNKNOWN


@pytest.mark.parametrize(("first", "verdict"), [(0, VerdictKind.PROVED), (1, VerdictKind.UNKNOWN)])
def test_jumps_behind_the_end_of_a_table(first: int, verdict: VerdictKind) -> None:
    text = f"""
    mov.u32 %r9, %tid.x; shr.u32 %r1, %r9, 5; add.u32 %r1, %r1, {first};
    T: .branchtargets A, B; brx.idx %r1, T; A: barrier.sync 1, 32; bra E; B: barrier.sync 2, 32; E:
    """
    assert deadlock(text) is verdict
