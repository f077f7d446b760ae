"""Branches at which lanes of one warp part, and do something on more than one side.

Property: two events of lanes of one warp that `Partings.are_apart` calls apart lie on different sides of one branch, at
which these lanes parted: nothing but a barrier orders them, whichever side the text, or the run, has first.

Argument: threads that part at a branch are on one side each until they come to its join, or for good where it has
none. Those that went on from a join without others are on another side than those that came there later.

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
"""Numbers of partings, each with the number of a side of it."""


@dataclass(frozen=True, slots=True)
class Partings:
    """The sides that events are on, of branches at which lanes of a warp part."""

    rows: tuple[tuple[int, int, _Path], ...] = ()
    """CTA and number of each event that is on a side."""
    _paths: dict[tuple[int, int], Mapping[int, int]] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        self._paths.update({(cta, event): dict(path) for cta, event, path in self.rows})

    def are_apart(self, cta: int, one: int, other: int) -> bool:
        """Tell whether two events of a CTA, of lanes of one warp, are on different sides of a branch."""
        first, then = self._paths.get((cta, one)), self._paths.get((cta, other))
        if first is None or then is None:
            return False
        return any(fork in then and then[fork] != side for fork, side in first.items())


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
            sides = found.setdefault(each.fork, _Fork()).sides
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
                for side, key in enumerate(fork.sides)
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
