"""Threads that end before others come to a barrier of all, and registers that a warpgroup changes in part."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import VerdictKind

from .verifying import deadlock


@pytest.mark.parametrize(
    ("barrier", "verdict"), [("bar.sync 0;", VerdictKind.PROVED), ("bar.sync 0, 64;", VerdictKind.VIOLATED)]
)
@pytest.mark.parametrize("relation", ["lt", "ge"])
def test_threads_that_have_ended_count_as_all_do(barrier: str, verdict: VerdictKind, relation: str) -> None:
    """Nothing else happens when they end that would let the others look again."""
    body = f"mov.u32 %r9, %tid.x; setp.{relation}.u32 %p1, %r9, 32; @%p1 bra E; {barrier} E:"
    assert deadlock(body, 64) is verdict


CHANGE = "setmaxnreg.dec.sync.aligned.u32 40;"


@pytest.mark.parametrize(
    ("skipped", "verdict"),
    [
        ("setp.gt.u32 %p1, %r9, 1023;", VerdictKind.PROVED),
        ("setp.gt.u32 %p1, %r9, 127;", VerdictKind.PROVED),
        ("setp.gt.u32 %p1, %r9, 63;", VerdictKind.ASSUMES),
        ("setp.eq.u32 %p1, %r9, 0;", VerdictKind.UNKNOWN),
    ],
)
def test_registers_are_those_of_whole_warpgroups(skipped: str, verdict: VerdictKind) -> None:
    body = f"mov.u32 %r9, %tid.x; {skipped} @%p1 bra E; {CHANGE} E: bar.sync 0;"
    assert deadlock(body, 256) is verdict
