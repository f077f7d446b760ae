"""Races in runs of a whole block with numbers in global memory, too: what is left open because of data.

Property: a `Race` of `data_races` is in executions of the block for all contents of global memory that are tried (all zeros,
rising, falling and mixed numbers) and two sizes that follow each other, at the same two instructions.

Argument: each run is one that PTX allows (`block_run`), and two accesses of it that nothing orders are a race
(`block_conflicts`). What a host has to keep to (keys in order, places that differ, few numbers) rules out some contents:
zeros are in order, rising numbers differ, and all are kept so small that no access leaves its variable. A race that all
of them have does not hang on such a condition.

Not covered: kernels with fences or acquire and release; contents that break what a kernel asks for in every case,
where nothing is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...launch import Dim
from .accesses import Access, Action
from .block_conflicts import Conflict, Conflicts
from .block_memory import BASE, Contents, OutsideError
from .block_run import BlockRun
from .block_steps import Steps
from .lane_exchanges import WARP
from .lane_integers import Lanes, number
from .pairs import Relation
from .witness import Race, Witnesses

if TYPE_CHECKING:
    from ...view import KernelView

_BOUNDS = (1 << 15, 1024, 256, 128, 64, 32)
"""What numbers in global memory are below: the largest with which all accesses stay inside of their variables."""
_MIXING = 2_654_435_761
_IN_A_ROW = 2
_Found = Mapping[tuple[int, int], Conflict]
_Make = Callable[[int], Contents]


def _rising(bound: int) -> Contents:
    return lambda places: places % number(bound)


def _falling(bound: int) -> Contents:
    return lambda places: number(bound - 1) - places % number(bound)


def _mixed(bound: int) -> Contents:
    return lambda places: (places * number(_MIXING) >> number(9)) % number(bound)


def _zero(bound: int) -> Contents:
    def contents(places: Lanes) -> Lanes:
        return places * number(0)

    return contents


_CONTENTS = (_rising, _zero, _mixed, _falling)


class _DataRaces:
    def __init__(
        self, view: KernelView, accesses: Sequence[Access], block: Dim, witnesses: Witnesses
    ) -> None:
        self._steps = Steps(
            view.facts, view.module, view.function, {access.point: access for access in accesses}
        )
        self._block = block
        self._witnesses = witnesses

    def races(self) -> Iterator[Race]:
        """Yield a race for each two instructions that all runs have one at."""
        if self._steps.orders_by_flags:
            return
        settings = [inputs for _, inputs in self._witnesses.settings(self._block)]
        if not self._witnesses.has_sizes:
            settings = settings[:1]
        middle = len(settings) // 2
        found = self._in_all(settings[middle], None)
        around = [each for each in (middle - 1, middle + 1) if 0 <= each < len(settings)]
        confirmed: dict[tuple[int, int], Conflict] = {}
        left = dict(found)
        for other in around:
            if left:
                confirmed |= self._in_all(settings[other], left)
                left = {points: each for points, each in left.items() if points not in confirmed}
        shown = (
            found if len(settings) < _IN_A_ROW else {each: found[each] for each in found if each in confirmed}
        )
        for _, conflict in sorted(shown.items()):
            yield self._told(conflict, settings[middle])

    def _in_all(self, inputs: Mapping[str, int], only: _Found | None) -> _Found:
        """Return conflicts that runs have with each of the contents; `only` those of some points."""
        for make in _CONTENTS:
            found = self._within(inputs, make, only)
            only = {} if found is None else found
            if not only:
                break
        return only or {}

    def _within(self, inputs: Mapping[str, int], make: _Make, only: _Found | None) -> _Found | None:
        """Return the conflicts of a run that stays inside of its variables, None where none does."""
        for bound in _BOUNDS if make is not _zero else _BOUNDS[:1]:
            try:
                return self._of_run(inputs, make(bound), only)
            except OutsideError:
                continue
        return None

    def _of_run(self, inputs: Mapping[str, int], contents: Contents, only: _Found | None) -> _Found:
        run = BlockRun(self._steps, self._block, inputs, contents)
        conflicts = Conflicts(run.shared.size, self._steps.granule)
        found: dict[tuple[int, int], Conflict] = {}
        for touches in run.intervals():
            for conflict in conflicts.of(touches):
                points = _in_order(conflict)
                if only is None or points in only:
                    found.setdefault(points, conflict)
        return found

    def _told(self, conflict: Conflict, inputs: Mapping[str, int]) -> Race:
        one, two = conflict.touches
        threads, (first, second) = conflict.threads, (one.step.access, two.step.access)
        assert first is not None and second is not None
        relation = Relation.OTHER_WARPS if threads[0] // WARP != threads[1] // WARP else Relation.SAME_WARP
        address = conflict.offset + BASE
        before = (each for each in self._steps.layout.starts.values() if each.start <= address)
        placed = max(before, key=lambda each: each.start)
        place = f"'{placed.name}' + {address - placed.start}"
        if first.action is Action.READ:
            first, second, threads = second, first, (threads[1], threads[0])
        dims = (self._dim(threads[0]), self._dim(threads[1]))
        actions = (first.action, second.action)
        return Race((first.point, second.point), actions, dims, self._block, relation, place, inputs)

    def _dim(self, thread: int) -> Dim:
        x, y, _ = self._block
        return thread % x, thread // x % y, thread // (x * y)


def _in_order(conflict: Conflict) -> tuple[int, int]:
    one, two = conflict.points
    return (one, two) if one <= two else (two, one)


def data_races(
    view: KernelView, accesses: Sequence[Access], block: Dim, witnesses: Witnesses
) -> tuple[Race, ...]:
    """Return races that runs of a whole block have, whatever of some contents global memory has."""
    return tuple(_DataRaces(view, accesses, block, witnesses).races())


__all__ = ["data_races"]
