"""Sides of a branch on which threads do nothing before they meet again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from ptxcheck.ir import Register
from ptxcheck.protocols.automata import builder
from ptxcheck.protocols.automata.nodes import Arrival, Node, Target
from ptxcheck.protocols.automata.silent_sides import without_silent_sides
from ptxcheck.protocols.automata.variables import variable
from ptxcheck.protocols.product import exploration
from ptxcheck.protocols.product.alike_numbers import with_alike_numbers
from ptxcheck.protocols.product.for_all import Open, Shown
from ptxcheck.protocols.product.roles import Role
from ptxcheck.protocols.symex.values.trace import Event
from tests.protocols.product.three_stage_ring import shown_with

EVERYBODY, LOW = 0xFFFFFFFF, 0xFFFF
HIGH = EVERYBODY ^ LOW
BRANCH, ONE, OTHER, JOIN = range(4)
STAGE = variable(JOIN, Register("stage"), EVERYBODY)
SOMETHING = Event(0, 5, HIGH, {}, HIGH)


def diamond() -> list[Node]:
    """Return a branch with two sides that meet at a join, and the end behind it."""
    to = [Target(each, Arrival.MOVE) for each in (ONE, OTHER, JOIN, JOIN)]
    return [
        Node(BRANCH, 0, EVERYBODY, (), (), sides=(LOW, HIGH), targets=(to[0], to[1])),
        Node(ONE, 1, LOW, (), (), targets=(to[2],)),
        Node(OTHER, 2, HIGH, (), (), targets=(to[3],)),
        Node(JOIN, 3, EVERYBODY, (), ()),
    ]


def sides_left(nodes: Sequence[Node]) -> int:
    """Return to how many targets threads part at the first node."""
    without_silent_sides(nodes)
    return len(nodes[BRANCH].targets)


def test_threads_go_on_together_where_no_side_does_anything() -> None:
    nodes = diamond()
    assert sides_left(nodes) == 1
    assert nodes[BRANCH].open_to(LOW) == nodes[BRANCH].open_to(EVERYBODY) == (0,)
    assert nodes[BRANCH].targets[0].node == JOIN


def test_a_branch_on_a_side_of_another_one() -> None:
    inner = [
        replace(
            node,
            number=node.number + JOIN,
            targets=tuple(Target(each.node + JOIN, each.arrival) for each in node.targets),
        )
        for node in diamond()
    ]
    outer = diamond()[:JOIN]
    outer[ONE].targets = outer[OTHER].targets = (Target(BRANCH + JOIN, Arrival.MOVE),)
    assert sides_left([*outer, *inner]) == 1


def _act(nodes: list[Node]) -> None:
    nodes[OTHER].events = (SOMETHING,)


def _read_words(nodes: list[Node]) -> None:
    nodes[OTHER].received = (5,)


def _are_cut(nodes: list[Node]) -> None:
    nodes[OTHER].is_cut = True


def _end_early(nodes: list[Node]) -> None:
    nodes[OTHER].targets = ()


def _count(nodes: list[Node]) -> None:
    nodes[OTHER].targets[0].assigned = ((STAGE, 1),)


def _begin_a_loop(nodes: list[Node]) -> None:
    nodes[OTHER].targets[0].arrival = Arrival.ENTER


def _go_on_alone(nodes: list[Node]) -> None:
    nodes.append(Node(JOIN + 1, 4, HIGH, (), ()))
    nodes[OTHER].targets[0].node = JOIN + 1


def _never_come(nodes: list[Node]) -> None:
    nodes[OTHER].targets[0].node = OTHER


@pytest.mark.parametrize(
    "change", [_act, _read_words, _are_cut, _end_early, _count, _begin_a_loop, _go_on_alone, _never_come]
)
def test_threads_part_where_a_side_does_something(change: Callable[[list[Node]], None]) -> None:
    nodes = diamond()
    change(nodes)
    assert sides_left(nodes) == 2


def test_numbers_that_both_sides_give_are_given_on_the_edge() -> None:
    nodes = diamond()
    for side in (ONE, OTHER):
        nodes[side].targets[0].assigned = ((STAGE, 1),)
    assert sides_left(nodes) == 1
    assert nodes[BRANCH].targets[0].assigned == ((STAGE, 1),)


def test_numbers_are_not_given_twice_on_one_edge() -> None:
    nodes = diamond()
    for side in (ONE, OTHER):
        nodes[BRANCH].targets[side - ONE].assigned = ((STAGE, 2),)
        nodes[side].targets[0].assigned = ((STAGE, 1),)
    assert sides_left(nodes) == 2


# -- a kernel

TEXT = """
mov.u32 %r1, smem; mov.u32 %r2, %tid.x; and.b32 %r6, %r2, 31;
setp.ne.u32 %p1, %r2, 0; @%p1 bra READY; mbarrier.init.shared.b64 [%r1], 2;
READY: bar.sync 0;
mov.u32 %r3, 0; setp.lt.u32 %p1, %r6, 16; @%p1 bra LOW;
setp.eq.u32 %p2, %r6, 20; selp.u32 %r3, 1, 0, %p2;
LOW: setp.eq.u32 %p3, %r3, 0; @%p3 bra WAIT;
mbarrier.arrive.shared::cta.b64 _, [%r1];
WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p8, [%r1], 0; @!%p8 bra WAIT;
"""
"""Lane 20 of two warps arrives, which only the upper lanes look for; the first lane of all initialises."""


def _strands(monkeypatch: pytest.MonkeyPatch, text: str) -> tuple[Shown | Open, int]:
    counts: list[int] = []

    def note(*given: object) -> tuple[Role, ...]:
        roles = with_alike_numbers(*given)  # type: ignore[arg-type]
        counts.append(len(roles))
        return roles

    monkeypatch.setattr(exploration, "with_alike_numbers", note)
    found = shown_with(text)
    return found, counts[-1]


def test_lanes_that_looked_for_nothing_stay_with_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    found, strands = _strands(monkeypatch, TEXT)
    assert isinstance(found, Shown)
    assert strands == 5, (
        "lanes 0 and 20, and the others, of the first warp; lane 20 and the others of the second"
    )
    monkeypatch.setattr(builder, "without_silent_sides", lambda nodes: None)
    found, strands = _strands(monkeypatch, TEXT)
    assert isinstance(found, Shown)
    assert strands > 5


@pytest.mark.parametrize(
    "wrong", [("%r6, 20;", "%r6, 12;"), ("%p1, %r6, 16;", "%p1, %r6, 24;"), ("[%r1], 2;", "[%r1], 3;")]
)
def test_nothing_is_shown_where_nobody_arrives(wrong: tuple[str, str]) -> None:
    assert wrong[0] in TEXT
    assert isinstance(shown_with(TEXT.replace(*wrong)), Open)
