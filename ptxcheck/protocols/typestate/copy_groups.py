"""Groups of asynchronous copies on one thread's paths: begun, committed, waited for.

Property: each `Slip` is on a feasible path of one thread on which nothing else can have ended the copy: no
call that may synchronise and no opaque instruction. A wait counts as covering a copy unless on every path
from the copy to it so few groups are committed that the copy's own stays among those that the wait leaves
open.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ...ir import Instruction
from ...isa.modifier import Mod
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from .must_alias import Bytes, meeting
from .paths import Paths, Query

if TYPE_CHECKING:
    from ...view import KernelView

_GLOBAL = ("", Mod.GLOBAL)
_RELEASING = (Mod.RELEASE, Mod.ACQ_REL)
_WIDE = (Mod.GPU, Mod.SYS)


@dataclass(frozen=True, slots=True)
class Slip:
    """Something that goes wrong at `point` with the copy begun at `copy`."""

    point: int
    copy: int


@dataclass(frozen=True)
class CopyGroups:
    """Copies of one kind (`cp.async`, or bulk copies that complete in groups) in one kernel."""

    view: KernelView = field(repr=False)
    copies: tuple[int, ...]
    commits: frozenset[int]
    waits: Mapping[int, int]
    """Groups that each wait leaves open, by point; those of `cp.async` that commit by themselves too."""
    ends: frozenset[int]
    """Points that make any copy before them complete some day, whatever the groups: `wait_all`, arrivals."""

    @cached_property
    def unknown(self) -> frozenset[int]:
        """Points that may commit or wait without our seeing it."""
        opaque = {p for p, i in enumerate(self.view.cfg.instructions) if Trait.ANYTHING in i.operation.traits}
        calls = {point for point, said in self.view.facts.calls.items() if said.synchronises is not False}
        return frozenset(opaque | calls)

    @cached_property
    def ways_out(self) -> frozenset[int]:
        """Ends of the kernel; none in a device function, whose caller may go on."""
        return frozenset(self.view.cfg.exits) if self.view.function.is_entry else frozenset()

    def covering(self, copy: int) -> frozenset[int]:
        """Return the points that may make a copy complete."""
        if copy not in self._coverings:
            most = self._commits_since(copy)
            waits = {p for p, kept in self.waits.items() if most.get(p, 0) > kept}
            self._coverings[copy] = self.ends | self.unknown | waits
        return self._coverings[copy]

    @cached_property
    def _coverings(self) -> dict[int, frozenset[int]]:
        return {}

    @cached_property
    def uncommitted(self) -> tuple[Slip, ...]:
        """The copies, one of each row, that a thread never commits before the kernel ends."""
        closing = self.commits | self.ends | self.unknown
        ends = ((self.path(copy, self.ways_out, closing), copy) for copy in self._rows)
        return tuple(Slip(end, copy) for end, copy in ends if end is not None)

    @cached_property
    def _rows(self) -> tuple[int, ...]:
        """The last of the copies that stand in one block under one guard with no commit between."""
        cfg = self.view.cfg
        commits = sorted(self.commits)
        rows = {}
        for copy in self.copies:
            rows[cfg.graph.block_of[copy], cfg.instructions[copy].guard, bisect(commits, copy)] = copy
        return tuple(rows.values())

    def never_awaited(self) -> Iterator[Slip]:
        """Yield the committed copies after which no wait, on any path, can cover them."""
        for copy in self.copies:
            covering = self.covering(copy)
            if any(self.view.cfg.reaches(copy, point) for point in covering):
                continue
            committed = self.path(copy, self.commits, frozenset())
            found = self.path(copy, self.ways_out, frozenset()) if committed is not None else None
            if found is not None:
                yield Slip(found, copy)

    def unawaited(self) -> Iterator[Slip]:
        """Yield copies, one of each row, from which a path leads to the end with no wait that may cover it."""
        for copy in self._rows:
            found = self.path(copy, self.ways_out, self.covering(copy))
            if found is not None:
                yield Slip(found, copy)

    def touched(self, copied: Mapping[int, Bytes], accesses: tuple[Bytes, ...]) -> Iterator[Slip]:
        """Yield accesses to bytes of a copy, at least `copied`, on a path with no wait that may cover it."""
        for copy in self.copies:
            for access in accesses if copy in copied else ():
                if self._reaches_uncovered(copy, copied[copy], access):
                    yield Slip(access.point, copy)

    def first_touched(self, copied: Mapping[int, Bytes], accesses: tuple[Bytes, ...]) -> Iterator[Slip]:
        """Yield the same, but each point once, with the first such copy: others are not looked for."""
        told: set[int] = set()
        for copy in self.copies:
            for access in accesses if copy in copied else ():
                if access.point not in told and self._reaches_uncovered(copy, copied[copy], access):
                    told.add(access.point)
                    yield Slip(access.point, copy)

    def _reaches_uncovered(self, copy: int, bytes_of: Bytes, access: Bytes) -> bool:
        if not self.view.cfg.reaches(copy, access.point):
            return False
        met = meeting(self.view, bytes_of, access)
        if met is None:
            return False
        barred = self.covering(copy) | met.barred
        query = Query(frozenset({copy}), frozenset({access.point}), barred, threads=met.threads)
        return self.view.get(Paths.of).find(query) is not None

    def without_effect(self) -> Iterator[Slip]:
        """Yield the waits that leave more groups open than can be, on all paths, with a copy pending."""
        most = self._most_commits(self.view.cfg.order[:1], {})
        for wait, kept in self.waits.items():
            if most.get(wait, 0) > kept or self.unknown:
                continue
            for copy in self.copies:
                if self.path(copy, frozenset({wait}), self.ends) is not None:
                    yield Slip(wait, copy)
                    break

    def released(self) -> Slip | None:
        """Return a release at GPU scope or wider on a path from a copy with no wait that may cover any."""
        instructions = enumerate(self.view.cfg.instructions)
        points = frozenset(p for p, i in instructions if _releases(i)) if self.copies else frozenset()
        if not points:
            return None
        covering = frozenset[int]().union(*(self.covering(copy) for copy in self._rows))
        found = self.view.get(Paths.of).find(Query(frozenset(self._rows), points, covering))
        return None if found is None or found.first is None else Slip(found.then, found.first)

    def path(self, copy: int, then: frozenset[int], barred: frozenset[int]) -> int | None:
        """Return where a feasible path from a copy ends, None when there is none."""
        witness = self.view.get(Paths.of).find(Query(frozenset({copy}), then, barred))
        return None if witness is None else witness.then

    # ---- how many groups a path may commit

    def _commits_since(self, copy: int) -> Mapping[int, int]:
        """Return, for each wait after a copy, the most groups that a path to it may have committed."""
        block = self.view.cfg.graph.block_of[copy]
        found: dict[int, int] = {}
        count = self._within(block, 0, found, copy)
        return self._most_commits(self.view.cfg.successors[block], found, count)

    def _most_commits(
        self, starts: tuple[int, ...], found: dict[int, int], count: int = 0
    ) -> Mapping[int, int]:
        entering: dict[int, int] = {}
        work = [(block, count) for block in starts]
        while work:
            block, before = work.pop()
            if before <= entering.get(block, -1) or block == self.view.cfg.exit:
                continue
            entering[block] = before
            after = self._within(block, before, found)
            work.extend((target, after) for target in self.view.cfg.successors[block])
        return found

    def _within(self, block: int, count: int, found: dict[int, int], after: int = -1) -> int:
        """Count on through one block, from `after` on."""
        for point in self._steps.get(block, ()):
            if point <= after:
                continue
            if point in self.commits:
                count = min(count + 1, self._limit)
            elif count > found.get(point, -1):
                found[point] = count
        return count

    @cached_property
    def _steps(self) -> Mapping[int, tuple[int, ...]]:
        found: dict[int, list[int]] = {}
        for point in sorted(self.commits | self.waits.keys()):
            found.setdefault(self.view.cfg.graph.block_of[point], []).append(point)
        return {block: tuple(points) for block, points in found.items()}

    @cached_property
    def _limit(self) -> int:
        return max(self.waits.values(), default=0) + 1


def bulk_groups(view: KernelView) -> CopyGroups:
    """Return the bulk copies of a kernel that complete in groups."""
    copies = _running(view, lambda i: i.operation.has(Mod.BULK_GROUP) and _reads(i))
    commits = _points(view, Op.CP_ASYNC_BULK_COMMIT_GROUP)
    return CopyGroups(view, copies, commits, _waits(view, Op.CP_ASYNC_BULK_WAIT_GROUP), frozenset())


def full_bulk_groups(view: KernelView) -> CopyGroups:
    """Return the same with those waits alone after which the written bytes may be read."""
    groups = view.get(bulk_groups)
    instructions = view.cfg.instructions
    full = {p: n for p, n in groups.waits.items() if not instructions[p].operation.has(Mod.READ)}
    return CopyGroups(view, groups.copies, groups.commits, full, frozenset())


def wrong_waits(view: KernelView) -> tuple[Slip, ...]:
    """Return waits for a kind of copies that the kernel has none of, behind one of the other kind.

    Nothing else waits for that one on any path.
    """
    return tuple(_wrong_waits(view))


def _wrong_waits(view: KernelView) -> Iterator[Slip]:
    bulk, small = view.get(bulk_groups), view.get(small_groups)
    for_all = frozenset(
        p for p in small.ends if view.cfg.instructions[p].operation.op is Op.CP_ASYNC_WAIT_ALL
    )
    for mine, other, ends in ((bulk, small, for_all), (small, bulk, frozenset())):
        waits = frozenset(other.waits) | ends
        for copy in mine.copies if waits and not other.copies else ():
            if any(view.cfg.reaches(copy, point) for point in mine.covering(copy)):
                continue
            found = mine.path(copy, waits, frozenset())
            if found is not None:
                yield Slip(found, copy)


def small_groups(view: KernelView) -> CopyGroups:
    """Return the `cp.async` copies of a kernel; an arrival that an mbarrier is to get ends them too."""
    copies = _running(view, lambda i: i.operation.op is Op.CP_ASYNC)
    waits_for_all = _points(view, Op.CP_ASYNC_WAIT_ALL)
    commits = _points(view, Op.CP_ASYNC_COMMIT_GROUP) | waits_for_all
    ends = waits_for_all | _points(view, Op.CP_ASYNC_MBARRIER_ARRIVE)
    return CopyGroups(view, copies, commits, _waits(view, Op.CP_ASYNC_WAIT_GROUP), ends)


def _reads(instruction: Instruction) -> bool:
    return Trait.ASYNC_PROXY_READ in instruction.operation.traits


def _releases(instruction: Instruction) -> bool:
    operation = instruction.operation
    if not operation.traits & {Trait.STORE, Trait.ATOMIC} or operation.slots.get("space", "") not in _GLOBAL:
        return False
    return operation.slots.get("sem", "") in _RELEASING and operation.slots.get("scope", "") in _WIDE


def _running(view: KernelView, wanted: Callable[[Instruction], bool]) -> tuple[int, ...]:
    """Return the points of wanted instructions that some thread executes."""
    instructions = enumerate(view.cfg.instructions)
    return tuple(p for p, i in instructions if wanted(i) and not view.facts.never_runs(p))


def _points(view: KernelView, op: Op) -> frozenset[int]:
    return frozenset(p for p, i in enumerate(view.cfg.instructions) if i.operation.op is op)


def _waits(view: KernelView, op: Op) -> Mapping[int, int]:
    kept = {p: view.facts.constant(p, view.cfg.instructions[p].get("n")) for p in _points(view, op)}
    return {point: -1 if number is None else number for point, number in kept.items()}


__all__ = ["CopyGroups", "Slip", "bulk_groups", "full_bulk_groups", "small_groups", "wrong_waits"]
