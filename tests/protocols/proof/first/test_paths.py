"""Paths and counts of rounds: what is proved, and slips that are found."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import ONE_MBARRIER, WAIT_FOR_PHASE, deadlock, kind, verified

ARRIVE_AND_WAIT = (
    "mbarrier.arrive.shared.b64 _, [%r1];"
    + WAIT_FOR_PHASE.format(name="", parity="%r5")
    + "xor.b32 %r5, %r5, 1;"
)
LOOP_OF_THE_HOST = """
ld.param.u32 %r2, [n]; mov.u32 %r3, 0; mov.u32 %r5, 0;
setp.lt.s32 %p1, %r2, 1; @%p1 bra E;
L: {body}
add.u32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, %r2; @%p1 bra L;
E:
"""


def test_straight_code_is_proved() -> None:
    body = ONE_MBARRIER + "mbarrier.arrive.shared.b64 _, [%r1];" + WAIT_FOR_PHASE.format(name="0", parity=0)
    assert deadlock(body, 128) is VerdictKind.PROVED


@pytest.mark.parametrize(
    ("other", "kind"),
    [("mbarrier.arrive.shared.b64 _, [%r1];", VerdictKind.PROVED), ("", VerdictKind.VIOLATED)],
)
def test_both_sides_of_a_branch_are_run(other: str, kind: VerdictKind) -> None:
    body = ONE_MBARRIER + f"""
        ld.param.u32 %r2, [n]; setp.eq.s32 %p1, %r2, 77; @%p1 bra A;
        mbarrier.arrive.shared.b64 _, [%r1]; bra B;
        A: {other}
        B:
    """ + WAIT_FOR_PHASE.format(name="0", parity=0)  # fmt: skip
    assert deadlock(body, 128) is kind


def test_loop_with_a_count_from_the_host_is_proved_when_rounds_repeat() -> None:
    assert deadlock(ONE_MBARRIER + LOOP_OF_THE_HOST.format(body=ARRIVE_AND_WAIT), 128) is VerdictKind.PROVED


def test_loop_with_a_constant_count_is_proved() -> None:
    body = LOOP_OF_THE_HOST.format(body=ARRIVE_AND_WAIT).replace("ld.param.u32 %r2, [n];", "mov.u32 %r2, 9;")
    assert deadlock(ONE_MBARRIER + body, 128) is VerdictKind.PROVED


@pytest.mark.parametrize("trip", [0, 2, 7, 40])
def test_a_slip_in_one_round_never_comes_out_proved(trip: int) -> None:
    """The round leaves the arrival of thread 0 out: found when the counts reach it, and never called proved."""
    slip = f"""
        setp.eq.s32 %p3, %r3, {trip}; and.pred %p4, %p3, %p9; @%p4 bra S; mbarrier.arrive.shared.b64 _, [%r1];
        S: {WAIT_FOR_PHASE.format(name="", parity="%r5")} xor.b32 %r5, %r5, 1;
    """
    kind = deadlock(ONE_MBARRIER + LOOP_OF_THE_HOST.format(body=slip), 128)
    assert kind is not VerdictKind.PROVED
    if trip <= 2:
        assert kind is VerdictKind.VIOLATED


def test_field_of_a_count_that_was_decided_is_a_number() -> None:
    """The parity of round n / 64 of a ring of two, as compilers extract it from the count of the host."""
    body = ONE_MBARRIER + """
        ld.param.u32 %r2, [n]; shr.s32 %r3, %r2, 6; setp.ne.s32 %p1, %r3, 5; @%p1 bra E;
        bfe.u32 %r4, %r3, 1, 1; mbarrier.arrive.shared.b64 _, [%r1];
    """ + WAIT_FOR_PHASE.format(name="0", parity="%r4") + "E:"  # fmt: skip
    assert deadlock(body, 128) in (VerdictKind.PROVED, VerdictKind.PROVED_BOUNDED)


def test_stage_that_follows_from_the_decisions_is_a_number() -> None:
    """Two tiles of n / 64 rounds each: the stage of the second is n / 64 modulo 2, known once n is decided."""
    body = ONE_MBARRIER + """
        @%p9 mbarrier.init.shared.b64 [%r1+8], 128; bar.sync 0;
        ld.param.u32 %r2, [n]; shr.s32 %r3, %r2, 6; setp.ne.s32 %p1, %r3, 3; @%p1 bra E;
        and.b32 %r4, %r3, 1; shl.b32 %r4, %r4, 3; add.u32 %r1, %r1, %r4; mbarrier.arrive.shared.b64 _, [%r1];
    """ + WAIT_FOR_PHASE.format(name="0", parity=0) + "E:"  # fmt: skip
    assert deadlock(body, 128) in (VerdictKind.PROVED, VerdictKind.PROVED_BOUNDED)


@pytest.mark.parametrize(
    ("other", "expected"), [(0, VerdictKind.PROVED), (1, VerdictKind.VIOLATED)], ids=["agree", "disagree"]
)
def test_a_choice_is_known_in_half_a_register_too(other: int, expected: VerdictKind) -> None:
    """Thread 0 arrives where n is above 77; the wait knows that from what was chosen, in 16 bits."""
    body = ONE_MBARRIER.replace("128;", "1;") + f"""
        .reg .b16 %h<4>; ld.param.u32 %r2, [n]; setp.gt.s32 %p1, %r2, 77; selp.b32 %r3, 1, {other}, %p1;
        and.pred %p2, %p1, %p9; @%p2 mbarrier.arrive.shared.b64 _, [%r1];
        cvt.u16.u32 %h1, %r3; setp.ne.s16 %p3, %h1, 1; @%p3 bra E;
    """ + WAIT_FOR_PHASE.format(name="0", parity=0) + "E:"  # fmt: skip
    assert deadlock(body, 128) is expected


STEPS_OF_ALL_TILES = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p9, %r9, 0;
@%p9 mbarrier.init.shared.b64 [%r1], 32; @%p9 mbarrier.init.shared.b64 [%r1+8], 32;
@%p9 mbarrier.init.shared.b64 [%r1+16], 32; @%p9 mbarrier.init.shared.b64 [%r1+24], 32; bar.sync 0;
ld.param.u32 %r2, [n]; ld.param.u32 %r3, [m]; ld.param.u32 %r4, [p]; mov.u32 %r5, %ctaid.x;
add.s32 %r3, %r3, 127; shr.s32 %r6, %r3, 31; shr.u32 %r6, %r6, 25; add.s32 %r3, %r3, %r6; shr.s32 %r3, %r3, 7;
add.s32 %r4, %r4, 127; shr.s32 %r6, %r4, 31; shr.u32 %r6, %r6, 25; add.s32 %r4, %r4, %r6; shr.s32 %r4, %r4, 7;
mul.lo.s32 %r3, %r3, %r4; mov.u32 %r4, %r5;
setp.lt.s32 %p1, %r2, 1; @%p1 bra E;
sub.s32 %r5, %r3, %r4; setp.lt.s32 %p1, %r5, 1; add.s32 %r5, %r5, 131; div.s32 %r5, %r5, 132; selp.b32 %r5, 0, %r5, %p1;
add.s32 %r6, %r2, 63; shr.u32 %r6, %r6, 6; mul.lo.s32 %r7, %r5, %r6;
mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, 0; mov.u32 %r13, 0; mov.u32 %r20, 0;
shl.b32 %r14, %r9, 2; and.b32 %r14, %r14, 127; add.u32 %r14, %r14, %r1;
setp.ge.u32 %p2, %r9, 32; setp.lt.s32 %p3, %r7, 1; @%p3 bra E;
L: add.u32 %r13, %r13, 1; setp.ne.s32 %p4, %r13, %r6; @%p4 bra N;
mov.u32 %r13, 0; shl.b32 %r15, %r11, 3; add.u32 %r15, %r15, %r1; shl.b32 %r16, %r11, 7; add.u32 %r16, %r16, %r14;
@%p2 bra R;
xor.b32 %r17, %r12, 1;
W: {wait}
st.shared.u32 [%r16+1024], %r9; mbarrier.arrive.shared.b64 _, [%r15]; bra M;
R: mbarrier.try_wait.parity.shared.b64 %p5, [%r15], %r12; @!%p5 bra R;
ld.shared.u32 %r18, [%r16+1024]; st.global.u32 [%rd1], %r18; mbarrier.arrive.shared.b64 _, [%r15+16];
M: add.u32 %r11, %r11, 1; setp.eq.u32 %p6, %r11, 2; selp.b32 %r11, 0, %r11, %p6; @%p6 xor.b32 %r12, %r12, 1;
N: add.s32 %r20, %r20, 1; setp.lt.s32 %p7, %r20, %r7; @%p7 bra L;
E:
"""


