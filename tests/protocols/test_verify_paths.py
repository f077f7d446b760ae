"""Verdicts and the paths that they rest on: proved, bounded by counts, in doubt."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.verdict import Property, VerdictKind

from .machine.running import kernel
from .verifying import kind, verified

INIT = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p9, %r9, 0;
@%p9 mbarrier.init.shared.b64 [%r1], 128; bar.sync 0;
"""
WAIT = """
W{name}: mbarrier.try_wait.parity.shared.b64 %p8, [%r1], {parity}; @!%p8 bra W{name};
"""
ROUND = "mbarrier.arrive.shared.b64 _, [%r1];" + WAIT.format(name="", parity="%r5") + "xor.b32 %r5, %r5, 1;"
LOOP = """
ld.param.u32 %r2, [n]; mov.u32 %r3, 0; mov.u32 %r5, 0;
setp.lt.s32 %p1, %r2, 1; @%p1 bra E;
L: {body}
add.u32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, %r2; @%p1 bra L;
E:
"""


def _verify(body: str) -> Verification:
    return verified(kernel(body))


def _deadlock(body: str) -> VerdictKind:
    return kind(_verify(body), Property.DEADLOCK_FREEDOM)


def test_straight_code_is_proved() -> None:
    body = INIT + "mbarrier.arrive.shared.b64 _, [%r1];" + WAIT.format(name="0", parity=0)
    assert _deadlock(body) is VerdictKind.PROVED


@pytest.mark.parametrize(
    ("other", "kind"),
    [("mbarrier.arrive.shared.b64 _, [%r1];", VerdictKind.PROVED), ("", VerdictKind.VIOLATED)],
)
def test_both_sides_of_a_branch_are_run(other: str, kind: VerdictKind) -> None:
    body = INIT + f"""
        ld.param.u32 %r2, [n]; setp.eq.s32 %p1, %r2, 77; @%p1 bra A;
        mbarrier.arrive.shared.b64 _, [%r1]; bra B;
        A: {other}
        B:
    """ + WAIT.format(name="0", parity=0)  # fmt: skip
    assert _deadlock(body) is kind


def test_loop_with_a_count_from_the_host_is_proved_when_rounds_repeat() -> None:
    assert _deadlock(INIT + LOOP.format(body=ROUND)) is VerdictKind.PROVED


def test_loop_with_a_constant_count_is_proved() -> None:
    body = LOOP.format(body=ROUND).replace("ld.param.u32 %r2, [n];", "mov.u32 %r2, 9;")
    assert _deadlock(INIT + body) is VerdictKind.PROVED


@pytest.mark.parametrize("trip", [0, 2, 7, 40])
def test_a_slip_in_one_round_never_comes_out_proved(trip: int) -> None:
    """The round leaves the arrival of thread 0 out: found when the counts reach it, and never called proved."""
    slip = f"""
        setp.eq.s32 %p3, %r3, {trip}; and.pred %p4, %p3, %p9; @%p4 bra S; mbarrier.arrive.shared.b64 _, [%r1];
        S: {WAIT.format(name="", parity="%r5")} xor.b32 %r5, %r5, 1;
    """
    kind = _deadlock(INIT + LOOP.format(body=slip))
    assert kind is not VerdictKind.PROVED
    if trip <= 2:
        assert kind is VerdictKind.VIOLATED


def test_failure_on_a_path_that_may_be_impossible_is_no_violation() -> None:
    """n * n < 0 with n > 0: the solver does not multiply, so the missing arrival may never happen."""
    body = INIT + """
        ld.param.u32 %r2, [n]; mul.lo.s32 %r3, %r2, %r2; setp.gt.s32 %p1, %r2, 5; @!%p1 bra B;
        setp.lt.s32 %p2, %r3, 7; @%p2 bra C;
        B: mbarrier.arrive.shared.b64 _, [%r1];
        C:
    """ + WAIT.format(name="0", parity=0)  # fmt: skip
    result = _verify(body)
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.UNKNOWN
    (verdict, *_) = result.verdicts()
    assert "may be impossible" in verdict.reasons[0].text


