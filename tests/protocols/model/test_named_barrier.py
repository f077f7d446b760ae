"""Named barriers: which ones there are, and what threads get from a reduction."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import deadlock, kind, verified

BARRIER_REDUCTION = """
mov.u32 %r9, %tid.x; shr.u32 %r2, %r9, 5; add.u32 %r2, %r2, 2; setp.lt.u32 %p1, %r9, 32;
bar.red.and.pred %p2, {barrier}, {threads}, %p1;
@%p2 bra ALL;
bar.sync 0, 64; bra E;
ALL: bar.sync 1, 64;
E:
"""


def test_two_groups_at_barriers_of_their_own_may_get_different_results() -> None:
    assert deadlock(BARRIER_REDUCTION.format(barrier="%r2", threads=32)) is not VerdictKind.PROVED


def test_threads_that_meet_get_one_result() -> None:
    assert deadlock(BARRIER_REDUCTION.format(barrier="2", threads=64)) is VerdictKind.PROVED


@pytest.mark.parametrize(
    ("number", "threads", "verdict"),
    [(15, 64, VerdictKind.PROVED), (16, 64, VerdictKind.UNKNOWN), (1, 48, VerdictKind.UNKNOWN)],
)
def test_barriers_that_there_are(number: int, threads: int, verdict: VerdictKind) -> None:
    body = f"""
    mov.u32 %r9, %tid.x; mov.u32 %r1, {number}; mov.u32 %r2, {threads}; setp.ge.u32 %p1, %r9, %r2; @%p1 bra E;
    barrier.sync %r1, %r2;
    E:
    """
    assert kind(verified(kernel(body, threads=64)), Property.DEADLOCK_FREEDOM) is verdict
