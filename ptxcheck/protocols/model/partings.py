"""Branches at which lanes of one warp part, and do something on more than one side.

Property: two events of lanes of one warp that `Partings.are_apart` calls apart lie on different sides of one branch, at
which these lanes parted: nothing but a barrier orders them, whichever side the text, or the run, has first.

Argument: threads that part at a branch are on one side each until they come to its join, or for good where it has
none. Those that went on from a join without others are apart from those that came there later, too; in step they
would have waited there, so that these are not on two sides of a branch.

Not covered: instructions that a predicate keeps from some lanes, which no lane leaves the others for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ..symex.values.trace import Side, ThreadSet, Trace

_WARP = 32
_FULL = (1 << _WARP) - 1
_Path: TypeAlias = tuple[tuple[int, int], ...]
"""Numbers of partings, each with the number of a side of it: a negative one behind the join."""


@dataclass(frozen=True, slots=True)
class Partings:
    """The sides that events are on, of branches at which lanes of a warp part."""

    rows: tuple[tuple[int, int, _Path], ...] = ()
    """CTA and number of each event that is on a side."""
    _paths: dict[tuple[int, int], Mapping[int, int]] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        self._paths.update({(cta, event): dict(path) for cta, event, path in self.rows})

    def are_apart(self, cta: int, one: int, other: int) -> bool:
        """Tell whether two events of a CTA, of lanes of one warp, are in no order by the run that has them."""
        return any(True for _ in self._sides_of(cta, one, other))

    def are_on_two_sides(self, cta: int, one: int, other: int) -> bool:
        """Tell whether two events of a CTA, of lanes of one warp, are apart however these lanes keep step."""
        return any(min(sides) >= 0 for sides in self._sides_of(cta, one, other))

    def _sides_of(self, cta: int, one: int, other: int) -> Iterator[tuple[int, int]]:
        """Yield different sides of one branch that two events are on."""
        first, then = self._paths.get((cta, one)), self._paths.get((cta, other))
        if first is not None and then is not None:
            yield from ((side, then[fork]) for fork, side in first.items() if then.get(fork, side) != side)


@dataclass(slots=True)
class _Fork:
    """A parting: what threads do something on each of its sides."""

    sides: dict[int, tuple[Side, ThreadSet]] = field(default_factory=dict)
    """By identity."""

    def parted(self) -> ThreadSet:
        """Return the warps, as all of their threads, that do something on more than one side."""
        once = twice = 0
        for _, acting in self.sides.values():
            warps = _whole_warps(acting)
            twice |= once & warps
            once |= warps
        return twice

    def numbered(self) -> Iterator[tuple[int, int]]:
        """Yield each side, by identity, with its number."""
        for number, (key, (side, _)) in enumerate(self.sides.items()):
            yield key, number if side.fork > 0 else -1 - number


def _whole_warps(threads: ThreadSet) -> ThreadSet:
    found = 0
    for first in range(0, threads.bit_length(), _WARP):
        if threads >> first & _FULL:
            found |= _FULL << first
    return found


def _forks(trace: Trace) -> Mapping[int, _Fork]:
    """Return the partings of a trace at which lanes of a warp do something on more than one side."""
    acting: dict[int, tuple[Side, ThreadSet]] = {}
    for event in trace.events:
        if event.side is not None:
            _, threads = acting.get(id(event.side), (event.side, 0))
            acting[id(event.side)] = event.side, threads | event.threads
    found: dict[int, _Fork] = {}
    for side, threads in tuple(acting.values()):
        for each in _outwards(side):
            sides = found.setdefault(abs(each.fork), _Fork()).sides
            sides[id(each)] = each, sides.get(id(each), (each, 0))[1] | threads
    return {number: fork for number, fork in found.items() if fork.parted()}


def _outwards(side: Side | None) -> Iterator[Side]:
    while side is not None:
        yield side
        side = side.outer


def partings_of(traces: Iterable[Trace]) -> Partings:
    """Return which events of some CTAs are on sides of branches at which lanes of a warp part."""
    rows: list[tuple[int, int, _Path]] = []
    for trace in traces:
        forks = _forks(trace)
        if forks:
            numbers = {
                key: (position, side)
                for position, fork in enumerate(forks.values())
                for key, side in fork.numbered()
            }
            paths: dict[int, _Path] = {}
            for event in trace.events:
                if event.side is None:
                    continue
                path = paths.get(id(event.side))
                if path is None:
                    path = tuple(numbers[id(each)] for each in _outwards(event.side) if id(each) in numbers)
                    paths[id(event.side)] = path
                if path:
                    rows.append((trace.rank, event.index, path))
    return Partings(tuple(rows))


def threads_apart(trace: Trace) -> Iterator[ThreadSet]:
    """Yield the lanes on each side of a branch at which lanes of a warp part, of such warps alone."""
    for fork in _forks(trace).values():
        parted = fork.parted()
        for side, _ in fork.sides.values():
            yield side.threads & parted
