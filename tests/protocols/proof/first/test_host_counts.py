"""Loops over a number in global memory: that one number is up to the host, several are not."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import VerdictKind
from tests.protocols.verifying import deadlock

LOOP = """
ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r9, %ctaid.x; mov.u32 %r2, 0;
mul.wide.u32 %rd2, %r9, 4; add.s64 %rd3, %rd1, %rd2;
{count}
NEXT:
setp.ge.s32 %p1, %r2, %r4; @%p1 bra END;
barrier.sync 1, {threads}; add.s32 %r2, %r2, 1; bra NEXT;
END:
"""
LENGTH = "ld.global.u32 %r5, [%rd3]; ld.global.u32 %r6, [%rd3+4]; sub.s32 %r4, %r6, %r5;"
"""Things begin at numbers that stand side by side."""
ALONE = "ld.global.u32 %r4, [%rd3];"
TILES = "ld.global.u32 %r5, [%rd3]; add.s32 %r5, %r5, 127; shr.s32 %r4, %r5, 7;"


@pytest.mark.parametrize("count", [LENGTH, ALONE, TILES])
def test_what_goes_wrong_for_any_count_does(count: str) -> None:
    assert deadlock(LOOP.format(count=count, threads=96)) is VerdictKind.VIOLATED


@pytest.mark.parametrize("count", [LENGTH, ALONE, TILES])
def test_a_loop_that_is_right_holds(count: str) -> None:
    assert deadlock(LOOP.format(count=count, threads=64)) in (
        VerdictKind.ASSUMES,
        VerdictKind.PROVED_BOUNDED,
    )


@pytest.mark.parametrize(
    "more",
    [
        # The kernel writes what it reads, or may.
        "st.global.u32 [%rd1], %r9;",
        # Another number decides, which may be related.
        "setp.lt.s32 %p2, %r1, 5; @%p2 bra END;",
        "ld.global.u32 %r7, [%rd3+64]; setp.lt.s32 %p2, %r7, 5; @%p2 bra END;",
    ],
)
def test_what_only_the_host_can_relate_stays_open(more: str) -> None:
    assert deadlock(LOOP.format(count=f"{ALONE} {more}", threads=96)) is VerdictKind.UNKNOWN


ROLES = """
ld.param.u64 %rd1, [p]; mov.u32 %r2, 0; mov.u32 %r9, %tid.x;
ld.global.u32 %r4, [%rd1]; ld.global.u32 %r5, [%rd1+4];
setp.ge.u32 %p5, %r9, 32; selp.b32 %r4, %r5, %r4, %p5;
NEXT:
setp.ge.s32 %p1, %r2, %r4; @%p1 bra END;
barrier.sync 1, 64; add.s32 %r2, %r2, 1; bra NEXT;
END:
"""
"""Two warps meet as often as numbers side by side say for each of them."""


def test_numbers_side_by_side_are_no_length_unless_one_is_taken_from_the_other() -> None:
    assert deadlock(ROLES) is VerdictKind.UNKNOWN


EMPTY = """
ld.param.u64 %rd1, [p]; ld.global.u32 %r4, [%rd1];
setp.gt.s32 %p1, %r4, 0; @%p1 bra WORK;
barrier.sync 1, 96; bra END;
WORK:
barrier.sync 1, 64;
END:
"""


def test_no_work_is_no_count() -> None:
    assert deadlock(EMPTY) is not VerdictKind.VIOLATED
