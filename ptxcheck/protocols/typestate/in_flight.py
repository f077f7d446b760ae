"""Registers that an asynchronous instruction may still read or write, and who touches them too early.

Property: each `Touch` is an access to such a register on a path that a thread can take: either all paths to
the access leave the work unfinished, or all paths from the work to the end of the kernel come to the access and
leave it unfinished, or one path from the work to the access was found to be feasible (see `paths`) that passes no
wait which may cover the work.

Work is `OPEN` until a commit puts it into a group; then its mark's age counts the groups that were committed
after that one, and a wait for all but the newest N groups covers ages from N on. Plain moves are no accesses:
the copy is part of the same work. Calls that may synchronise end it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ...cfg import States
from ...ir import Register
from . import register_flow
from .paths import Paths, Query
from .register_flow import (
    CLEAN,
    Action,
    Behind,
    Mark,
    Marks,
    State,
    in_order,
    is_move,
    moves,
)

if TYPE_CHECKING:
    from ...view import KernelView

OPEN = -1
_OLDEST = 16
"""Ages are not told apart beyond this one."""


@dataclass(frozen=True, slots=True)
class Work:
    """Asynchronous work on registers: `started` gives what each point starts, by point."""

    started: Mapping[int, frozenset[Register]]
    commits: frozenset[int] | None
    """None when the work needs no group: it starts at age 0."""
    waits: Mapping[int, int]
    """Each wait, with the groups that it leaves open."""
    reads_count: bool = True
    """Reading is an access, too: the work writes the registers."""
    chains: bool = False
    """Another start on the same registers is no access: such instructions follow each other in order."""


@dataclass(frozen=True, slots=True)
class Touch:
    """An access before the work of `site` is finished; `open` when the work was in no group yet."""

    point: int
    site: int
    register: Register
    open: bool


class InFlight:
    """All touches of one kind of work."""

    def __init__(self, view: KernelView, work: Work) -> None:
        self._view = view
        self._work = work
        self._flows: dict[int, States[Behind]] = {}

    @cached_property
    def touches(self) -> tuple[Touch, ...]:
        """The first touch in each block, in order of points."""
        if not self._work.started:
            return ()
        found: dict[int, Touch] = {}
        block_of = self._view.cfg.graph.block_of
        for point, state in self._states.each():
            block = block_of[point]
            if not state or block in found or point not in self._accesses:
                continue
            touch = self._touch(point, state)
            if touch is not None:
                found[block] = touch
        return tuple(sorted(found.values(), key=lambda touch: touch.point))

    @cached_property
    def open_accesses(self) -> tuple[int, ...]:
        """Points of accesses to which some path may lead, feasible or not, that leaves the work unfinished."""
        found = []
        for point, state in self._states.each() if self._work.started else ():
            registers = self._accesses.get(point, frozenset())
            if not state or not registers or self._view.facts.never_runs(point) or self._moves_on(point):
                continue
            if any(set(state.get(register, ())) - {CLEAN} for register in registers):
                found.append(point)
        return tuple(sorted(found))

    # ---- marks

    @cached_property
    def _tracked(self) -> frozenset[Register]:
        """Registers of the work, and those that moves copy them to."""
        found = set().union(*self._work.started.values())
        targets: dict[Register, set[Register]] = {}
        if self._work.reads_count:
            for _, sources, copies in moves(self._view):
                for source in sources:
                    targets.setdefault(source, set()).update(copies)
        work = list(found)
        while work:
            new = targets.get(work.pop(), set()) - found
            found |= new
            work += new
        return frozenset(found)

    @cached_property
    def _accesses(self) -> Mapping[int, frozenset[Register]]:
        """Tracked registers that each point touches, other than by a move of them or a chained start."""
        found: dict[int, frozenset[Register]] = {}
        tracked, started = self._tracked, self._work.started
        for point, instruction in enumerate(self._view.body.instructions):
            touched = tracked.intersection(instruction.writes())
            if self._work.reads_count and not is_move(instruction):
                touched |= tracked.intersection(instruction.reads())
            if self._work.chains:
                touched -= started.get(point, frozenset())
            if touched:
                found[point] = touched
        return found

    @cached_property
    def _states(self) -> States[State]:
        return register_flow.flow(self._view.cfg, self._actions)

    @cached_property
    def _actions(self) -> Mapping[int, Action]:
        work = self._work
        first = 0 if work.commits is None else OPEN
        found: dict[int, Action] = {}
        for point, registers in self._writes():
            found[point] = register_flow.cleared(registers)
        if work.reads_count:
            for point, sources, targets in moves(self._view):
                if not self._tracked.isdisjoint(sources | targets):
                    found[point] = register_flow.moved(self._view.body.instructions[point])
        for point, registers in work.started.items():
            found[point] = register_flow.marked(registers, Mark(point, first))
        for point in work.commits or ():
            found[point] = register_flow.renewed(_committed)
        for point, left in work.waits.items():
            found[point] = register_flow.renewed(_waited(left))
        for point in register_flow.unknown_calls(self._view):
            found[point] = _forgotten
        return found

    def _writes(self) -> Iterator[tuple[int, frozenset[Register]]]:
        for point in self._accesses:
            written = self._tracked.intersection(self._view.body.instructions[point].writes())
            if written:
                yield point, written

    # ---- accesses

    def _touch(self, point: int, state: State) -> Touch | None:
        if self._view.facts.never_runs(point):
            return None
        tried: set[Mark] = set()
        for register in in_order(self._accesses[point]):
            marks = state.get(register)
            if marks is None or (tried and tried.issuperset(marks)):
                continue
            if self._moves_on(point):
                continue
            if CLEAN not in marks:
                worst = min(marks, key=lambda mark: (mark.age, mark.site))
                return Touch(point, worst.site, register, worst.age == OPEN)
            found = self._unavoidable(point, register, marks - tried)
            found = found or self._feasible(point, register, marks - tried)
            if found is not None:
                return found
            tried |= marks
        return None

    def _moves_on(self, point: int) -> bool:
        """Tell whether a point only moves registers of the work about."""
        instruction = self._view.body.instructions[point]
        return is_move(instruction) and not self._tracked.isdisjoint(instruction.reads())

    def _unavoidable(self, point: int, register: Register, marks: Set[Mark]) -> Touch | None:
        """Look for work that no thread ends behind without the access, with nothing on any way that finishes it."""
        if self._view.body.instructions[point].guard is not None:
            return None
        for mark in sorted(marks - {CLEAN}):
            if self._view.facts.never_runs(mark.site):
                continue
            if not self._view.cfg.postdominates(point, mark.site):
                continue
            behind = self._behind(mark.site).before(point)
            if behind is not None and CLEAN not in behind.state.get(register, {CLEAN}):
                return Touch(point, mark.site, register, mark.age == OPEN)
        return None

    def _behind(self, site: int) -> States[Behind]:
        found = self._flows.get(site)
        if found is None:
            found = self._flows[site] = register_flow.flow_from(self._view.cfg, self._actions, site)
        return found

    def _feasible(self, point: int, register: Register, marks: Set[Mark]) -> Touch | None:
        """Look for a path from the start of some work on the very register."""
        others = self._definers(register)
        calls = register_flow.unknown_calls(self._view)
        for mark in sorted(marks - {CLEAN}):
            if register not in self._work.started.get(mark.site, frozenset()):
                continue
            barred = (others | calls | self._covering(mark.site)) - {mark.site}
            if mark.age == OPEN:
                barred |= self._work.commits or frozenset()
            query = Query(frozenset({mark.site}), frozenset({point}), barred - {point})
            if self._view.get(Paths.of).find(query) is not None:
                return Touch(point, mark.site, register, mark.age == OPEN)
        return None

    def _definers(self, register: Register) -> frozenset[int]:
        return self._defining.get(register, frozenset())

    @cached_property
    def _defining(self) -> Mapping[Register, frozenset[int]]:
        found: dict[Register, set[int]] = {}
        for point, instruction in enumerate(self._view.body.instructions):
            for register in self._tracked.intersection(instruction.writes()):
                found.setdefault(register, set()).add(point)
        return {register: frozenset(points) for register, points in found.items()}

    def _covering(self, site: int) -> frozenset[int]:
        """Return the waits that cover the work of a site on some path."""
        return self._covered.get(site, frozenset())

    @cached_property
    def _covered(self) -> Mapping[int, frozenset[int]]:
        found: dict[int, set[int]] = {}
        for point, state in self._states.each():
            left = self._work.waits.get(point)
            if left is None:
                continue
            distinct: set[Marks] = set(state.values())
            for mark in frozenset().union(*distinct):
                if mark is not CLEAN and _is_covered(mark, left):
                    found.setdefault(mark.site, set()).add(point)
        return {site: frozenset(points) for site, points in found.items()}


def _committed(mark: Mark) -> Mark:
    return mark._replace(age=min(mark.age + 1, _OLDEST))


def _waited(left: int) -> Callable[[Mark], Mark]:
    return lambda mark: CLEAN if _is_covered(mark, left) else mark


def _is_covered(mark: Mark, left: int) -> bool:
    return mark.age != OPEN and mark.age >= min(left, _OLDEST)


def _forgotten(state: State) -> State:
    return {}


__all__ = ["OPEN", "InFlight", "Touch", "Work"]
