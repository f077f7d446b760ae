"""A number that one thread compares as a signed one and another as an unsigned one: both are one below 2^31 alone."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.symex.values.comparisons import compared_integers
from ptxcheck.protocols.symex.values.readings import BothReadings
from ptxcheck.protocols.symex.values.symbol import Atom, Form, atom
from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

ROUNDS = """
ld.param.u32 %r1, [n]; mov.u32 %r9, %tid.x; setp.ge.u32 %p9, %r9, 32; mov.u32 %r2, 0;
@%p9 bra LATER;
ONE: {one} @%p1 bra END;
barrier.sync 1, 64; add.u32 %r2, %r2, 1; bra ONE;
LATER: {before}
OTHER: {other} @%p1 bra END;
barrier.sync 1, 64; add.s32 %r2, %r2, {step}; bra OTHER;
END:
"""
SIGNED = "setp.ge.s32 %p1, %r2, %r1;"
UNSIGNED = "setp.ge.u32 %p1, %r2, %r1;"
AT_ZERO = "setp.eq.u32 %p1, %r2, 0;"
DOWN = "mov.u32 %r2, %r1;"
GUARD = "setp.le.s32 %p2, %r1, 0; @%p2 bra END;"
ONCE = """
ld.param.u32 %r1, [n]; ld.param.u32 %r4, [m]; mov.u32 %r9, %tid.x; setp.ge.u32 %p9, %r9, 32;
@%p9 bra LATER;
setp.ge.{one} %p1, %r4, %r1; @%p1 bra END;
barrier.sync 1, 64; bra END;
LATER: setp.ge.{other} %p1, %r4, %r1; @%p1 bra END;
barrier.sync 1, 64;
END:
"""


def rounds(one: str, other: str, before: str = "", step: int = 1) -> str:
    return kernel(ROUNDS.format(one=one, other=other, before=before, step=step), threads=64)


@pytest.mark.parametrize(
    "text",
    [
        rounds(SIGNED, UNSIGNED), rounds(UNSIGNED, SIGNED), rounds(UNSIGNED, SIGNED, GUARD),
        rounds(SIGNED, AT_ZERO, DOWN, step=-1),
    ],
    ids=["signed, unsigned", "unsigned, signed", "unsigned, signed behind a guard", "signed, counted down to zero"],
)  # fmt: skip
@pytest.mark.parametrize("for_every_count", [False, True], ids=["runs", "product"])
def test_rounds_that_differ_for_large_numbers_are_not_proved(text: str, for_every_count: bool) -> None:
    result = verified(text, for_every_count=for_every_count, seconds=4.0)
    found = kind(result, Property.DEADLOCK_FREEDOM)
    if found is VerdictKind.ASSUMES:
        stated = [*result.assumptions.values(), *result.required.values()]
        assert any(each.text.startswith(("n is not negative", "n is at least 1")) for each in stated)
    else:
        assert found in (VerdictKind.UNKNOWN, VerdictKind.PROVED_BOUNDED)


@pytest.mark.parametrize(
    "text",
    [rounds(SIGNED, SIGNED), rounds(UNSIGNED, UNSIGNED), rounds(SIGNED, UNSIGNED, GUARD)],
    ids=["signed", "unsigned", "unsigned behind a guard"],
)
def test_rounds_that_are_as_many_for_all_numbers_are_proved(text: str) -> None:
    assert kind(verified(text, seconds=4.0), Property.DEADLOCK_FREEDOM) is VerdictKind.PROVED


@pytest.mark.parametrize("for_every_count", [False, True], ids=["runs", "product"])
def test_two_numbers_that_are_compared_in_two_ways_are_sizes(for_every_count: bool) -> None:
    text = kernel(ONCE.format(one="s32", other="u32"), threads=64)
    result = verified(text, for_every_count=for_every_count, seconds=4.0)
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.ASSUMES
    assert {"m is not negative", "n is not negative"} <= {each.text for each in result.assumptions.values()}


@pytest.mark.parametrize("signed", [True, False])
def test_two_numbers_that_are_compared_in_one_way_may_be_any(signed: bool) -> None:
    way = "s32" if signed else "u32"
    result = verified(kernel(ONCE.format(one=way, other=way), threads=64), for_every_count=True, seconds=4.0)
    assert not any("negative" in each.text for each in result.assumptions.values())


def test_who_reads_in_another_way_is_told_once() -> None:
    both = BothReadings()
    n, m = (Form(((atom("param", name, 0, 4).terms[0][0], 1),)) for name in "nm")

    def less(*, signed: bool) -> Form:
        truth = compared_integers(".lt", m, n, 32, signed_operands=signed)
        assert isinstance(truth, Form)
        return truth

    def note(*, signed: bool, positive: bool = False) -> set[Atom]:
        return {*both.note(less(signed=signed), lambda _: positive)}

    assert not note(signed=True)
    assert note(signed=False) == {n.terms[0][0], m.terms[0][0]}
    assert not note(signed=False)


@pytest.mark.parametrize(("first", "then"), [(True, 0), (False, 2)], ids=["signed", "unsigned"])
def test_what_is_known_behind_an_unsigned_order_tells_no_sign(first: bool, then: int) -> None:
    both = BothReadings()
    n, m = (atom("param", name, 0, 4) for name in "nm")
    one, other = (compared_integers(".lt", n, m, 32, signed_operands=signed) for signed in (first, not first))
    assert isinstance(one, Form)
    assert isinstance(other, Form)
    assert not [*both.note(one, lambda _: False)]
    assert len([*both.note(other, lambda _: True)]) == then


AT_ODDS = "setp.{relation} %p1, {one}, {other}; @%p1 bra DONE;"


@pytest.mark.parametrize("for_every_count", [False, True], ids=["runs", "product"])
@pytest.mark.parametrize("number", [5, (1 << 31) - 1])
def test_a_number_that_is_large_without_a_sign_and_small_with_one(number: int, for_every_count: bool) -> None:
    """It waits alone where n is the number, and m is -1."""
    orders = (
        AT_ODDS.format(relation="ne.s32", one="%r1", other=number)
        + AT_ODDS.format(relation="gt.u32", one="%r1", other="%r2")
        + AT_ODDS.format(relation="ge.s32", one="%r2", other="%r1")
    )
    body = f"""ld.param.u32 %r1, [n]; ld.param.u32 %r2, [m]; mov.u32 %r3, %tid.x; setp.ge.u32 %p2, %r3, 32;
        @%p2 bra DONE; {orders} barrier.sync 1, 64; DONE:"""
    result = verified(kernel(body, threads=64), for_every_count=for_every_count, seconds=4.0)
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.ASSUMES
    assert "m is not negative" in {each.text for each in result.assumptions.values()}
