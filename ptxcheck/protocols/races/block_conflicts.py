"""Which accesses of one barrier interval of a run race.

Property: each `Conflict` is of two threads of which one stores to a byte that the other one accesses, in one interval,
not both by atomic operations nor both strongly. Two stores are of different values, both known. The threads are of
different warps, or lanes of one warp that store by one instruction in one step.

Argument: no barrier of the block lies between, and nothing else orders threads of different warps in a kernel that has
neither fences nor acquire and release (PTX ISA 8.7 and 8.8). A quick look tells whether a byte is stored to and
accessed by two warps at all; then the accesses of such bytes are compared in pairs.

Not covered: lanes of one warp by different instructions: that they run in step orders those.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .accesses import Action
from .block_run import Touch
from .lane_exchanges import WARP
from .lane_integers import Lanes, number

_MOST_PLACES = 400
"""Places of shared memory of one interval whose accesses are compared in pairs."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two threads and two accesses, the write first if the other one is none; `offset` is the later one's."""

    touches: tuple[Touch, Touch]
    threads: tuple[int, int]
    offset: int

    @property
    def points(self) -> tuple[int, int]:
        one, two = self.touches
        return one.step.point, two.step.point


@dataclass(frozen=True, slots=True)
class _Access:
    touch: Touch
    thread: int
    offset: int
    value: int | None

    @property
    def action(self) -> Action:
        access = self.touch.step.access
        assert access is not None
        return access.action