def test_same_failure_on_a_path_that_the_solver_follows_is_one() -> None:
    body = INIT + """
        ld.param.u32 %r2, [n]; ld.param.u32 %r4, [m]; mul.lo.s32 %r3, %r4, %r4; setp.gt.s32 %p1, %r2, 5; @!%p1 bra B;
        setp.lt.s32 %p2, %r3, 7; @%p2 bra C;
        B: mbarrier.arrive.shared.b64 _, [%r1];
        C:
    """ + WAIT.format(name="0", parity=0)  # fmt: skip
    assert _deadlock(body) is VerdictKind.VIOLATED


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        ("mul.lo.s32 %r5, %r3, %r4; setp.lt.s32 %p2, %r5, 133;", VerdictKind.VIOLATED),
        ("mul.lo.s32 %r5, %r3, %r3; setp.ne.s32 %p2, %r5, 135;", VerdictKind.UNKNOWN),
    ],
    ids=["a product of two sizes", "no square"],
)
def test_one_choice_of_numbers_is_sought_where_a_run_hangs(first: str, expected: VerdictKind) -> None:
    """The solver's own numbers for n and m are 1, and the tiles of n by m have to be more than 132."""
    body = INIT + f"""
        ld.param.u32 %r3, [n]; ld.param.u32 %r4, [m]; setp.lt.s32 %p1, %r3, 1; @%p1 bra B;
        {first} @!%p2 bra C;
        B: mbarrier.arrive.shared.b64 _, [%r1];
        C:
    """ + WAIT.format(name="0", parity=0)  # fmt: skip
    assert _deadlock(body) is expected


def test_behind_a_run_that_may_be_impossible_others_are_made() -> None:
    """Where n * n is 3 nobody arrives, and there is no such n; where m is 3 nobody does either."""
    body = INIT + """
        ld.param.u32 %r2, [n]; ld.param.u32 %r4, [m]; setp.lt.s32 %p1, %r2, 1; @%p1 bra A;
        mul.lo.s32 %r3, %r2, %r2; setp.ne.s32 %p2, %r3, 3; @!%p2 bra C;
        A: setp.eq.s32 %p3, %r4, 3; @%p3 bra C;
        mbarrier.arrive.shared.b64 _, [%r1];
        C:
    """ + WAIT.format(name="0", parity=0)  # fmt: skip
    assert _deadlock(body) is VerdictKind.VIOLATED
    assert (
        _deadlock(body.replace("setp.eq.s32 %p3, %r4, 3;", "setp.ne.s32 %p3, %r4, %r4;"))
        is VerdictKind.UNKNOWN
    )


CHOSEN = """
    ld.param.u64 %rd1, [p]; setp.ne.u64 %p3, %rd1, 0;
    selp.b32 %r5, %r3, {other}, %p3; mov.b32 %f1, %r5; setp.eq.f32 %p2, %f1, 0f00000000;
"""
"""A scale that is passed in one of two ways."""


SCALES = """
    ld.param.u64 %rd1, [p]; ld.param.u32 %r4, [m]; ld.param.f32 %f3, [n];
    setp.eq.u32 %p3, %r4, 0; mov.f32 %f2, 0f00000000;
    ld.global.f32 %f1, [%rd1]; setp.{first}.f32 %p2, %f1, %f2; @!%p2 bra C;
    selp.f32 %f1, %f3, %f1, %p3; setp.{then}.f32 %p2, %f1, %f2; @!%p2 bra C;
    ld.global.f32 %f1, [%rd1+4]; setp.{last}.f32 %p2, %f1, %f2; @!%p2 bra C;
"""
"""One scale alone, that or a parameter, and another scale."""


