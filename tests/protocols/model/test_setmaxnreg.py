"""Registers that a warpgroup changes in part."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import VerdictKind
from tests.protocols.verifying import deadlock

DECREASE = "setmaxnreg.dec.sync.aligned.u32 40;"


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
    body = f"mov.u32 %r9, %tid.x; {skipped} @%p1 bra E; {DECREASE} E: bar.sync 0;"
    assert deadlock(body, 256) is verdict
