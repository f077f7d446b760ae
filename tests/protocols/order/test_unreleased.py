"""What hardware keeps in order without a release that reaches, and how far: the same by both engines."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from benchmarks.protocol_product import judge_straight
from ptxcheck.protocols.model.actions import (
    Access,
    Action,
    Arrive,
    Barrier,
    Commit,
    Protocol,
    Proxy,
    Span,
    Transfer,
    Wait,
    WaitGroup,
)
from ptxcheck.protocols.model.axiom import Axiom
from ptxcheck.protocols.order.axioms import RELEASE_SUFFICES, STORES_IN_ORDER
from ptxcheck.protocols.proof.search import examine
from tests.protocols.building import EMPTY, FULL, SLOT, expected_load, meeting, protocol

HERE, THERE = Barrier(0, 0), Barrier(1, 0)
OWN, OTHER = Span(0, 4096, 16), Span(1, 4096, 16)
END = meeting(3, number=1)
COPIES: list[Action] = [
    Transfer(0, (), "cp.async", writes=(SLOT,), proxy=Proxy.GENERIC),
    Commit(0, "cp.async"),
    WaitGroup(0, "cp.async", 0),
]
USES = {"load": Access(0, reads=(SLOT,)), "wgmma": Transfer(0, (), "wgmma", reads=(SLOT,))}


def _axioms(judged: Protocol) -> set[Axiom] | None:
    """Return the axioms that both engines take; None where both show a race."""
    outcome = examine(judged)
    failure, taken = judge_straight(judged)
    assert bool(outcome.problems) == (failure is not None)
    strict = {problem.axiom for problem in outcome.strict if problem.axiom is not None}
    assert outcome.problems or strict == {each for each in taken if each.is_stated}
    return None if outcome.problems else strict


def _read(*strands: Sequence[Action]) -> Protocol:
    return protocol({FULL: 1, EMPTY: 1}, *strands)


@pytest.mark.parametrize("releases", [True, False])
@pytest.mark.parametrize("acquires", [True, False])
def test_a_store_within_a_cta(*, releases: bool, acquires: bool) -> None:
    writer: list[Action] = [Access(0, writes=(OWN,)), Arrive(0, FULL, 1, releases=releases)]
    reader: list[Action] = [Wait(0, FULL, 0, acquires=acquires), Access(0, reads=(OWN,))]
    assert _axioms(_read(writer, reader)) == (set() if releases and acquires else {STORES_IN_ORDER})


@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
@pytest.mark.parametrize("acquires", [True, False])
def test_a_copy_is_seen_by_who_acquires_its_completion(use: Action, *, acquires: bool) -> None:
    reader: list[Action] = [Wait(0, FULL, 0, acquires=acquires), use]
    assert _axioms(_read(expected_load(), reader)) == (set() if acquires else None)


def test_a_copy_that_was_seen_complete_is_told_on_by_a_relaxed_arrival() -> None:
    middle: list[Action] = [Wait(0, FULL, 0), Arrive(0, EMPTY, 1, releases=False)]
    last: list[Action] = [Wait(0, EMPTY, 0), Access(0, reads=(SLOT,))]
    assert _axioms(_read(expected_load(), middle, last)) == {STORES_IN_ORDER}


def test_copies_of_threads_are_told_on_by_releases_alone() -> None:
    for releases in (True, False):
        writer = [*COPIES, Arrive(0, FULL, 1, releases=releases)]
        reader: list[Action] = [Wait(0, FULL, 0), Access(0, reads=(SLOT,))]
        assert _axioms(_read(writer, reader)) == (set() if releases else None)


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("acquires", [True, False])
def test_a_release_for_the_own_cta_releases_nothing_for_the_cluster(*, wide: bool, acquires: bool) -> None:
    writer: list[Action] = [Access(0, writes=(OTHER,)), Arrive(0, HERE, 1, wide=wide), END]
    teller: list[Action] = [Wait(0, HERE, 0, acquires=acquires, wide=False), Arrive(0, THERE, 1), END]
    reader: list[Action] = [Wait(0, THERE, 0), Access(0, reads=(OTHER,)), END]
    expected = set() if acquires else {RELEASE_SUFFICES} if wide else None
    assert _axioms(protocol({HERE: 1, THERE: 1}, writer, teller, reader, ctas=(0, 0, 1))) == expected


@pytest.mark.parametrize(("releases", "wide"), [(False, True), (True, False)], ids=["relaxed", "narrow"])
def test_what_is_in_order_goes_through_no_other_cta(*, releases: bool, wide: bool) -> None:
    writer: list[Action] = [Access(0, writes=(OWN,)), Arrive(0, THERE, 1, releases=releases, wide=wide), END]
    teller: list[Action] = [
        Wait(0, THERE, 0, acquires=False),
        Arrive(0, HERE, 1, releases=releases, wide=wide),
        END,
    ]
    reader: list[Action] = [Wait(0, HERE, 0, acquires=False), Access(0, reads=(OWN,)), END]
    assert _axioms(protocol({HERE: 1, THERE: 1}, writer, teller, reader, ctas=(0, 1, 0))) is None
