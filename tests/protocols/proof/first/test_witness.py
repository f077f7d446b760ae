"""Runs that may be impossible: numbers with which they are possible are sought."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.proof.first.witness import is_realised
from ptxcheck.protocols.symex.values import lane_arithmetic as lanes
from ptxcheck.protocols.symex.values.approximated_terms import doubt_of
from ptxcheck.protocols.symex.values.solver import SolverOracle
from ptxcheck.protocols.symex.values.symbol import Condition, Decisions, Form, atom
from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import ONE_MBARRIER, WAIT_FOR_PHASE, deadlock, kind, verified

ARRIVE_AND_WAIT = (
    "mbarrier.arrive.shared.b64 _, [%r1];"
    + WAIT_FOR_PHASE.format(name="", parity="%r5")
    + "xor.b32 %r5, %r5, 1;"
)


def test_failure_on_a_path_that_may_be_impossible_is_no_violation() -> None:
    """n * n < 0 with n > 0: the solver does not multiply, so the missing arrival may never happen."""
    body = ONE_MBARRIER + """
        ld.param.u32 %r2, [n]; mul.lo.s32 %r3, %r2, %r2; setp.gt.s32 %p1, %r2, 5; @!%p1 bra B;
        setp.lt.s32 %p2, %r3, 7; @%p2 bra C;
        B: mbarrier.arrive.shared.b64 _, [%r1];
        C:
    """ + WAIT_FOR_PHASE.format(name="0", parity=0)  # fmt: skip
    result = verified(kernel(body))
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.UNKNOWN
    (verdict, *_) = result.verdicts()
    assert "may be impossible" in verdict.reasons[0].text


def test_same_failure_on_a_path_that_the_solver_follows_is_one() -> None:
    body = ONE_MBARRIER + """
        ld.param.u32 %r2, [n]; ld.param.u32 %r4, [m]; mul.lo.s32 %r3, %r4, %r4; setp.gt.s32 %p1, %r2, 5; @!%p1 bra B;
        setp.lt.s32 %p2, %r3, 7; @%p2 bra C;
        B: mbarrier.arrive.shared.b64 _, [%r1];
        C:
    """ + WAIT_FOR_PHASE.format(name="0", parity=0)  # fmt: skip
    assert deadlock(body, 128) is VerdictKind.VIOLATED


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
    body = ONE_MBARRIER + f"""
        ld.param.u32 %r3, [n]; ld.param.u32 %r4, [m]; setp.lt.s32 %p1, %r3, 1; @%p1 bra B;
        {first} @!%p2 bra C;
        B: mbarrier.arrive.shared.b64 _, [%r1];
        C:
    """ + WAIT_FOR_PHASE.format(name="0", parity=0)  # fmt: skip
    assert deadlock(body, 128) is expected


def test_behind_a_run_that_may_be_impossible_others_are_made() -> None:
    """Where n * n is 3 nobody arrives, and there is no such n; where m is 3 nobody does either."""
    body = ONE_MBARRIER + """
        ld.param.u32 %r2, [n]; ld.param.u32 %r4, [m]; setp.lt.s32 %p1, %r2, 1; @%p1 bra A;
        mul.lo.s32 %r3, %r2, %r2; setp.ne.s32 %p2, %r3, 3; @!%p2 bra C;
        A: setp.eq.s32 %p3, %r4, 3; @%p3 bra C;
        mbarrier.arrive.shared.b64 _, [%r1];
        C:
    """ + WAIT_FOR_PHASE.format(name="0", parity=0)  # fmt: skip
    assert deadlock(body, 128) is VerdictKind.VIOLATED
    assert (
        deadlock(body.replace("setp.eq.s32 %p3, %r4, 3;", "setp.ne.s32 %p3, %r4, %r4;"), 128)
        is VerdictKind.UNKNOWN
    )


SCALE_PASSED_IN_ONE_OF_TWO_WAYS = """
    ld.param.u64 %rd1, [p]; setp.ne.u64 %p3, %rd1, 0;
    selp.b32 %r5, %r3, {other}, %p3; mov.b32 %f1, %r5; setp.eq.f32 %p2, %f1, 0f00000000;