@pytest.mark.parametrize(
    ("first", "then", "last", "expected"),
    [
        ("eq", "eq", "eq", VerdictKind.VIOLATED),
        ("neu", "neu", "neu", VerdictKind.VIOLATED),
        ("eq", "neu", "eq", VerdictKind.UNKNOWN),
        ("eq", "eq", "neu", VerdictKind.UNKNOWN),
    ],
    ids=["all are zero", "none is zero", "one is zero and may not be", "one is zero and another is not"],
)
def test_scales_are_zero_as_the_host_likes(first: str, then: str, last: str, expected: VerdictKind) -> None:
    """Two scales in memory may be one: that only one of them is zero is not known to be possible."""
    body = INIT + f"""
        .reg .f32 %f<4>; {SCALES.format(first=first, then=then, last=last)} bra E;
        C: mbarrier.arrive.shared.b64 _, [%r1];
        E:
    """ + WAIT.format(name="0", parity=0)  # fmt: skip
    assert _deadlock(body) is expected


@pytest.mark.parametrize(
    ("compared", "expected"),
    [
        ("popc.b32 %r5, %r3; setp.gt.u32 %p2, %r5, 32;", VerdictKind.PROVED),
        ("bfind.u32 %r5, %r3; setp.gt.s32 %p2, %r5, 31;", VerdictKind.UNKNOWN),
        ("abs.s32 %r5, %r3; setp.eq.s32 %p2, %r5, -5;", VerdictKind.UNKNOWN),
        ("prmt.b32 %r5, %r3, 0, 0x4440; setp.gt.u32 %p2, %r5, 255;", VerdictKind.UNKNOWN),
        ("lop3.b32 %r5, %r3, %r4, 0, 0x80; setp.ne.u32 %p2, %r5, 0;", VerdictKind.UNKNOWN),
        ("and.b32 %r5, %r3, %r4; setp.gt.u32 %p2, %r5, %r3;", VerdictKind.UNKNOWN),
        ("mul.lo.u32 %r5, %r3, %r3; setp.eq.u32 %p2, %r5, 3;", VerdictKind.UNKNOWN),
        ("mul.lo.u32 %r5, %r3, %r4; setp.gt.u32 %p2, %r5, 1000;", VerdictKind.VIOLATED),
        ("mov.b32 %f1, %r3; setp.lt.f32 %p2, %f1, 0fFF800000;", VerdictKind.UNKNOWN),
        ("cvt.rn.f32.u32 %f1, %r3; setp.lt.f32 %p2, %f1, 0f00000000;", VerdictKind.UNKNOWN),
        ("mov.b32 %f1, %r3; setp.neu.f32 %p2, %f1, %f1;", VerdictKind.UNKNOWN),
        ("mov.b32 %f1, %r3; setp.lt.f32 %p2, %f1, 0f3F800000;", VerdictKind.VIOLATED),
        (CHOSEN.format(other="%r4"), VerdictKind.VIOLATED),
        (CHOSEN.format(other="1065353216"), VerdictKind.UNKNOWN),
        (
            "mov.b32 %f1, %r3; mov.b32 %f2, %r4; mul.f32 %f1, %f1, %f2; setp.neu.f32 %p2, %f1, 0f00000000;",
            VerdictKind.VIOLATED,
        ),
        (
            "mov.b32 %f1, %r3; mul.f32 %f1, %f1, 0f00000000; setp.neu.f32 %p2, %f1, 0f00000000;",
            VerdictKind.UNKNOWN,
        ),
        ("mov.b32 %f1, %r3; mov.b32 %f2, %r4; setp.lt.f32 %p2, %f1, %f2;", VerdictKind.VIOLATED),
    ],
)
def test_what_no_operand_gives_makes_nothing_hang(compared: str, expected: VerdictKind) -> None:
    """The solver does not know what the operation computes; NaN alone differs from itself, which is not followed."""
    body = INIT + f"""
        .reg .f32 %f<3>; ld.param.u32 %r3, [n]; ld.param.u32 %r4, [m]; {compared} @%p2 bra C;
        mbarrier.arrive.shared.b64 _, [%r1];
        C:
    """ + WAIT.format(name="0", parity=0)  # fmt: skip
    assert _deadlock(body) is expected


