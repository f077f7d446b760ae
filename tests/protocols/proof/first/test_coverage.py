"""What runs say of sides that no run took."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.proof.first.paths import Coverage, Plan, Rounds, _Explorer
from ptxcheck.protocols.symex.values.symbol import Atom, Condition, Form

N = Atom(("param", "n", 0, 4))
PARENT, TAIL = 3, 5
IS_LARGE = Condition("lt", Form(((N, -1),)), 0)
"""That n is above 0."""


def noted(*plans: Plan) -> Coverage:
    coverage = Coverage()
    explorer = _Explorer(10, lambda _: True, lambda: False, coverage)
    for plan in plans:
        explorer._note_followed(plan)
    return coverage


def counted() -> Plan:
    """A run that has found n above 0, and no further round behind two of them."""
    plan = Plan(Rounds(2))
    plan.made, plan.answers = [((PARENT, True), False)], [(IS_LARGE, True)]
    plan.followed = {(TAIL, True): (1, Condition("lt", Form(((N, 1),)), 3), True)}
    return plan


def with_number(number: int) -> Plan:
    """A run that begins with a number for n, and so decides nothing."""
    plan = Plan(Rounds(2), preset={N: number})
    plan.pins = {N: number}
    plan.followed = {(TAIL, True): (0, Condition("lt", Form(((N, 1),)), number + 1), True)}
    return plan


@pytest.mark.parametrize(("number", "ways"), [(39, 1), (-1, 2)])
def test_numbers_that_lead_the_way_of_another_run_are_no_way_of_their_own(number: int, ways: int) -> None:
    assert len(noted(counted(), with_number(number)).excluded[TAIL, False]) == ways


def test_numbers_that_alone_lead_to_a_branch_are() -> None:
    assert len(noted(with_number(39)).excluded[TAIL, False]) == 1