"""
"""A scale that is passed in one of two ways."""


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
        (SCALE_PASSED_IN_ONE_OF_TWO_WAYS.format(other="%r4"), VerdictKind.VIOLATED),
        (SCALE_PASSED_IN_ONE_OF_TWO_WAYS.format(other="1065353216"), VerdictKind.UNKNOWN),
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
    body = ONE_MBARRIER + f"""
        .reg .f32 %f<3>; ld.param.u32 %r3, [n]; ld.param.u32 %r4, [m]; {compared} @%p2 bra C;
        mbarrier.arrive.shared.b64 _, [%r1];
        C:
    """ + WAIT_FOR_PHASE.format(name="0", parity=0)  # fmt: skip
    assert deadlock(body, 128) is expected


RACE_OF_THREAD_0 = "@%p9 st.shared.u32 [%r1+64], %r9; @!%p9 ld.shared.u32 %r20, [%r1+64]; F:"
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
    body = ONE_MBARRIER + f"""
        mbarrier.arrive.shared.b64 _, [%r1]; {WAIT_FOR_PHASE.format(name="0", parity=0)}
        ld.param.u32 %r2, [n]; ld.param.u32 %r3, [m]; setp.lt.s32 %p2, %r2, 1;
        @%p2 bra F; {condition} @!%p1 bra F;
        mbarrier.arrive.shared.b64 _, [%r1]; {WAIT_FOR_PHASE.format(name="1", parity=1)}
    """ + RACE_OF_THREAD_0  # fmt: skip
    assert kind(verified(kernel(body)), Property.SLOT_SAFETY) is expected


def test_a_run_that_is_certainly_possible_takes_the_place_of_one_that_may_not_be() -> None:
    """With one round n * n is 1; with three the product is none of a square."""
    body = ONE_MBARRIER + f"""
        ld.param.u32 %r2, [n]; setp.lt.s32 %p1, %r2, 1; @%p1 bra F;
        mul.lo.s32 %r2, %r2, %r2; mov.u32 %r3, 0; mov.u32 %r5, 0;
        L: {ARRIVE_AND_WAIT}
        add.u32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, %r2; @%p1 bra L;
    """ + RACE_OF_THREAD_0  # fmt: skip
    result = verified(kernel(body))
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.VIOLATED
    assert 1 in [run.trips for run in result.failures]
    assert not any(run.doubt for run in result.failures)


BARRIER_FOR_NUMBERS_ABOVE_39 = """
mov.u32 %r9, %tid.x; ld.param.u32 %r2, [n]; and.b32 %r3, %r9, 31;
setp.ge.u32 %p1, %r9, 32; @%p1 bra E;
{body}
setp.gt.u32 %p2, %r5, 39; @!%p2 bra E;
barrier.sync 3, 64;
E:
"""
"""Runs that go wrong only with numbers that an operation which is not followed never gives."""


@pytest.mark.parametrize(
    "body",
    [
        "popc.b32 %r5, %r2;",
        "clz.b32 %r5, %r2; add.u32 %r5, %r5, 7;",
        "bfind.u32 %r5, %r2; add.u32 %r5, %r5, 8;",
        "lop3.b32 %r5, %r2, 1, 0, 0xc0;",
        "prmt.b32 %r5, %r2, 0, 0x4440; shr.u32 %r5, %r5, 3;",
        "mul.lo.u32 %r5, %r2, %r2; and.b32 %r5, %r5, 3; add.u32 %r5, %r5, 38;",
        "shfl.sync.bfly.b32 %r5, %r3, 1, 31, -1;",
        "fns.b32 %r5, %r3, 0, 0;",
        "mov.u32 %r5, %nsmid; setp.eq.u32 %p3, %r5, 0; selp.u32 %r5, 40, 0, %p3;",
        "mov.u32 %r5, %ctaid.y; shr.u32 %r5, %r5, 12;",
    ],
)
def test_numbers_that_never_come(body: str) -> None:
    assert deadlock(BARRIER_FOR_NUMBERS_ABOVE_39.format(body=body)) is not VerdictKind.VIOLATED


@pytest.mark.parametrize("body", ["mov.u32 %r5, %r2;", "shr.u32 %r5, %r2, 2;"])
def test_numbers_that_may_come(body: str) -> None:
    assert deadlock(BARRIER_FOR_NUMBERS_ABOVE_39.format(body=body)) is VerdictKind.VIOLATED


N = atom("param", "n", 0, 4)
M = atom("param", "m", 0, 4)


def test_a_path_with_a_product_is_possible_when_numbers_for_it_are_found() -> None:
    product = lanes.multiply(N, M, 32)
    assert isinstance(product, Form)
    decisions = Decisions(SolverOracle())
    decisions.assume(Condition("lt", product, 100), True)
    decisions.assume(Condition("lt", N, 3), False)
    assert doubt_of(decisions.taken) is not None
    assert isinstance(decisions.oracle, SolverOracle)
    assert is_realised(decisions.taken, decisions.oracle)


def test_a_product_that_its_factors_rule_out_is_not_possible() -> None:
    product = lanes.multiply(N, M, 32)
    assert isinstance(product, Form)
    decisions = Decisions(SolverOracle())
    for condition, truth in (
        (Condition("lt", product, 1), False),
        (Condition("eq", N, 0), True),
    ):
        decisions.assume(condition, truth)
    assert isinstance(decisions.oracle, SolverOracle)
    assert not is_realised(decisions.taken, decisions.oracle)


def test_numbers_are_found_for_factors_that_other_decisions_bind() -> None:
    """(n - 7) * m is 2, and m is no 1: the first numbers that come to mind do not do."""
    product = lanes.multiply(lanes.add(N, 0xFFFFFFF9, 32), M, 32)
    assert isinstance(product, Form)
    oracle = SolverOracle()
    decisions = Decisions(oracle)
    decisions.assume(Condition("eq", product, 2), True)
    decisions.assume(Condition("eq", M, 1), False)
    assert is_realised(decisions.taken, oracle)
    decisions.assume(Condition("eq", N, 8), False)
    assert not is_realised(decisions.taken, oracle)


PLACE_IN_THE_GRID, SIZE_OF_THE_GRID = atom("special", "%clusterid.x"), atom("special", "%nctaid.x")


def test_a_cta_whose_place_is_beyond_the_grid_is_none() -> None:
    place, size = PLACE_IN_THE_GRID, SIZE_OF_THE_GRID
    product = lanes.multiply(N, M, 32)
    assert isinstance(product, Form)
    oracle = SolverOracle()
    decisions = Decisions(oracle)
    decisions.assume(Condition("eq", product, 2), True)
    decisions.assume(Condition("eq", place, 3), True)
    assert is_realised(decisions.taken, oracle)
    decisions.assume(Condition("lt", size, 3), True)
    assert not is_realised(decisions.taken, oracle)