RACE = "@%p9 st.shared.u32 [%r1+64], %r9; @!%p9 ld.shared.u32 %r20, [%r1+64]; F:"
"""Thread 0 writes what the others read, and nothing orders them."""


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("sub.s32 %r4, %r2, 2; mul.lo.s32 %r4, %r4, %r3; setp.eq.s32 %p1, %r4, 3;", VerdictKind.VIOLATED),
        ("mul.lo.s32 %r4, %r2, %r2; setp.eq.s32 %p1, %r4, 3;", VerdictKind.UNKNOWN),
        ("div.s32 %r4, %r3, %r2; setp.eq.s32 %p1, %r4, 3;", VerdictKind.VIOLATED),
    ],
    ids=["a product", "no square", "a division"],
)
def test_numbers_are_sought_for_what_the_solver_does_not_follow(
    condition: str, expected: VerdictKind
) -> None:
    body = INIT + f"""
        mbarrier.arrive.shared.b64 _, [%r1]; {WAIT.format(name="0", parity=0)}
        ld.param.u32 %r2, [n]; ld.param.u32 %r3, [m]; setp.lt.s32 %p2, %r2, 1;
        @%p2 bra F; {condition} @!%p1 bra F;
        mbarrier.arrive.shared.b64 _, [%r1]; {WAIT.format(name="1", parity=1)}
    """ + RACE  # fmt: skip
    assert kind(_verify(body), Property.SLOT_SAFETY) is expected


def test_a_run_that_is_certainly_possible_takes_the_place_of_one_that_may_not_be() -> None:
    """With one round n * n is 1; with three the product is none of a square."""
    body = INIT + f"""
        ld.param.u32 %r2, [n]; setp.lt.s32 %p1, %r2, 1; @%p1 bra F;
        mul.lo.s32 %r2, %r2, %r2; mov.u32 %r3, 0; mov.u32 %r5, 0;
        L: {ROUND}
        add.u32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, %r2; @%p1 bra L;
    """ + RACE  # fmt: skip
    result = _verify(body)
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.VIOLATED
    assert 1 in [run.trips for run in result.failures]
    assert not any(run.doubt for run in result.failures)


def test_field_of_a_count_that_was_decided_is_a_number() -> None:
    """The parity of round n / 64 of a ring of two, as compilers extract it from the count of the host."""
    body = INIT + """
        ld.param.u32 %r2, [n]; shr.s32 %r3, %r2, 6; setp.ne.s32 %p1, %r3, 5; @%p1 bra E;
        bfe.u32 %r4, %r3, 1, 1; mbarrier.arrive.shared.b64 _, [%r1];
    """ + WAIT.format(name="0", parity="%r4") + "E:"  # fmt: skip
    assert _deadlock(body) in (VerdictKind.PROVED, VerdictKind.PROVED_BOUNDED)


def test_stage_that_follows_from_the_decisions_is_a_number() -> None:
    """Two tiles of n / 64 rounds each: the stage of the second is n / 64 modulo 2, known once n is decided."""
    body = INIT + """
        @%p9 mbarrier.init.shared.b64 [%r1+8], 128; bar.sync 0;
        ld.param.u32 %r2, [n]; shr.s32 %r3, %r2, 6; setp.ne.s32 %p1, %r3, 3; @%p1 bra E;
        and.b32 %r4, %r3, 1; shl.b32 %r4, %r4, 3; add.u32 %r1, %r1, %r4; mbarrier.arrive.shared.b64 _, [%r1];
    """ + WAIT.format(name="0", parity=0) + "E:"  # fmt: skip
    assert _deadlock(body) in (VerdictKind.PROVED, VerdictKind.PROVED_BOUNDED)


