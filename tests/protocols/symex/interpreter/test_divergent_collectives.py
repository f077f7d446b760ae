"""Lanes that wait at a warp-collective for others that its mask names."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

TWO_HALVES_OF_A_WARP = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; and.b32 %r3, %r9, 31; setp.eq.u32 %p9, %r9, 0;
@%p9 mbarrier.init.shared.b64 [%r1], 1; bar.sync 0;
setp.ge.u32 %p1, %r9, 32; @%p1 bra E;
setp.ge.u32 %p2, %r3, 16; @%p2 bra UPPER;
{lower}
@%p9 mbarrier.arrive.shared.b64 _, [%r1]; bra E;
UPPER:
{upper}
E:
"""
WAIT = "W: mbarrier.try_wait.parity.shared.b64 %p5, [%r1], 0; @!%p5 bra W;"
ALL_LANES, LOWER_LANES = "0xffffffff", "0x0000ffff"
COLLECTIVES = [
    "bar.warp.sync {};",
    "shfl.sync.idx.b32 %r5, %r3, 0, 31, {};",
    "vote.sync.any.pred %p6, %p9, {};",
    "match.any.sync.b32 %r5, %r3, {};",
    "redux.sync.add.u32 %r5, %r3, {};",
    "elect.sync _|%p6, {};",
]


def deadlock(lower: str, upper: str) -> VerdictKind:
    text = kernel(TWO_HALVES_OF_A_WARP.format(lower=lower, upper=upper), threads=64)
    return kind(verified(text), Property.DEADLOCK_FREEDOM)


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_others_wait_for_the_lanes_that_wait_for_them(collective: str) -> None:
    meet = collective.format(ALL_LANES)
    assert deadlock(meet, WAIT + meet) is VerdictKind.VIOLATED


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("upper", ["{}" + WAIT, WAIT.replace("[%r1]", "[%r1+8]").replace("0;", "1;") + "{}"])
def test_others_come_elsewhere(collective: str, upper: str) -> None:
    meet = collective.format(ALL_LANES)
    text = TWO_HALVES_OF_A_WARP.format(lower=meet, upper=upper.format(meet)).replace(
        "bar.sync 0;", SECOND_MBARRIER, 1
    )
    result = verified(kernel(text, threads=64))
    assert kind(result, Property.DEADLOCK_FREEDOM) in (VerdictKind.PROVED, VerdictKind.ASSUMES)


SECOND_MBARRIER = "@%p9 mbarrier.init.shared.b64 [%r1+8], 1; bar.sync 0;"


@pytest.mark.parametrize("collective", COLLECTIVES[:-1])
def test_others_have_ended(collective: str) -> None:
    """PTX exempts lanes that have ended from all but `bar.warp.sync`."""
    wanted = VerdictKind.ASSUMES if collective.startswith("bar") else VerdictKind.PROVED
    assert deadlock(collective.format(ALL_LANES), "") is wanted


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("mask", ["0x7fffffff", "0xfffffffe", "0x0000ffff"])
def test_a_lane_that_its_mask_leaves_out(collective: str, mask: str) -> None:
    body = collective.format(mask)
    known = kind(verified(kernel(body + "barrier.sync 1, 64;", threads=64)), Property.PHASE_SAFETY)
    computed = f"mov.u32 %r7, {mask}; setp.gt.u32 %p7, %r9, 99; @%p7 mov.u32 %r7, -1;"
    body = "mov.u32 %r9, %tid.x;" + computed + collective.format("%r7") + "barrier.sync 1, 64;"
    followed = kind(verified(kernel(body, threads=64)), Property.PHASE_SAFETY)
    assert known is followed is VerdictKind.VIOLATED


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize(("swapped", "verdict"), [(False, VerdictKind.PROVED), (True, VerdictKind.VIOLATED)])
def test_lanes_of_one_instruction_with_masks_of_their_own(
    collective: str, swapped: bool, verdict: VerdictKind
) -> None:
    masks = "0x0000ffff, 0xffff0000" if swapped else "0xffff0000, 0x0000ffff"
    own = f"mov.u32 %r9, %tid.x; and.b32 %r3, %r9, 31; setp.ge.u32 %p2, %r3, 16; selp.b32 %r7, {masks}, %p2;"
    text = kernel(own + collective.format("%r7") + "barrier.sync 1, 64;", threads=64)
    assert kind(verified(text), Property.PHASE_SAFETY) is verdict


