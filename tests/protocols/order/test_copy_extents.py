"""How many bytes copies move at most: what is multiplied and what is expected leave so many."""

from __future__ import annotations

from collections.abc import Sequence

from ptxcheck.protocols.model.actions import (
    Access,
    Action,
    Barrier,
    Protocol,
    Span,
    Strand,
    Transfer,
)
from ptxcheck.protocols.model.outcome import Equation
from ptxcheck.protocols.order.copy_extents import most_bytes, within_slots
from ptxcheck.protocols.symex.values.symbol import Form, atom, plus

FULL = Barrier(0, 0)
UNITS = frozenset({"wgmma"})
A, B = atom("box_bytes", "a"), atom("box_bytes", "b")


def copy(into: int, amount: Form) -> Transfer:
    return Transfer(0, ((FULL, amount),), writes=(Span(0, into, 16, exact=False),))


def multiplication(*tiles: tuple[int, int]) -> Transfer:
    reads = tuple(Span(0, start, 0, exact=False, reach=size) for start, size in tiles)
    return Transfer(1, (), "wgmma", reads=reads)


def most(actions: Sequence[Action], expected: int) -> dict[int, int]:
    """Return the most bytes of each copy of one strand, by the number of its action."""
    protocol = Protocol((Strand(0, 0, 1, "warp 0", tuple(actions)),), 1)
    equation = Equation(FULL, expected, plus(A, B))
    return {number: size for (_, number), size in most_bytes(protocol, [equation], UNITS).items()}


def test_tiles_that_are_multiplied_share_what_is_expected() -> None:
    actions: list[Action] = [copy(1024, A), copy(5120, B), multiplication((1024, 4096), (5120, 2048))]
    assert most(actions, 6144) == {0: 4096, 1: 2048}


def test_a_copy_that_nobody_multiplies_may_have_all_that_is_left() -> None:
    actions: list[Action] = [copy(1024, A), copy(5120, B), multiplication((1024, 4096))]
    assert most(actions, 6144) == {0: 6144 - 16, 1: 2048}


def test_what_a_thread_writes_ends_what_a_copy_fills() -> None:
    store = Access(2, writes=(Span(0, 3072, 16),))
    actions: list[Action] = [copy(1024, A), copy(5120, B), store, multiplication((1024, 4096), (5120, 2048))]
    assert most(actions, 6144) == {0: 4096, 1: 4096}


def test_parts_with_other_symbols_are_left_open() -> None:
    protocol = Protocol((Strand(0, 0, 1, "warp 0", (copy(1024, A), copy(5120, B))),), 1)
    equation = Equation(FULL, atom("param", "n", 0, 4), plus(A, B))
    assert most_bytes(protocol, [equation], UNITS) == {}


def test_a_box_is_no_larger_than_the_smallest_slot_that_it_is_copied_to() -> None:
    """Two stages of two tiles: of the last one the box of its first stage says where it ends."""
    actions: list[Action] = [copy(into, box) for into, box in ((0, A), (1024, A), (2048, B), (3072, B))]
    protocol = Protocol((Strand(0, 0, 1, "warp 0", tuple(actions)),), 1)
    found = within_slots(protocol, {0: [0, 1024, 2048, 3072, 8192]}, UNITS)
    assert {number: size for (_, number), size in found.items()} == dict.fromkeys(range(4), 1024)
    assert within_slots(protocol, {}, UNITS) == {}
