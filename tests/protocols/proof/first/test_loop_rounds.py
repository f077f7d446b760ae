"""Which loops go far round for the sake of rings: those of the ring, or those of the tiles, and not both at once."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ptxcheck.protocols.proof.first.deciding import Question
from ptxcheck.protocols.proof.first.every_count import Claims
from ptxcheck.protocols.proof.first.paths import (
    Counts,
    Coverage,
    Plan,
    PlansMade,
    Rounds,
    explore,
)
from ptxcheck.protocols.symex.values.symbol import (
    Atom,
    Condition,
    Form,
    atom,
)
from ptxcheck.protocols.symex.values.trace import TooLongError


def question(loop: int, *, is_outer: bool = False) -> Question:
    open_size = atom("param", "n", 0, 4)
    return Question(7, Condition("lt", open_size, 1), True, True, (0,), True, is_outer, loop)


@pytest.mark.parametrize(
    ("loop", "is_outer", "expected"), [(1, False, 20), (2, False, 8), (3, False, 1), (4, True, 1)]
)
def test_loops_have_rounds_of_their_own(loop: int, is_outer: bool, expected: int) -> None:
    rounds = Rounds(20, 1, ((2, 8), (3, 1)))
    assert rounds.of(question(loop, is_outer=is_outer)) == expected


def test_without_an_own_number_outer_loops_go_round_like_the_others() -> None:
    assert Rounds(3).of(question(1, is_outer=True)) == 3
    assert not Rounds(0, 0).is_any
    assert Rounds(0, 1).is_any


def answered(plan: Plan, rounds: int) -> Plan:
    """Let a plan decide a loop like a run does, until it leaves."""
    for turn in range(rounds):
        size = Condition("lt", atom("param", "n", 0, 4), turn + 1)
        if not plan.choose(Question(7, size, False, True, (turn,), True, loop=1)):
            break
    return plan


def test_a_plan_that_gives_the_answers_of_an_earlier_one_is_no_new_run() -> None:
    made = PlansMade()
    first = answered(Plan(Rounds(2, 3)), 9)
    first.came_to = frozenset({7, 8})
    made.note(first)
    again = Plan(Rounds(2, 1))
    assert made.repeats(again)
    assert (again.made, again.answers, again.came_to) == (first.made, first.answers, first.came_to)
    assert not made.repeats(Plan(Rounds(3, 3)))
    assert not made.repeats(Plan(Rounds(2, 3), preset={atom("param", "n", 0, 4).terms[0][0]: 2}))
    made.note(answered(Plan(Rounds(3, 3)), 9))
    assert made.repeats(Plan(Rounds(3, 1)))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("product", ["mul", "sum"])
def test_cta_has_work_where_counts_are_large(sign: int, product: str) -> None:
    """Of `tiles - CTA < 1` what the host gives is the tiles, whichever of the two comes first."""
    tiles = atom(product, atom("param", "m", 0, 4), atom("param", "n", 0, 4), differs=0).terms[0][0]
    place = atom("special", "%clusterid.x").terms[0][0]
    terms = sorted([(place, -sign), (tiles, sign)], key=lambda each: str(each[0][0]))
    asked = Question(7, Condition("lt", Form(tuple(terms)), 1), True, None, (), True)
    assert Plan(Rounds(3)).choose(asked) == (sign < 0)
    assert Plan(Rounds(0)).choose(asked) == (sign > 0)


def test_a_loop_far_beyond_its_count_gets_each_answer_however_rarely_it_asks() -> None:
    plan = Plan(Rounds(2))
    size = Condition("lt", atom("param", "n", 0, 4), 9)
    answers = {plan.choose(Question(7, size, True, None, (turn,), True, loop=1)) for turn in (6, 12, 18)}
    assert answers == {True, False}


class _Huge:
    """A solver that knows one number, of a billion rounds, for a side."""

    def is_possible(self, claims: Claims) -> bool:
        return True

    def numbers(self, claims: Claims) -> Mapping[Atom, int]:
        return {atom("param", "n", 0, 4).terms[0][0]: 1 << 30}


def test_numbers_that_lead_into_an_endless_loop_leave_a_side_as_it_was() -> None:
    tried: list[int] = []

    def run(plan: Plan) -> bool:
        if plan.preset:
            tried.extend(plan.preset.values())
            raise TooLongError("more steps than the budget allows", 7)
        answered(plan, 9)
        plan.follow(9, True, Condition("lt", atom("param", "n", 0, 4), 9), True)
        return True

    coverage = Coverage()
    explore(Counts([Rounds(1)], list, list), 9, run, _Huge(), lambda: False, coverage)
    assert tried == [1 << 30]
    assert coverage.unreached == {(9, False)}


def test_a_side_that_numbers_alone_lead_to_is_noted_with_them() -> None:
    size = atom("param", "n", 0, 4)

    def run(plan: Plan) -> bool:
        answered(plan, 9)
        plan.follow(9, not plan.preset, Condition("lt", size, 9), not plan.preset)
        return True

    coverage = Coverage()
    explore(Counts([Rounds(1)], list, list), 9, run, _Huge(), lambda: False, coverage)
    assert coverage.led == {9: {size.terms[0][0]: 1 << 30}}
    assert not coverage.unreached


@pytest.mark.parametrize(
    ("relation", "number", "is_size"), [("lt", 0, True), ("eq", 0, False), ("lt", 5, False)]
)
def test_a_size_that_numbers_make_zero_is_empty_in_the_run(relation: str, number: int, is_size: bool) -> None:
    """What runs compare for equality alone is a flag."""
    size = atom("param", "n", 0, 4)
    emptied: list[tuple[Atom, ...]] = []

    class Solver(_Huge):
        def numbers(self, claims: Claims) -> Mapping[Atom, int]:
            return {size.terms[0][0]: number}

    def run(plan: Plan) -> bool:
        if plan.preset:
            emptied.append(plan.emptied)
        else:
            plan.choose(Question(7, Condition(relation, size, 64), True, None, (), True))
        plan.follow(9, not plan.preset, Condition("lt", size, 9), not plan.preset)
        return True

    explore(Counts([Rounds(1)], list, list), 9, run, Solver(), lambda: False, Coverage())
    assert emptied[0] == ((size.terms[0][0],) if is_size else ())
