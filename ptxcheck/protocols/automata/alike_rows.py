"""Numbers of variables with which threads do the same from a node on: the coarsest bisimulation of an automaton.

Property: threads that stand at nodes of one class, whatever numbers they have there, do the same events in the same
order if they get the same answers to the questions that the classes tell apart.

Argument: partition refinement (R. Paige and R. Tarjan, Three Partition Refinement Algorithms, 1987). Places are of one
class until their events name different numbers, they enter or repeat different loops, or the same answer leads to
places of different classes. A place where nothing happens, and whose edges all lead to one class, is of that class
itself (branching bisimulation: R. van Glabbeek and P. Weijland, 1996): so the stage at which a loop began, and the
rounds since, are alike wherever their sum is, though the way behind the loop asks the host whether there were few.

Not covered: places that do nothing in a circle are told apart.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .nodes import Begun

Place: TypeAlias = int
"""An index of a node with some numbers."""
Class: TypeAlias = int


@dataclass(frozen=True, slots=True)
class Way:
    """An edge that threads may take from a place."""

    answer: int
    """Of an open question: which target it leads to; -1 where there is no other edge."""
    target: Place
    begins: Begun | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """A node with some numbers."""

    node: int
    is_quiet: bool
    """Whether nothing happens there."""
    named: Hashable
    """What events, and open questions, are with the numbers."""
    ways: tuple[Way, ...]

    @property
    def does_nothing(self) -> bool:
        """Tell whether threads go on from here without an event, in the same rounds of loops."""
        return self.is_quiet and bool(self.ways) and not any(way.begins for way in self.ways)


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes of some places."""

    of: Sequence[Class]
    """By place."""
    passed: frozenset[Place]
    """Places at which it does not matter to be: they are of the class of all that is behind them."""


def classes_of(places: Sequence[Standing]) -> Classes:
    """Return the coarsest classes of some places."""
    silent = _in_order(places)
    one = {at for at in silent if len(places[at].ways) == 1}
    own = _numbered([(each.node, None if at in one else each.named) for at, each in enumerate(places)])
    count = 0
    while len(set(own)) > count:
        count = len(set(own))
        found = _with_silent(places, silent, own)
        own = _numbered(
            [
                (mine, tuple((way.answer, way.begins, found[way.target]) for way in each.ways))
                for mine, each in zip(own, places, strict=True)
            ]
        )
    found = _with_silent(places, silent, own)
    passed = (at for at in silent if all(found[way.target] == found[at] for way in places[at].ways))
    return Classes(found, frozenset(passed))


def _with_silent(places: Sequence[Standing], silent: Sequence[Place], own: Sequence[Class]) -> list[Class]:
    """Return classes where those places at which nothing happens are of the class that they all lead to."""
    found = list(own)
    for at in silent:
        behind = {found[way.target] for way in places[at].ways}
        if len(behind) == 1:
            found[at] = behind.pop()
    return found


def _in_order(places: Sequence[Standing]) -> list[Place]:
    """Return the places at which nothing happens, each behind those that it leads to; none of a circle."""
    quiet = [each.does_nothing for each in places]
    left = [
        sum(quiet[way.target] for way in each.ways) if is_quiet else -1
        for each, is_quiet in zip(places, quiet, strict=True)
    ]
    before: dict[Place, list[Place]] = {}
    for at, each in enumerate(places):
        for way in each.ways if quiet[at] else ():
            before.setdefault(way.target, []).append(at)
    found = [at for at, count in enumerate(left) if count == 0]
    for at in found:
        for earlier in before.get(at, ()):
            left[earlier] -= 1
            if left[earlier] == 0:
                found.append(earlier)
    return found


def _numbered(keys: Sequence[Hashable]) -> list[Class]:
    numbers: dict[Hashable, Class] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


__all__ = ["Class", "Classes", "Place", "Standing", "Way", "classes_of"]