ELECTED = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p9, %r9, 0; mov.u32 %r8, %laneid; setp.eq.u32 %p7, %r8, 0;
@%p9 mbarrier.init.shared.b64 [%r1], 4; bar.sync 0;
elect.sync _|%p6, 0xffffffff;
@!%p6 bra U;
{guard} mbarrier.arrive.shared.b64 _, [%r1];
U:
"""


@pytest.mark.parametrize(
    ("guard", "expected"),
    [("", VerdictKind.PROVED), ("@%p7", VerdictKind.ASSUMES)],
    ids=["any lane", "lane 0"],
)
def test_any_lane_may_be_elected(guard: str, expected: VerdictKind) -> None:
    result = _verify(ELECTED.format(guard=guard) + WAIT.format(name="0", parity=0))
    assert kind(result, Property.DEADLOCK_FREEDOM) is expected
    assert [key for key, _ in result.assumptions] == (["elect"] if guard else [])


TURNS = """
    ld.param.u32 %r2, [n]; {test}
    mbarrier.arrive.shared.b64 _, [%r1];
    add.u32 %r3, %r2, 7; shr.s32 %r3, %r3, 3; xor.b32 %r3, %r3, 1; and.b32 %r3, %r3, 1;
    {waits}
    E:
"""
"""Waits for the phase after the last one where n is 0, which no decision says, and for the first one up to 8."""


def _turns(test: str) -> Verification:
    waits = WAIT.format(name="0", parity=0) + WAIT.format(name="1", parity="%r3")
    return _verify(INIT + TURNS.format(test=test, waits=waits))


def test_a_number_that_is_taken_for_a_size_is_not_zero_at_first() -> None:
    result = _turns("setp.gt.s32 %p1, %r2, 8; @%p1 bra E;")
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.ASSUMES
    (required,) = result.required.values()
    assert required.text.startswith("n is at least 1: with less, waits for phase 1")
    assert any(bound.text == "only run where n is 1" for bound in result.bounds)


def test_what_is_compared_for_equality_alone_is_no_size() -> None:
    result = _turns("setp.eq.s32 %p1, %r2, 16; @%p1 bra E;")
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.VIOLATED


ROUNDS_OF_A_CTA = """
    mov.u32 %r4, %ctaid.x; shl.b32 %r4, %r4, 6; ld.param.u32 %r2, [n]; ld.param.u32 %r3, [m];
    add.s32 %r4, %r4, %r2; {second}.s32 %r4, %r4, %r3; add.s32 %r4, %r4, -127; shr.s32 %r4, %r4, 6;
    setp.lt.s32 %p1, %r4, 1; @%p1 bra S; mbarrier.arrive.shared.b64 _, [%r1]; S: {wait}
"""
"""A CTA whose rounds are less than one waits for ever."""


@pytest.mark.parametrize(
    ("second", "expected"),
    [("sub", VerdictKind.ASSUMES), ("add", VerdictKind.VIOLATED)],
    ids=["less", "more"],
)
def test_rounds_by_the_difference_of_two_lengths_are_taken_to_be_some(
    second: str, expected: VerdictKind
) -> None:
    wait = WAIT.format(name="0", parity=0)
    result = _verify(INIT + ROUNDS_OF_A_CTA.format(second=second, wait=wait))
    assert kind(result, Property.DEADLOCK_FREEDOM) is expected
    assert ["is at least 1: with less" in each.text for each in result.required.values()] == (
        [True] if expected is VerdictKind.ASSUMES else []
    )


@pytest.mark.parametrize(
    ("other", "expected"), [(0, VerdictKind.PROVED), (1, VerdictKind.VIOLATED)], ids=["agree", "disagree"]
)
def test_a_choice_is_known_in_half_a_register_too(other: int, expected: VerdictKind) -> None:
    """Thread 0 arrives where n is above 77; the wait knows that from what was chosen, in 16 bits."""
    body = INIT.replace("128;", "1;") + f"""
        .reg .b16 %h<4>; ld.param.u32 %r2, [n]; setp.gt.s32 %p1, %r2, 77; selp.b32 %r3, 1, {other}, %p1;
        and.pred %p2, %p1, %p9; @%p2 mbarrier.arrive.shared.b64 _, [%r1];
        cvt.u16.u32 %h1, %r3; setp.ne.s16 %p3, %h1, 1; @%p3 bra E;
    """ + WAIT.format(name="0", parity=0) + "E:"  # fmt: skip
    assert _deadlock(body) is expected


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
