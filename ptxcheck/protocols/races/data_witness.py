"""Races in runs of a whole block with numbers in global memory, too: what is left open because of data.

Property: a `Race` of `DataWitness.races` is in executions of the block for two sizes that follow each other, of the
same access, whatever of `_CONDITIONS` a host keeps to: with contents of global memory that are sorted, sorted the other
way, all different, sorted and different, flags, and numbers that repeat. For one of these sizes, numbers that are
multiples of a power of two have it, too.

Argument: each run is one that PTX allows (`block_run`), and two accesses of it that nothing orders are a race
(`block_conflicts`). A host may have to keep to a condition, and a race with other contents is none of the kernel then;
so each condition has contents that keep it and have the race. Numbers are so small that no access leaves its
variable, which is what kernels ask for that take places from memory; those that take places from some of the bits ask
for numbers that differ in these, so multiples of each power of two have the race, too. Shared memory of open size is
taken to be as long as the run with zeros uses it. A kernel that changes global memory by atomic operations, or waits
for it, may ask that it begins with zeros: those have the race, too. Where numbers that are sorted and different can be
nothing but the ranks of the elements, that is no condition.

A run counts towards the effort, and where that ends between two runs nothing is told: what some contents show is no
race whatever is loaded.

What only some contents show may be no race of the kernel, as the host may keep to a condition: `with_some_data` tells
of it, so that who knows the data can decide.

Not covered: kernels with fences, acquire and release, or loops that wait for a word; conditions of other kinds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from ...launch import Dim
from ...terms.effort import Effort, Work
from ...verdict import Reason
from .accesses import Access, Action
from .block_conflicts import Conflict, Conflicts
from .block_memory import BASE, Contents, OutsideError, dynamic_offset
from .block_run import BlockRun, Touch
from .block_steps import Steps
from .lane_exchanges import WARP
from .lane_integers import number
from .made_up_data import WRITTEN, Data, Ranks, zeros
from .pairs import Pair, Relation
from .witness import Race, Witnesses

if TYPE_CHECKING:
    from ...view import KernelView

_BOUNDS = (1 << 15, 1024, 512, 256, 128, 64, 32)
"""What numbers in global memory are below: the largest with which all accesses stay inside of their variables."""
_CONDITIONS: tuple[tuple[Data, ...], ...] = (
    (Data.MIXED,),
    (Data.FALLING, Data.ZEROS),
    (Data.RISING, Data.ZEROS),
    (Data.RISING, Data.FALLING),
    (Data.RISING, Data.SPREAD),
    (Data.ZEROS, Data.BITS),
)
"""By contents that keep them: numbers that repeat, fall, rise, differ, rise and differ, are flags."""
_SHIFTS = range(1, 13)
_IN_A_ROW = 2
_Found = dict[int, Conflict]
"""By the points of both accesses."""


class DataWitness:
    """Runs of one block: what they show, and what they rule out."""

    def __init__(
        self,
        view: KernelView,
        accesses: Sequence[Access],
        block: Dim,
        witnesses: Witnesses,
        effort: Effort,
    ) -> None:
        points = {access.point: access for access in accesses}
        self.steps = self._steps = Steps(view.facts, view.module, view.function, points)
        self._accesses = accesses
        self._block = block
        self._witnesses = witnesses
        self._effort = effort
        self._begun: dict[tuple[tuple[str, int], ...], tuple[Ranks, int | None, _Found] | None] = {}
        """Runs with zeros, by the numbers that the host passes."""
        self._shown: dict[frozenset[int], dict[Data, tuple[Conflict, Mapping[str, int]]]] = {}
        """Races of all runs that were made, by both points and contents."""

    @cached_property
    def _settings(self) -> Sequence[Mapping[str, int]]:
        settings = [inputs for _, inputs in self._witnesses.settings(self._block)]
        return settings if self._witnesses.has_sizes else settings[:1]

    def rules_out(self, pair: Pair) -> bool:
        """Tell whether the two accesses of a pair do not race in some run, so that none has to be sought with any data.

        What races whatever is loaded, for two sizes that follow each other, does in a run with the middle one.
        """
        one, two = pair.points
        if pair.relation is Relation.SAME_WARP and one != two:
            return False
        found = self._seen
        return found is not None and frozenset(pair.points) not in found

    @cached_property
    def _seen(self) -> frozenset[frozenset[int]] | None:
        """The points of accesses that race in one run to the end, or store what is not known; None without one."""
        inputs = self._settings[len(self._settings) // 2]
        run = BlockRun(self._steps, self._block, inputs, lambda places: places & number(_BOUNDS[0] - 1))
        conflicts = Conflicts(run.shared.size, self._steps.granule)
        found: set[frozenset[int]] = set()
        vague: set[int] = set()
        try:
            for touches in self._intervals(run):
                if run.has_stopped:
                    return None
                found |= {frozenset(each.points) for each in conflicts.of(touches)}
                vague |= {each.step.point for each in touches if each.values is None and _stores(each)}
        except OutsideError:
            return None
        if not run.is_complete or not conflicts.is_exhaustive:
            return None
        stores = {access.point for access in self._accesses if access.action is Action.WRITE}
        return frozenset(found) | {frozenset({one, two}) for one in vague for two in stores}

    def races(self) -> Iterator[Race]:
        """Yield a race for each access that has one in all runs."""
        if self._steps.orders_by_flags:
            return
        settings = self._settings
        middle = len(settings) // 2
        found = self._far_apart(settings[middle], self._whatever_data(settings[middle], None))
        confirmed: set[int] = set() if len(settings) >= _IN_A_ROW else {*found}
        for other in (middle - 1, middle + 1):
            left = {*found} - confirmed
            if left and 0 <= other < len(settings):
                confirmed |= {*self._whatever_data(settings[other], left)}
        if self._effort.is_over:
            return
        told = {conflict.points: conflict for point, conflict in found.items() if point in confirmed}
        for conflict in told.values():
            yield self._told(conflict, settings[middle])

    def with_some_data(self) -> Iterator[Race]:
        """Yield the races of runs that `races` has made, one for each pair of points, whatever other runs show."""
        for shown in self._shown.values():
            conflict, inputs = shown.get(Data.MIXED) or next(iter(shown.values()))
            contents = " or ".join(WRITTEN[data] for data in Data if data in shown)
            yield replace(self._told(conflict, inputs), only_with=contents)

    def _whatever_data(self, inputs: Mapping[str, int], only: set[int] | None) -> _Found:
        """Return the races that each condition on data leaves; `only` some."""
        begun = self._with_zeros(inputs)
        if begun is None:
            return {}
        ranks, dynamic, with_zeros = begun
        runs: dict[Data, _Found] = {Data.ZEROS: with_zeros}
        found: _Found | None = None
        conditions = (*_CONDITIONS, (Data.ZEROS,)) if self._steps.polls else _CONDITIONS
        for condition in conditions:
            kept: set[int] = set()
            for data in condition:
                if found is not None and kept.issuperset(found):
                    break
                if data not in runs:
                    runs[data] = self._within(inputs, ranks, data, dynamic)
                kept |= {*runs[data]}
            if found is None:
                found = {
                    point: each for point, each in runs[condition[0]].items() if only is None or point in only
                }
            found = {point: each for point, each in found.items() if point in kept}
            if not found or self._effort.is_over:
                break
        return found or {}

    def _far_apart(self, inputs: Mapping[str, int], found: _Found) -> _Found:
        """Return the races that numbers have, too, which differ by any power of two."""
        begun = self._with_zeros(inputs) if found else None
        if begun is None:
            return {}
        ranks, dynamic, _ = begun
        for shift in _SHIFTS:
            contents = ranks.scaled(shift)
            if not found or contents is None or self._effort.is_over:
                break
            try:
                _, its = self._of_run(inputs, contents, dynamic)
            except OutsideError:
                continue
            found = {point: each for point, each in found.items() if point in its}
        return found

    def _with_zeros(self, inputs: Mapping[str, int]) -> tuple[Ranks, int | None, _Found] | None:
        """Return the ranks of what a run loads, how much shared memory it uses, and its races; None for no such run."""
        key = tuple(sorted(inputs.items()))
        if key not in self._begun:
            try:
                run, found = self._of_run(inputs, zeros, None)
                self._note(found, Data.ZEROS, inputs)
                ranks = Ranks(run.outside.loaded, self._steps.element)
                self._begun[key] = ranks, self._length_of_dynamic(run), found
            except OutsideError:
                self._begun[key] = None
        return self._begun[key]

    def _length_of_dynamic(self, run: BlockRun) -> int | None:
        start = dynamic_offset(self._steps.layout)
        return None if start is None else max(run.reached - start, 0)

    def _within(self, inputs: Mapping[str, int], ranks: Ranks, data: Data, dynamic: int | None) -> _Found:
        """Return the races of a run that stays inside of its variables, with numbers as large as that allows."""
        for bound in _BOUNDS:
            contents = ranks.contents(data, bound)
            if contents is None:
                break
            try:
                _, found = self._of_run(inputs, contents, dynamic)
            except OutsideError:
                continue
            self._note(found, data, inputs)
            return found
        return self._within(inputs, ranks, Data.FALLING, dynamic) if data is Data.SPREAD else {}

    def _note(self, found: _Found, data: Data, inputs: Mapping[str, int]) -> None:
        for conflict in found.values():
            self._shown.setdefault(frozenset(conflict.points), {}).setdefault(data, (conflict, inputs))

    def _of_run(
        self, inputs: Mapping[str, int], contents: Contents, dynamic: int | None
    ) -> tuple[BlockRun, _Found]:
        run = BlockRun(self._steps, self._block, inputs, contents, dynamic)
        conflicts = Conflicts(run.shared.size, self._steps.granule)
        found: _Found = {}
        for touches in self._intervals(run):
            for conflict in conflicts.of(touches):
                for point in conflict.points:
                    found.setdefault(point, conflict)
        return run, found

    def _intervals(self, run: BlockRun) -> Iterator[list[Touch]]:
        """Yield the touches of each interval of a run, and count its steps however it ends. Raises OutsideError."""
        before = run.steps_taken
        try:
            for touches in run.intervals():
                self._effort.spend(Work.BLOCK_STEP, run.steps_taken - before)
                before = run.steps_taken
                yield touches
        finally:
            self._effort.spend(Work.BLOCK_STEP, run.steps_taken - before)

    def _told(self, conflict: Conflict, inputs: Mapping[str, int]) -> Race:
        one, two = conflict.touches
        threads, (first, second) = conflict.threads, (one.step.access, two.step.access)
        assert first is not None
        assert second is not None
        relation = Relation.OTHER_WARPS if threads[0] // WARP != threads[1] // WARP else Relation.SAME_WARP
        address = conflict.offset + BASE
        before = (each for each in self._steps.layout.starts.values() if each.start <= address)
        placed = max(before, key=lambda each: each.start)
        place = f"'{placed.name}' + {address - placed.start}"
        if first.action is Action.READ:
            first, second, threads = second, first, (threads[1], threads[0])
        dims = (self._dim(threads[0]), self._dim(threads[1]))
        actions = (first.action, second.action)
        return Race(
            (first.point, second.point), actions, dims, self._block, relation, place, inputs, with_data=True
        )

    def _dim(self, thread: int) -> Dim:
        x, y, _ = self._block
        return thread % x, thread // x % y, thread // (x * y)


def _stores(touch: Touch) -> bool:
    access = touch.step.access
    return access is not None and access.action is Action.WRITE


_MOST_TOLD = 3
"""Races of one kind that a verdict names."""


def told_briefly(races: Sequence[Race]) -> Iterator[Reason]:
    """Yield a reason for the first races, of writes that differ where there are enough, and one for the rest."""
    by_write = {race.points[0]: race for race in reversed(races)}
    first = [race for race in races if by_write[race.points[0]] is race][:_MOST_TOLD]
    yield from (Reason(race.message, race.points[0]) for race in first)
    if len(races) > len(first):
        left = len(races) - len(first)
        text = f"{left} more {'pair' if left == 1 else 'pairs'} of accesses may meet like that"
        yield Reason(text, next(race.points[0] for race in races if race not in first))


__all__ = ["DataWitness", "told_briefly"]