@pytest.mark.parametrize("waits", [True, False])
def test_a_loop_over_the_steps_of_all_tiles_goes_round_the_ring_of_its_tiles(waits: bool) -> None:
    """The ring is used in the last step of each tile alone, and CTAs have tiles only where products say so."""
    wait = "mbarrier.try_wait.parity.shared.b64 %p5, [%r15+16], %r17; @!%p5 bra W;" if waits else ""
    result = verified(kernel(STEPS_OF_ALL_TILES.format(wait=wait), 64))
    expected = (
        {VerdictKind.ASSUMES, VerdictKind.PROVED_BOUNDED}
        if waits
        else {VerdictKind.VIOLATED, VerdictKind.UNKNOWN}
    )
    assert kind(result, Property.SLOT_SAFETY) in expected


POLL_AND_ARRIVE = """
poll{name}:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r3], %r6;
    @!%p1 bra poll{name};
    {arrive}
    xor.b32 %r6, %r6, 1;
"""
ARRIVE_AT_FULL = "mbarrier.arrive.shared::cta.b64 _, [%r2];"


def unrolled_ring(slip: int) -> str:
    """Return a kernel whose producer is unrolled by four; the copy `slip` does not arrive (-1: all do)."""
    copies = "".join(
        POLL_AND_ARRIVE.format(name=i, arrive="" if i == slip else ARRIVE_AT_FULL) for i in range(4)
    )
    rest = POLL_AND_ARRIVE.format(name="rest", arrive=ARRIVE_AT_FULL)
    return f""".version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u32 n) .reqntid 64 {{
    .reg .b32 %r<16>;
    .reg .pred %p<8>;
    .shared .align 8 .b64 full;
    .shared .align 8 .b64 empty;
    ld.param.u32 %r1, [n];
    mov.u32 %r2, full;
    mov.u32 %r3, empty;
    mov.u32 %r4, %tid.x;
    setp.ne.u32 %p0, %r4, 0;
    @%p0 bra ready;
    mbarrier.init.shared::cta.b64 [%r2], 1;
    mbarrier.init.shared::cta.b64 [%r3], 1;
    fence.mbarrier_init.release.cluster;
ready:
    bar.sync 0;
    setp.lt.s32 %p2, %r1, 1;
    @%p2 bra done;
    setp.eq.u32 %p3, %r4, 32;
    @%p3 bra consume;
    setp.ne.u32 %p4, %r4, 0;
    @%p4 bra done;
    mov.u32 %r6, 1;
    and.b32 %r7, %r1, 3;
    sub.s32 %r8, %r1, %r7;
    setp.lt.u32 %p5, %r1, 4;
    @%p5 bra tail;
unrolled:
{copies}
    sub.s32 %r8, %r8, 4;
    setp.ne.s32 %p6, %r8, 0;
    @%p6 bra unrolled;
tail:
    setp.eq.s32 %p5, %r7, 0;
    @%p5 bra done;
{rest}
    sub.s32 %r7, %r7, 1;
    bra.uni tail;
consume:
    mov.u32 %r9, 0;
    mov.u32 %r10, 0;
next:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], %r10;
    @!%p1 bra next;
    mbarrier.arrive.shared::cta.b64 _, [%r3];
    xor.b32 %r10, %r10, 1;
    add.s32 %r9, %r9, 1;
    setp.lt.s32 %p7, %r9, %r1;
    @%p7 bra next;
done:
    ret;
}}
"""


def test_the_unrolled_ring_itself_holds() -> None:
    result = verified(unrolled_ring(-1))
    assert kind(result, Property.DEADLOCK_FREEDOM) in (VerdictKind.PROVED, VerdictKind.PROVED_BOUNDED)
    assert max(result.trips) >= 5


@pytest.mark.parametrize("slip", range(4))
def test_a_slip_in_any_copy_is_a_deadlock(slip: int) -> None:
    assert kind(verified(unrolled_ring(slip)), Property.DEADLOCK_FREEDOM) is VerdictKind.VIOLATED


def test_code_that_only_large_counts_lead_to_is_judged_by_its_first_rounds() -> None:
    text = (
        unrolled_ring(2)
        .replace("%p5, %r1, 4;", "%p5, %r1, 400;")
        .replace("and.b32 %r7, %r1, 3;", "mov.u32 %r7, %r1;")
    )
    result = verified(text)
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.VIOLATED