@pytest.mark.parametrize("collective", COLLECTIVES[:-1])
def test_others_are_not_named(collective: str) -> None:
    assert deadlock(collective.format(LOWER_LANES), WAIT) is VerdictKind.PROVED


def test_another_kind_is_not_waited_for() -> None:
    assert (
        deadlock(COLLECTIVES[1].format(ALL_LANES), COLLECTIVES[2].format(ALL_LANES) + WAIT)
        is VerdictKind.VIOLATED
    )


def test_mask_that_the_host_passes() -> None:
    collective = "ld.param.u32 %r7, [n]; shfl.sync.idx.b32 %r5, %r3, 0, 31, %r7;"
    assert deadlock(collective, WAIT + collective) is VerdictKind.ASSUMES


LANES_THAT_COME_LATER = """
mov.u32 %r9, %tid.x; mov.u32 %r7, 5;
setp.lt.u32 %p2, %r9, 16; @%p2 bra ALL;
mov.u32 %r7, 6; setp.eq.u32 %p3, %r9, 99; @%p3 bra E;
ALL: {collective}
setp.eq.u32 %p4, %r5, 5; @%p4 bra E;
barrier.sync 3, 32;
E:
"""


@pytest.mark.parametrize(
    "collective",
    ["shfl.sync.idx.b32 %r5, %r7, 31, 31, -1;", "vote.sync.any.pred %p6, %p3, -1; selp.u32 %r5, 5, 6, %p6;"],
)
def test_numbers_of_lanes_that_come_later(collective: str) -> None:
    """The machine runs the lanes in two groups, and hardware brings them together: nothing goes wrong."""
    result = verified(kernel(LANES_THAT_COME_LATER.format(collective=collective), threads=32))
    assert kind(result, Property.DEADLOCK_FREEDOM) is not VerdictKind.VIOLATED


LANES_THAT_PART = """
mov.u32 %r9, %tid.x; and.b32 %r3, %r9, 31; shr.u32 %r4, %r9, 5; ld.param.u32 %r1, [n]; ld.param.u64 %rd1, [p];
{text}
E: barrier.sync 1, 64;
"""
SHUFFLE = "shfl.sync.idx.b32 %r5, %r3, 0, 31, 0xffffffff;"
LOOP = "mov.u32 %r6, 0; L: {} add.u32 %r6, %r6, 1; setp.le.u32 %p2, %r6, {}; @%p2 bra L;"
STRIDED = "mov.u32 %r6, {}; L: setp.ge.u32 %p2, %r6, %r1; @%p2 bra E; {} add.u32 %r6, %r6, 32; bra L;"
NUMBER_IN_MEMORY = (
    "mul.wide.u32 %rd2, {}, 4; add.u64 %rd2, %rd2, %rd1; ld.global.u32 %r6, [%rd2]; setp.eq.u32 %p2, %r6, 0;"
)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        # Lanes leave the loop one by one, or warps do.
        (LOOP.format(SHUFFLE, "%r3"), VerdictKind.VIOLATED),
        (LOOP.format(SHUFFLE, "%r4"), VerdictKind.PROVED),
        (STRIDED.format("%r3", SHUFFLE), VerdictKind.ASSUMES),
        (STRIDED.format("%r4", SHUFFLE), VerdictKind.PROVED),
        (f"{NUMBER_IN_MEMORY.format('%r3')} @%p2 bra E; {SHUFFLE}", VerdictKind.ASSUMES),
        (f"setp.lt.u32 %p2, %r3, 16; @%p2 {SHUFFLE}", VerdictKind.VIOLATED),
        (f"setp.lt.u32 %p2, %r4, 1; @%p2 {SHUFFLE}", VerdictKind.PROVED),
        (
            f"setp.lt.u32 %p2, %r3, 16; @%p2 bra E; setp.eq.u32 %p3, %r1, 3; @%p3 bra E; {SHUFFLE}",
            VerdictKind.ASSUMES,
        ),
        (
            f"setp.lt.u32 %p2, %r4, 1; @%p2 bra E; setp.eq.u32 %p3, %r1, 3; @%p3 bra E; {SHUFFLE}",
            VerdictKind.PROVED,
        ),
    ],
)
def test_lanes_part_where_nothing_else_is_synchronised(text: str, verdict: VerdictKind) -> None:
    assert (
        kind(verified(kernel(LANES_THAT_PART.format(text=text), threads=64)), Property.DEADLOCK_FREEDOM)
        is verdict
    )