class Conflicts:
    """Looks for conflicts in the intervals of a run; `granule` is the least bytes of an access."""

    def __init__(self, size: int, granule: int) -> None:
        self._granule = granule
        count = size // granule + 1
        self._written = np.full(count, -1, np.int32)
        """The last interval that stored to a place."""
        self._accessed = np.full(count, -1, np.int32)
        self._writer = np.zeros(count, np.int32)
        """The warp of the last store."""
        self._reader = np.zeros(count, np.int32)
        self._several = np.zeros(count, np.bool_)
        """Whether more than one warp has read a place in the last interval that did."""
        self._interval = -1
        self.is_exhaustive = True
        """Whether all places with a conflict were looked at."""

    def of(self, touches: Sequence[Touch]) -> list[Conflict]:
        """Return conflicts of an interval, one for each two points at least where there are any."""
        self._interval += 1
        touches = [each for each in touches if each.step.access is not None]
        if all(_action(each) is Action.READ for each in touches):
            return []
        found = {each.points: each for touch in touches for each in _in_one_step(touch)}
        places = [place for touch in touches for place in self._suspected(touch)]
        if places:
            suspected = np.unique(np.concatenate(places))
            step = max(1, len(suspected) // _MOST_PLACES)
            self.is_exhaustive &= step == 1
            for each in self._compared(touches, suspected[::step]):
                found.setdefault(each.points, each)
        return list(found.values())

    def _places(self, touch: Touch) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int32]]:
        """Return the places of a touch, and the warps that touch them."""
        parts = touch.size // self._granule
        first: Lanes = np.asarray(touch.offsets // number(self._granule))
        warps = (touch.threads // WARP).astype(np.int32)
        if parts == 1:
            return first, warps
        places: Lanes = np.add.outer(first, np.arange(parts, dtype=np.uint64)).reshape(-1)
        return places, np.repeat(warps, parts)

    def _suspected(self, touch: Touch) -> list[npt.NDArray[np.uint64]]:
        """Return places where a touch meets an earlier one of another warp, one of both a store."""
        places, warps = self._places(touch)
        now = self._interval
        is_written = self._written[places] == now
        meets = is_written & (self._writer[places] != warps)
        is_read = self._accessed[places] == now
        if _action(touch) is Action.READ:
            self._several[places] &= is_read
            others = is_read & (self._reader[places] != warps)
            self._several[places[others]] = True
            self._accessed[places] = now
            self._reader[places] = warps
            self._several[places[self._reader[places] != warps]] = True
            return [places[meets]] if meets.any() else []
        meets |= is_read & ((self._reader[places] != warps) | self._several[places])
        self._written[places] = now
        self._writer[places] = warps
        meets |= self._writer[places] != warps
        return [places[meets]] if meets.any() else []

    def _compared(self, touches: Sequence[Touch], places: npt.NDArray[np.uint64]) -> list[Conflict]:
        at: dict[int, list[_Access]] = {}
        for touch in touches:
            its, _ = self._places(touch)
            parts = touch.size // self._granule
            for index in np.flatnonzero(np.isin(its, places)).tolist():
                lane = index // parts
                value = None if touch.values is None else int(touch.values[lane])
                access = _Access(touch, int(touch.threads[lane]), int(touch.offsets[lane]), value)
                at.setdefault(int(its[index]), []).append(access)
        found: dict[tuple[int, int], Conflict] = {}
        for accesses in at.values():
            groups: dict[Touch, dict[tuple[int, int | None], _Access]] = {}
            for access in accesses:
                # Threads of one warp with one value are alike.
                groups.setdefault(access.touch, {}).setdefault((access.thread // WARP, access.value), access)
            _compare([[*each.values()] for each in groups.values()], found)
        return list(found.values())


def _compare(alike: Sequence[Sequence[_Access]], found: dict[tuple[int, int], Conflict]) -> None:
    """Add the first conflict of each two points, in the order of the touches."""
    at: dict[int, list[int]] = {}
    for index, mine in enumerate(alike):
        at.setdefault(mine[0].touch.step.point, []).append(index)
    conflicts: dict[tuple[int, int], Conflict] = {}
    for one, two in _of_several_warps({p: [alike[index] for index in indices] for p, indices in at.items()}):
        if (one, two) in found or (two, one) in found:
            continue
        pair = alike[at[one][0]][0], alike[at[two][0]][0]
        if not _race(*pair):
            continue
        places = sorted({*at[one], *at[two]})
        for index in places:
            mine = alike[index]
            if mine[0].action is Action.READ:
                continue
            others = at[two] if mine[0].touch.step.point == one else at[one]
            conflict = next(((its, c) for its in others if (c := _first(mine, alike[its])) is not None), None)
            if conflict is not None:
                conflicts[index, conflict[0]] = conflict[1]
                break
    for _, each in sorted(conflicts.items(), key=lambda item: item[0]):
        found[each.points] = each


def _of_several_warps(at: Mapping[int, Sequence[Sequence[_Access]]]) -> Iterator[tuple[int, int]]:
    """Yield each two points, or one twice, whose accesses are not all by one warp."""
    lone = {point: _lone_warp(alike) for point, alike in at.items()}
    others: dict[int | None, list[int]] = {
        warp: [point for point in at if lone[point] != warp] for warp in set(lone.values())
    }
    others[None] = list(at)
    place = {point: index for index, point in enumerate(at)}
    for one in at:
        yield from ((one, two) for two in others[lone[one]] if place[one] <= place[two])


def _lone_warp(alike: Sequence[Sequence[_Access]]) -> int | None:
    """Return the warp that makes all of some accesses; None if there are several."""
    warps = {access.thread // WARP for each in alike for access in each}
    return warps.pop() if len(warps) == 1 else None


def _first(mine: Sequence[_Access], its: Sequence[_Access]) -> Conflict | None:
    return next((c for one in mine for two in its if (c := _conflict(one, two)) is not None), None)


def _race(one: _Access, two: _Access) -> bool:
    """Tell whether accesses of this kind race where they meet."""
    mine, its = one.touch.step.access, two.touch.step.access
    assert mine is not None
    assert its is not None
    return mine.conflicts(its) and not (mine.strong and its.strong)


def _conflict(one: _Access, two: _Access) -> Conflict | None:
    if one.thread // WARP == two.thread // WARP:
        return None
    if (
        one.action is Action.WRITE
        and two.action is Action.WRITE
        and (None in (one.value, two.value) or (one.value, one.offset) == (two.value, two.offset))
    ):
        return None
    return Conflict((one.touch, two.touch), (one.thread, two.thread), max(one.offset, two.offset))


def _in_one_step(touch: Touch) -> list[Conflict]:
    """Return two lanes of one warp that store different values to one place by one instruction."""
    access = touch.step.access
    if touch.values is None or access is None or access.action is not Action.WRITE or access.strong:
        return []
    order = np.argsort(touch.offsets, kind="stable")
    offsets, threads, values = touch.offsets[order], touch.threads[order], touch.values[order]
    alike = (offsets[1:] == offsets[:-1]) & (values[1:] != values[:-1])
    alike &= threads[1:] // WARP == threads[:-1] // WARP
    places = np.flatnonzero(alike)
    if not len(places):
        return []
    place = int(places[0])
    pair = (int(threads[place]), int(threads[place + 1]))
    return [Conflict((touch, touch), pair, int(offsets[place]))]


def _action(touch: Touch) -> Action:
    assert touch.step.access is not None
    return touch.step.access.action


__all__ = ["Conflict", "Conflicts"]
