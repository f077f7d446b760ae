"""Roles that hand over to each other as often as parameters of their own say: the host has to have these agree."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.verdict import AssumptionKind, Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

ROLES = """
ld.param.u32 %r1, [n]; ld.param.u32 %r2, [m]; mov.u32 %r3, %tid.x; setp.ge.u32 %p1, %r3, 32; mov.u32 %r4, 0;
@%p1 bra OTHER;
{own}
ONE: setp.ge.s32 %p2, %r4, %r5; @%p2 bra END; {work} add.s32 %r4, %r4, 1; bra ONE;
OTHER:
{others}
TWO: setp.ge.s32 %p3, %r4, %r6; @%p3 bra {end}; {meets} add.s32 %r4, %r4, 1; bra TWO;
LAST: {last}
END:
"""
IS_N, IS_M = "mov.u32 %r{}, %r1;", "mov.u32 %r{}, %r2;"
MEET = "barrier.sync 1, 64;"


def roles(
    own: str,
    others: str,
    *,
    work: str = MEET,
    meets: str = MEET,
    end: str = "END",
    last: str = "",
    before: str = "",
) -> Verification:
    """Verify two warps that each go round a loop, for as often as each of them has computed."""
    text = ROLES.format(
        own=own.format(5), others=others.format(6), work=work, meets=meets, end=end, last=last
    )
    return verified(kernel(text.replace("@%p1", before + "@%p1", 1), threads=64))


@pytest.mark.parametrize(
    "others",
    [
        IS_M,
        "add.s32 %r{0}, %r2, 1;",
        "add.s32 %r{0}, %r2, 63; shr.u32 %r{0}, %r{0}, 6;",
        "mov.u32 %r7, %nctaid.x; div.u32 %r{0}, %r2, %r7;",
    ],
    ids=["parameter", "one more", "tiles", "share of a CTA"],
)
def test_that_parameters_agree_is_a_condition_on_the_host(others: str) -> None:
    result = roles(IS_N, others)
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.ASSUMES
    (required,) = result.required.values()
    assert required.kind is AssumptionKind.ROUNDS
    assert required.text.startswith("m and n ")
    assert (
        "let two loops that hand over to each other go round equally often: else, 32 of 64 threads"
        in required.text
    )


SHARE = "mov.u32 %r7, %nctaid.x; div.u32 %r{0}, %r1, %r7;"


def test_a_parameter_may_repeat_the_size_of_the_grid() -> None:
    result = roles(SHARE, "div.u32 %r{0}, %r1, %r2;")
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.ASSUMES
    assert any(
        each.text.startswith("m and n and %nctaid.x let two loops") for each in result.required.values()
    )


def test_shares_by_the_grid_that_differ_are_the_kernels_own_matter() -> None:
    result = roles(SHARE, SHARE + "add.u32 %r{0}, %r{0}, 1;")
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.VIOLATED


def test_loops_that_no_run_went_round_equally_often_are_not_decided() -> None:
    result = roles(IS_N, "mul.lo.u32 %r{0}, %r2, 200;")
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.UNKNOWN
    assert any("are at odds came here, and they go wrong" in reason.text for reason in result.reasons)


def test_loops_of_one_parameter_need_no_condition() -> None:
    result = roles(IS_N, IS_N)
    assert kind(result, Property.DEADLOCK_FREEDOM) is not VerdictKind.VIOLATED
    assert not result.required


@pytest.mark.parametrize(
    "others",
    ["add.s32 %r{0}, %r1, 1;", "shr.u32 %r{0}, %r1, 1;", "min.s32 %r{0}, %r1, %r2;"],
    ids=["one more", "half", "the smaller one"],
)
def test_numbers_with_a_parameter_in_common_are_the_kernels_own_matter(others: str) -> None:
    result = roles(IS_N, others)
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.VIOLATED
    assert not any(each.kind is AssumptionKind.ROUNDS for each in result.required.values())


def test_loops_that_go_wrong_in_equally_many_rounds_are_wrong() -> None:
    result = roles(IS_N, IS_M, meets=MEET + MEET)
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.VIOLATED


def test_loops_that_hand_over_nothing_need_not_agree() -> None:
    """What goes wrong if one warp goes round more often than the other has nothing to do with their work."""
    lonely = "barrier.sync 2, 32;"
    result = roles(
        IS_N,
        IS_M,
        work=lonely,
        meets="barrier.sync 3, 32;",
        end="LAST",
        last="@%p4 bra END; barrier.sync 1, 64;",
    )
    assert not any(each.kind is AssumptionKind.ROUNDS for each in result.required.values())
    assert kind(result, Property.DEADLOCK_FREEDOM) is not VerdictKind.ASSUMES


def test_what_goes_wrong_behind_both_loops_is_no_matter_of_their_rounds() -> None:
    result = roles(IS_N, IS_M, end="LAST", last="barrier.sync 2, 64;")
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.VIOLATED


@pytest.mark.parametrize(
    "own", ["min.s32 %r{0}, %r1, %r2;", "add.s32 %r{0}, %r1, %r2;"], ids=["smaller", "sum"]
)
@pytest.mark.parametrize("is_first", [False, True])
def test_a_parameter_whose_number_is_known_is_in_common(own: str, *, is_first: bool) -> None:
    """The loop of the other warp has told it in each run."""
    result = roles(own, IS_N) if is_first else roles(IS_N, own)
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.VIOLATED
    assert not any(each.kind is AssumptionKind.ROUNDS for each in result.required.values())


def test_what_chooses_a_count_is_no_count() -> None:
    chosen = "setp.eq.s32 %p9, %r1, 4; add.s32 %r11, %r2, 1; selp.b32 %r{0}, %r11, %r2, %p9;"
    result = roles(IS_N, chosen)
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.ASSUMES
    assert {each.kind for each in result.required.values()} == {AssumptionKind.ROUNDS}


@pytest.mark.parametrize(
    ("at_three", "expected"),
    [
        ("mov.u32 %r10, 2;", VerdictKind.VIOLATED),
        ("mov.u32 %r10, 1; barrier.sync 3, 64;", VerdictKind.ASSUMES),
    ],
    ids=["another barrier", "as else"],
)
def test_rounds_that_are_known_before_are_counted_too(at_three: str, expected: VerdictKind) -> None:
    """What else was decided says how often one of the loops goes round: nothing is asked there."""
    before = f"mov.u32 %r10, 1; setp.ne.u32 %p5, %r1, 3; @%p5 bra ELSE; {at_three} ELSE: "
    result = roles(IS_N, IS_M, work="barrier.sync %r10, 64;", before=before)
    assert kind(result, Property.DEADLOCK_FREEDOM) is expected
