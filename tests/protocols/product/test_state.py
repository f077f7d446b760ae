"""Copies of states: they have all that there is, and change by themselves."""

from __future__ import annotations

from dataclasses import fields

import pytest

from ptxcheck.protocols.model.actions import Access, Arrive, Barrier, Init, Span, Wait
from ptxcheck.protocols.product.operations import Failure
from ptxcheck.protocols.product.order_state import BLOCKED, DONE, OrderState
from ptxcheck.protocols.product.setup import Setup, StrandInfo
from ptxcheck.protocols.product.state import Meet, Word

BARRIER = Barrier(0, 0)
INIT, ARRIVE, WAIT = Init(1, BARRIER, 1), Arrive(2, BARRIER, 1), Wait(3, BARRIER, 0)
WRITE, READ = Access(4, writes=(Span(0, 1024, 16),)), Access(5, reads=(Span(0, 1024, 16),))


@pytest.mark.parametrize("kind", [Word, Meet])
def test_a_copy_has_all_fields(kind: type[Word] | type[Meet]) -> None:
    """Each field has a value of its own, so that none can stand for another."""
    values: dict[str, object] = {
        each.name: {(0, 0): number} if each.name == "tokens" else number
        for number, each in enumerate(fields(kind))
    }
    one = kind(**values)  # type: ignore[arg-type]
    assert one.copy() == one
    assert one.copy() is not one


def state() -> OrderState:
    infos = [StrandInfo(0, warp, 1, f"warp {warp}") for warp in range(2)]
    return OrderState(Setup(infos, [(INIT, ARRIVE, WRITE), (WAIT, READ)]))


def test_a_copy_changes_by_itself() -> None:
    one = state()
    assert one.perform(0, INIT) == DONE
    assert one.perform(0, WRITE) == DONE
    other, control, knowledge = one.copy(), one.control(), one.knowledge()
    assert other.perform(0, ARRIVE) == DONE
    assert one.control() == control != other.control()
    assert one.knowledge() == knowledge != other.knowledge()
    assert one.facts is other.facts


def test_a_copy_of_a_state_has_all_attributes() -> None:
    one = state()
    assert vars(one.copy()._state).keys() == vars(one._state).keys()


def test_a_blocked_wait_leaves_the_state_as_it_was() -> None:
    one = state()
    assert one.perform(0, INIT) == DONE
    control, knowledge = one.control(), one.knowledge()
    found = one.perform(1, WAIT)
    assert isinstance(found, Failure) or found == BLOCKED
    assert one.control() == control
    assert one.knowledge() == knowledge


def test_an_action_that_was_not_announced() -> None:
    found = state().perform(0, Arrive(99, BARRIER, 1))
    assert isinstance(found, Failure)
    assert found.reason == "an action that was not announced"
    assert (found.strand, found.point) == (0, 99)


def test_an_action_equal_to_one_that_was_announced() -> None:
    one = state()
    assert one.perform(0, Init(1, BARRIER, 1)) == DONE
