"""Loops without synchronisation that may not end."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.symex.slice.endless_loops import ENDLESS
from ptxcheck.verdict import VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.races.test_judgement import judgement
from tests.protocols.verifying import deadlock, verified

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
        ("L: setp.eq.u32 %p3, %r2, 3; @%p3 bra L;", UNKNOWN),
        ("L: add.u32 %r4, %r2, 1; setp.eq.u32 %p3, %r4, %r9; @%p3 bra L;", UNKNOWN),
        ("L: add.u32 %r3, %r3, 2; setp.ne.u32 %p3, %r3, 7; @%p3 bra L;", UNKNOWN),
        ("L: add.u32 %r3, %r3, 1; setp.ne.u32 %p3, %r3, 7; @%p3 bra L;", PROVED),
        ("L: mov.u32 %r4, %clock; setp.eq.u32 %p3, %r4, %r2; @%p3 bra L;", PROVED),
        ("L: ld.volatile.global.u32 %r4, [%rd1]; setp.eq.u32 %p3, %r4, %r2; @%p3 bra L;", PROVED),
        ("L: @%p2 add.u32 %r4, %r2, 1; setp.eq.u32 %p3, %r4, %r2; @%p3 bra L;", PROVED),
        ("L: add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r2, 0; @%p3 bra L;", PROVED),
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


NEVER_SEVEN = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; mov.u32 %r3, 0; setp.lt.u32 %p1, %r9, 32; setp.ne.u32 %p2, %r9, 0;
@%p2 bra I; mbarrier.init.shared.b64 [%r1], 32; I: bar.sync 0; @%p1 bra E;
L: add.u32 %r3, %r3, {step}; setp.ne.u32 %p3, %r3, 7; @%p3 bra L;
E: mbarrier.arrive.shared.b64 _, [%r1]; W: mbarrier.try_wait.parity.shared.b64 %p4, [%r1], 0; @!%p4 bra W;
"""


def test_threads_that_stay_in_a_loop_do_nothing_behind_it() -> None:
    """Of 64 threads 32 come to the arrivals, and 32 are expected: the loop is the cause, and not the count."""
    found = verified(kernel(NEVER_SEVEN.format(step=2), threads=64))
    assert not found.failures
    assert {reason.text for reason in found.reasons} == {ENDLESS}
    assert verified(kernel(NEVER_SEVEN.format(step=1), threads=64)).failures


def test_ordinary_kernels_are_not_free_of_such_loops() -> None:
    body = (
        "mov.u32 %r3, 0; setp.lt.u32 %p1, %r0, 64; @%p1 bra G; "
        "L: add.u32 %r3, %r3, 1; setp.{}.u32 %p2, %r0, {}; @%p2 bra L; G: bar.sync 0;"
    )
    race, parting = judgement(body.format("ge", 64)).verdicts()
    assert (race.kind, parting.kind) == (PROVED, UNKNOWN)
    assert [reason.text for reason in parting.reasons] == [ENDLESS]
    assert judgement(body.format("eq", "%r3")).verdicts()[1].kind is PROVED
