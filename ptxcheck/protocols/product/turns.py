"""A turn: a permutation of mbarriers, landmarks, cells and numbers of variables, and what it makes of a state.

Property: `Turn.turned` gives the state that the kernel would be in if all of what the turn moves had been another one
from the start.

Argument: each part of a state names mbarriers, landmarks, cells or numbers of variables, or nothing that a turn moves.
Events after which a landmark is not known to have a counterpart make a state that is not turned.

Not covered: that the kernel does the same in a turned state (`ring_turns`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ..automata.environments import Env
from .clocks import Clocks, Slot
from .joins import normalise, tables
from .ring_places import Place
from .rows import Bits, Knowledge, Rows
from .state import Change, Changes, State, Word

_OF_BARRIERS = frozenset({"arrivals", "others", "last-to-come", "work", "published", "transfers", "raised"})
"""Slots of clocks that are of an mbarrier."""
Move: TypeAlias = tuple[tuple[int, ...], Mapping[Env, Env]]
"""Positions of variables of one component, and their other numbers."""


class Landmarks:
    """A permutation of some landmarks."""

    def __init__(self, targets: Mapping[int, int], rows: Rows) -> None:
        """`targets`: for the number of each landmark that has a counterpart the number of that."""
        self.targets = targets
        self._rows = rows
        self.domain: Bits = 0
        distances: dict[int, Bits] = {}
        for number, target in targets.items():
            self.domain |= 1 << number
            distances[target - number] = distances.get(target - number, 0) | 1 << number
        self._kept = rows.in_all(distances.pop(0, 0))
        self._moved = [(distance, rows.in_all(bits)) for distance, bits in sorted(distances.items())]

    def of(self, known: Knowledge) -> Knowledge:
        """Return the counterparts of some landmarks, in all rows."""
        if not known:
            return 0
        found = known & self._kept
        for distance, mask in self._moved:
            part = known & mask
            if part:
                found |= part << distance if distance > 0 else part >> -distance
        return found

    def keeps(self, landmarks: Bits) -> bool:
        """Tell whether a set of landmarks stays what it is, as far as they have counterparts."""
        return self.of(landmarks & self.domain) == landmarks & self.domain

    def then(self, other: Landmarks) -> Landmarks:
        """Return this permutation, and another one behind it."""
        targets = {n: other.targets[t] for n, t in self.targets.items() if t in other.targets}
        return Landmarks(targets, self._rows)


def moved(env: Env, moves: Iterable[Move]) -> Env | None:
    """Return the other numbers of some variables; None where none are known."""
    found = list(env)
    for positions, numbers in moves:
        there = numbers.get(tuple(env[at] for at in positions))
        if there is None:
            return None
        for at, number in zip(positions, there, strict=True):
            found[at] = number
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Moves:
    """What a turn does to the variables of one strand, node by node; nothing where no turn is known."""

    by_node: Mapping[int, tuple[Move, ...]]
    """For each node at which the strand may stand."""

    def of(self, node: int, env: Env) -> Env | None:
        """Return the other numbers of all variables of a node; None where none are known."""
        moves = self.by_node.get(node)
        return None if moves is None else moved(env, moves)


@dataclass(frozen=True, slots=True)
class Turn:
    """One permutation."""

    barriers: tuple[int, ...]
    """For each mbarrier the other one."""
    flips: tuple[int, ...]
    """For each mbarrier 1 if the parity is the other one, too."""
    landmarks: Landmarks
    cells: Mapping[int, int]
    """For each cell of memory the other one; nothing for one that has none."""
    places: Mapping[Place, Place]
    """For each place of values that threads hand to each other the other one."""
    strands: tuple[Moves, ...]

    @property
    def moves_barriers(self) -> bool:
        """Tell whether it is more than other phases of the same mbarriers."""
        return self.barriers != tuple(range(len(self.barriers)))

    def moves_all(self, state: State) -> bool:
        """Tell whether all that a state names has a counterpart."""
        normalise(state)
        cells = all(cell in self.cells for cell, held in state.cells.items() if any(held))
        named = state.active
        for word in state.words.values():
            named |= word.needed() | word.made
        for written, read in state.cells.values():
            named |= written | read
        for each in state.changes.values():
            for change in each.made:
                named |= change.known & state.active
        for table in tables(state):
            for reached in table.values():
                named |= reached
        changes = any(
            self.landmarks.of(change.step.event) != change.step.event
            for each in state.changes.values() for change in each.made
        )  # fmt: skip
        return cells and not changes and not named & ~self.landmarks.domain

    def turned(self, state: State) -> State:
        """Return the state behind the turn, of one of which it moves all."""
        of = self.landmarks.of
        found = state.copy()
        found.active = of(state.active)
        found.clocks = Clocks(
            state.setup.rows, {self._slot(slot): of(known) for slot, known in state.clocks.items()}
        )
        found.words = {
            self.barriers[number]: self._word(number, word) for number, word in state.words.items()
        }
        for meet in found.meets.values():
            meet.now, meet.last = of(meet.now), of(meet.last)
        found.cells = {
            self.cells[cell]: (of(written), of(read))
            for cell, (written, read) in state.cells.items() if written or read
        }  # fmt: skip
        found.awaiting = {strand: self.barriers[number] for strand, number in state.awaiting.items()}
        found.polled = {
            (strand, self.barriers[number], parity ^ self.flips[number]): polls
            for (strand, number, parity), polls in state.polled.items()
        }
        for table in tables(found):
            table.update({key: of(reached) for key, reached in table.items()})
        found.changes = {cta: self._changes(each) for cta, each in state.changes.items()}
        return found

    def then(self, other: Turn) -> Turn:
        """Return this turn, and another one behind it."""
        barriers = tuple(other.barriers[number] for number in self.barriers)
        flips = tuple(
            flip ^ other.flips[number] for number, flip in zip(self.barriers, self.flips, strict=True)
        )
        cells = {cell: other.cells[there] for cell, there in self.cells.items() if there in other.cells}
        strands = tuple(map(_both, self.strands, other.strands))
        places = {place: other.places[there] for place, there in self.places.items()}
        return Turn(barriers, flips, self.landmarks.then(other.landmarks), cells, places, strands)

    def _slot(self, slot: Slot) -> Slot:
        if isinstance(slot, tuple) and slot[0] in _OF_BARRIERS:
            name, number, *rest = slot
            assert isinstance(number, int)
            return name, self.barriers[number], *rest
        return slot

    def _word(self, number: int, word: Word) -> Word:
        of, found = self.landmarks.of, word.copy()
        found.parity ^= self.flips[number]
        found.made, found.expects, found.raises = of(word.made), of(word.expects), of(word.raises)
        found.not_last, found.now, found.last = of(word.not_last), of(word.now), of(word.last)
        found.others, found.last_others, found.waits = (
            of(word.others),
            of(word.last_others),
            of(word.waits),
        )
        return found

    def _changes(self, changes: Changes) -> Changes:
        of = self.landmarks.of
        made = tuple(Change(each.strand, each.step, of(each.known)) for each in changes.made)
        return Changes(made, changes.held)


def _both(one: Moves, other: Moves) -> Moves:
    found: dict[int, tuple[Move, ...]] = {}
    for node in one.by_node.keys() & other.by_node.keys():
        by_positions: dict[tuple[int, ...], Mapping[Env, Env]] = dict(one.by_node[node])
        for positions, numbers in other.by_node[node]:
            before = by_positions.get(positions)
            by_positions[positions] = (
                numbers if before is None else {env: numbers[t] for env, t in before.items() if t in numbers}
            )
        found[node] = tuple(sorted(by_positions.items()))
    return Moves(found)


__all__ = ["Landmarks", "Move", "Moves", "Turn", "moved"]
