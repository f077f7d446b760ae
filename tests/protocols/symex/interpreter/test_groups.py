"""Warps that go through one loop together, each for a number of rounds of its own."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import VerdictKind
from tests.protocols.verifying import deadlock

WARPS_IN_ONE_LOOP = """
ld.param.u32 %r4, [n]; ld.param.u32 %r5, [{other}]; mov.u32 %r2, 0; mov.u32 %r9, %tid.x;
setp.ge.u32 %p5, %r9, 32; selp.b32 %r4, %r5, %r4, %p5;
NEXT:
setp.ge.s32 %p1, %r2, %r4; @%p1 bra END;
barrier.sync 1, 64; add.s32 %r2, %r2, 1; bra NEXT;
END:
"""
WARPS_IN_ONE_LOOP_BY_TWO_WAYS = """
ld.param.u32 %r4, [n]; ld.param.u32 %r5, [{other}]; mov.u32 %r2, 0; mov.u32 %r9, %tid.x;
setp.lt.u32 %p5, %r9, 32; @%p5 bra NEXT;
mov.u32 %r4, %r5; bar.warp.sync -1;
NEXT:
setp.ge.s32 %p1, %r2, %r4; @%p1 bra END;
barrier.sync 1, 64; add.s32 %r2, %r2, 1; bra NEXT;
END:
"""


@pytest.mark.parametrize("body", [WARPS_IN_ONE_LOOP, WARPS_IN_ONE_LOOP_BY_TWO_WAYS])
def test_warps_meet_as_often_as_numbers_of_their_own_say(body: str) -> None:
    assert deadlock(body.format(other="m")) is VerdictKind.VIOLATED
    assert deadlock(body.format(other="n")) in (VerdictKind.PROVED, VerdictKind.PROVED_BOUNDED)
