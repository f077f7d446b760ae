"""Arguments that a mutant keeps a kernel right, given that the kernel is right, from its control flow alone.

Each looks at what lies between barriers and waits (see `effects`), never at runs: the verifier that is judged by the
mutants has no part in it. An argument that does not apply says nothing. What they show:

* a barrier left out or moved: nothing that it keeps behind it may not come earlier;
* a statement moved across a barrier, or across another one that orders something else of its own thread;
* groups of `cp.async`: each wait covers the copies that it covered;
* groups of bulk copies, and loads of tensor memory, where there is nothing to wait for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from typing import TypeAlias

from ptxcheck.cfg import Facts
from ptxcheck.cfg.cfg import Cfg
from ptxcheck.ir import Immediate, Instruction, Register
from ptxcheck.launch import Launch
from ptxcheck.opcodes.op import Op
from ptxcheck.opcodes.spec import Trait
from ptxcheck.view import KernelView

from .effects import Kind, conflict, follows_bulk_copy, is_fenced_before, is_proxy_fence, starts_bulk_group
from .operators import Mutant, entered_at, last_step, next_step
from .regions import Group, Meetings, Region
from .subject import Subject, Unit

_BARRIERS = frozenset({Op.BAR_SYNC})
_BULK_GROUPS = frozenset({Op.CP_ASYNC_BULK_COMMIT_GROUP, Op.CP_ASYNC_BULK_WAIT_GROUP})
_CP_WAITS = frozenset({Op.CP_ASYNC_WAIT_GROUP, Op.CP_ASYNC_WAIT_ALL})
_CP_GROUPS = _CP_WAITS | {Op.CP_ASYNC_COMMIT_GROUP}
_LOADS = frozenset({Op.TCGEN05_LD, Op.TCGEN05_LD_RED})
_ARRIVALS = frozenset({Kind.EXPECTS, Kind.ARRIVES})
_WAITS = frozenset({Kind.AWAITS, Kind.AWAITS_ALIKE})
_COMMITS = frozenset({Op.CP_ASYNC_COMMIT_GROUP, Op.CP_ASYNC_BULK_COMMIT_GROUP})
_UNRELATED: tuple[tuple[set[Kind], set[Kind]], ...] = (
    ({Kind.FENCES}, {Kind.EXPECTS}),
    ({Kind.ENDS_TENSOR}, {Kind.INITIALISES}),
    ({Kind.ENDS_TENSOR}, {Kind.INVALIDATES}),
    ({Kind.ENDS_READS}, {Kind.INVALIDATES}),
)
"""Nobody learns of the first by the second: a phase that lacks bytes cannot end, and others come behind a meeting."""
_LANES = 128
"""Of tensor memory: each warp of a warpgroup has a quarter of its own."""
_LATER = "later"
_EARLIER = "earlier"


@dataclass(frozen=True)
class Redundancy:
    """What can be shown of the mutants of one kernel, for one launch."""

    subject: Subject
    launch: Launch

    @cached_property
    def facts(self) -> Facts:
        return KernelView(self.subject.module, self.subject.function, self.launch).facts

    @cached_property
    def meetings(self) -> Meetings:
        return Meetings(self.facts)

    @property
    def cfg(self) -> Cfg:
        return self.facts.cfg

    def why(self, mutant: Mutant) -> str | None:
        """Return why a mutant keeps the kernel right, None when no argument here shows it."""
        arguments = (
            self._barrier,
            self._across_barrier,
            self._own_order,
            self._repeated_fence,
            self._groups,
            self._empty_groups,
            self._settled_loads,
        )
        return next((reason for each in arguments if (reason := each(mutant)) is not None), None)

    # ---- barriers

    def _barrier(self, mutant: Mutant) -> str | None:
        group = self.meetings.group(mutant.point)
        if group is None:
            return None
        if mutant.operator == "duplicate-barrier":
            return "Every thread that takes part meets the others once more at the same place."
        if mutant.operator == "next-number" and not self.meetings.uses(group[0] + 1):
            return "Every thread that takes part meets the others here, at a number that nothing else uses."
        before, behind = self.meetings.before(group, mutant.point), self.meetings.behind(group, mutant.point)
        if mutant.operator == "drop-barrier":
            return self._unless_conflict(before, behind, "left out")
        if mutant.operator == "out-of-loop" and self._may_meet_in_front_of_loop(group, mutant.point):
            return self._unless_conflict(before, behind, "left out of the loop")
        moved = self._moved_across(mutant) or self._moved_to_more_ways(mutant, group)
        if moved is None:
            if not self._moved_to_fewer_ways(mutant, group):
                return None
            return self._unless_conflict(before, behind, "left out, and met where it changes nothing")
        if any(self.meetings.group(point) == group for point in moved):
            return self._unless_conflict(before, behind, "moved to the next one")
        across = self.meetings.straight(group, moved)
        if (across.kinds | before.kinds) & {Kind.AWAITS, Kind.ANYTHING}:
            return None
        if mutant.operator == "later-barrier":
            return self._unless_conflict(before, across, "moved")
        return self._unless_conflict(across, behind, "moved")

    def _may_meet_in_front_of_loop(self, group: Group, point: int) -> bool:
        """Tell whether one more meeting in front of the loop stops nobody: none waits there for one behind it."""
        head = entered_at(self.subject, point)
        return head is not None and self._may_meet_behind(group, head - 1)

    def _moved_to_more_ways(self, mutant: Mutant, group: Group) -> range | None:
        """Return what a barrier was moved across, where others come that way, too: they meet once more."""
        step = self._passed(mutant)
        if step is None or mutant.operator != "later-barrier":
            return None
        entering = self.cfg.predecessors[self.cfg.block_at(step.last + 1).index]
        alike = all(self._may_meet_behind(group, self.cfg.blocks[each].last) for each in entering)
        return range(mutant.point + 1, step.last + 1) if alike else None

    def _moved_to_fewer_ways(self, mutant: Mutant, group: Group) -> bool:
        """Tell whether a barrier was moved in front of a label, where one more meeting stops nobody."""
        step = self._passed(mutant)
        is_earlier = step is not None and mutant.operator == "earlier-barrier" and step.first > 0
        return step is not None and is_earlier and self._may_meet_behind(group, step.first - 1)

    def _may_meet_behind(self, group: Group, point: int) -> bool:
        """Tell whether one more meeting behind a point stops nobody: all come there, none waits for one behind it."""
        instruction = self.cfg.instructions[point]
        poll = self.subject.unit_of.get(point - 1) if Trait.BRANCH in instruction.operation.traits else None
        if poll is not None and poll.first != poll.last:
            point = point - 1
        elif Trait.BRANCH not in instruction.operation.traits:
            return self.meetings.meets(group, point) and self._is_free_before(group, point)
        return self.meetings.together(group, point) and self._is_free_before(group, point)

    def _is_free_before(self, group: Group, point: int) -> bool:
        """Tell whether no thread waits for another one alone between the last meeting and a point."""
        return not self.meetings.before(group, point).kinds & {Kind.AWAITS, Kind.ANYTHING}

    def _unless_conflict(self, before: Region, behind: Region, what: str) -> str | None:
        if self._conflict(before, behind):
            return None
        return f"The barrier is {what}: nothing up to the next one must stay behind anything from the last one on."

    def _conflict(self, before: Region, behind: Region) -> bool:
        """Tell whether something behind may not come before something in front, done by another thread."""
        if behind.kinds & _WAITS and self._arrives_twice(before):
            return True
        alone = before.group[1] is None and self.meetings.is_alone
        own_lanes = self.launch.max_threads is not None and self.launch.max_threads <= _LANES
        return any(
            conflict(a, b, alone=alone, own_lanes=own_lanes)
            for a in set(before.effects)
            for b in set(behind.effects)
        )

    def _arrives_twice(self, region: Region) -> bool:
        """Tell whether one mbarrier may be arrived at twice in a region: a wait could then be a phase too early."""
        inside = frozenset(region.points)
        arrivals = [
            (point, effect.place)
            for point in region.points
            for effect in self.meetings.straight(region.group, (point,)).effects
            if effect.kind in _ARRIVALS
        ]
        return any(
            _reaches(self.cfg, p, q, inside) and (p == q or a is None or b is None or not a.apart(b))
            for p, a in arrivals
            for q, b in arrivals
        )

    def _moved_across(self, mutant: Mutant) -> range | None:
        """Return the points that a statement was moved across, with the step that it was moved behind or before.

        None where it does not lie on the same ways any more: it goes in front of the label of a step.
        """
        step = self._passed(mutant)
        if step is None:
            return None
        if mutant.operator.startswith(_LATER):
            return (
                range(mutant.point + 1, step.last + 1) if self._is_entered_from(step.last + 1, step) else None
            )
        return range(step.first, mutant.point) if self._is_entered_from(step.first, step) else None

    def _passed(self, mutant: Mutant) -> Unit | None:
        if mutant.operator.startswith(_LATER):
            return next_step(self.subject, mutant.point)
        return last_step(self.subject, mutant.point) if mutant.operator.startswith(_EARLIER) else None

    def _is_entered_from(self, point: int, step: Unit) -> bool:
        """Tell whether control comes to a point from the one in front of it, or from a step, alone."""
        block = self.cfg.block_at(point)
        if block.start != point:
            return True
        before = {self.cfg.blocks[each].last for each in self.cfg.predecessors[block.index]}
        return before <= {point - 1, *range(step.first, step.last + 1)}

    # ---- other statements

    def _across_barrier(self, mutant: Mutant) -> str | None:
        """A statement that is no barrier changes places with one."""
        step = self._step(mutant)
        group = None if step is None else self.meetings.group(step)
        if step is None or group is None or self.cfg.instructions[mutant.point].operation.op in _BARRIERS:
            return None
        moved = self.meetings.straight(group, (mutant.point,))
        if moved.kinds & {Kind.AWAITS, Kind.ANYTHING} or not self._is_quiet_between(
            group, mutant.point, step
        ):
            return None
        before = self.meetings.before(group, step)
        if moved.kinds & _ARRIVALS and before.kinds & {Kind.AWAITS, Kind.ANYTHING}:
            return None
        if mutant.operator.startswith(_LATER):
            wrong = self._conflict(moved, self.meetings.behind(group, step))
        else:
            wrong = self._conflict(before, moved)
        if wrong:
            return None
        if not moved.kinds:
            return "It changes places with a barrier, which orders nothing of what this orders in its own thread."
        return "It changes places with a barrier that need not be in front of it, or behind."

    def _own_order(self, mutant: Mutant) -> str | None:
        """Two statements change places that each order another kind of operations of their own thread."""
        step = self._step(mutant)
        if step is None or not self._is_quiet_between((0, None), mutant.point, step):
            return None
        if self.subject.statement(step) == mutant.statement:
            return "It changes places with a statement that is the same."
        if not self._may_change_places(mutant.point, step):
            return None
        return "It changes places with a statement that orders other operations, with nothing between."

    def _may_change_places(self, point: int, step: int) -> bool:
        """Tell whether two statements of one thread order operations that have nothing to do with each other."""
        ops = {self.cfg.instructions[each].operation.op for each in (point, step)}
        if ops == {Op.TCGEN05_COMMIT}:
            return True  # each arrives when the work in front of both is done, in no order
        kinds = [set(self.meetings.straight((0, None), (each,)).kinds) for each in (point, step)]
        if any((kinds[0], kinds[1]) in (pair, pair[::-1]) for pair in _UNRELATED):
            return True
        a, b = (_ORDERS.get(_key(self.cfg.instructions[each])) for each in (point, step))
        if a is None or b is None or (a is b and a is not _Orders.TENSOR):
            return False
        commits = any(self.cfg.instructions[each].operation.op in _COMMITS for each in (point, step))
        return commits or not ({a, b} == {_Orders.COPIES, _Orders.PROXIES} or _Orders.MAPS in (a, b))

    def _step(self, mutant: Mutant) -> int | None:
        """Return the one statement that another one changed places with."""
        step = self._passed(mutant)
        if step is None or step.first != step.last or self._moved_across(mutant) is None:
            return None
        return step.first

    def _is_quiet_between(self, group: Group, a: int, b: int) -> bool:
        between = range(min(a, b) + 1, max(a, b))
        is_wait = any(self.cfg.instructions[each].operation.op is Op.WGMMA_WAIT_GROUP for each in (a, b))
        accessed = {r for each in between for r in _registers(self.cfg.instructions[each])}
        return not self.meetings.straight(group, between).effects and not (
            is_wait and accessed & self._products
        )

    @cached_property
    def _products(self) -> frozenset[Register]:
        """Registers that `wgmma` reads or writes while it is under way."""
        found = (i for i in self.cfg.instructions if i.operation.op is Op.WGMMA_MMA_ASYNC)
        return frozenset(register for each in found for register in _registers(each))

    def _repeated_fence(self, mutant: Mutant) -> str | None:
        """A proxy fence is left out or moved behind which there is nothing that the last one did not order."""
        instruction = self.cfg.instructions[mutant.point]
        is_other = mutant.operator not in ("drop-fence", "later-fence", "earlier-fence", "out-of-loop")
        if is_other or not is_proxy_fence(instruction) or not is_fenced_before(self.cfg, mutant.point):
            return None
        return "Its thread has accessed nothing in its own order since its last proxy fence, or at all."

    # ---- groups of copies

    def _groups(self, mutant: Mutant) -> str | None:
        """A commit of `cp.async` is left out or moved, and each wait still covers what it covered."""
        if self.cfg.instructions[mutant.point].operation.op is not Op.CP_ASYNC_COMMIT_GROUP or any(
            i.guard is not None for i in self.cfg.instructions if i.operation.op in _CP_GROUPS
        ):
            return None
        if mutant.operator == "drop-commit":
            if self.cfg.reaches(mutant.point, mutant.point):
                return None
            covers = all(newer > pending for newer, pending in self._waits_behind(mutant.point))
            return "Its copies are in the next group, which the next wait covers, too." if covers else None
        moved = self._moved_across(mutant)
        if moved is None or any(self.cfg.instructions[p].operation.op in _CP_WAITS for p in moved):
            return None
        if mutant.operator.startswith(_LATER):
            return "Copies behind it are in an older group than before, which waits cover sooner."
        covers = all(newer != pending for newer, pending in self._waits_behind(mutant.point))
        return (
            "The copies in front of it are in the next group, and no wait covers this group alone."
            if covers
            else None
        )

    def _waits_behind(self, point: int) -> Iterator[tuple[int, int]]:
        """Yield how many groups are closed behind a commit at each wait, and how many that wait leaves pending.

        No way is followed further behind a wait that covers the commit with a group to spare.
        """
        waits = [i for i in self.cfg.instructions if i.operation.op in _CP_WAITS]
        most = max((_pending(each) for each in waits), default=0) + 2
        seen = {(point, 0)}
        work = [(point, 0)]
        while work:
            at, newer = work.pop()
            for follow in _next(self.cfg, at):
                instruction = self.cfg.instructions[follow]
                count = min(newer + (instruction.operation.op is Op.CP_ASYNC_COMMIT_GROUP), most)
                if (follow, count) in seen:
                    continue
                seen.add((follow, count))
                if instruction.operation.op in _CP_WAITS:
                    yield count, _pending(instruction)
                    if count > _pending(instruction):
                        continue
                work.append((follow, count))

    def _empty_groups(self, mutant: Mutant) -> str | None:
        """A commit of, or a wait for, bulk copies, none of which has been started."""
        if self.cfg.instructions[mutant.point].operation.op not in _BULK_GROUPS:
            return None
        across = self._moved_across(mutant) or range(mutant.point, mutant.point + 1)
        if follows_bulk_copy(self.cfg, mutant.point) or any(
            starts_bulk_group(self.cfg.instructions[point]) for point in across
        ):
            return None
        return "No bulk copy has been started in front of it: there is nothing in its group, and nothing to wait for."

    # ---- loads of tensor memory

    def _settled_loads(self, mutant: Mutant) -> str | None:
        """A `tcgen05.wait::ld` behind the last use of all that was loaded."""
        wait = self.cfg.instructions[mutant.point]
        if wait.operation.op is not Op.TCGEN05_WAIT or wait.operation.slots["wait"] != ".wait::ld":
            return None
        waits = frozenset(
            p
            for p, i in enumerate(self.cfg.instructions)
            if i.operation.text == wait.operation.text and i.guard is None
        )
        for load, instruction in enumerate(self.cfg.instructions):
            if instruction.operation.op not in _LOADS or not _passes(self.cfg, load, mutant.point, waits):
                continue
            for register in instruction.writes():
                readers = self._readers(load, register)
                if _passes(self.cfg, load, mutant.point, waits | readers):
                    return None
        return "All that was loaded has been used in front of it, as the kernel does it: machine code waits there."

    def _readers(self, load: int, register: Register) -> frozenset[int]:
        """Return the instructions that read what a load left in a register, or what moves made of it; no moves."""
        found: set[int] = set()
        seen: set[int] = set()
        work = [p for p in self.facts.uses(load) if register in self.cfg.instructions[p].reads()]
        while work:
            point = work.pop()
            if self.cfg.instructions[point].operation.op is not Op.MOV:
                found.add(point)
            elif point not in seen:
                seen.add(point)
                work += self.facts.uses(point)
        return frozenset(found)


class _Orders(Enum):
    """What a statement orders in its own thread."""

    COPIES = auto()
    BULK_COPIES = auto()
    PRODUCTS = auto()
    TENSOR = auto()
    PROXIES = auto()
    MAPS = auto()


_Key: TypeAlias = tuple[Op, str]
_ORDERS: Mapping[_Key, _Orders] = {
    (Op.CP_ASYNC_COMMIT_GROUP, ""): _Orders.COPIES,
    (Op.CP_ASYNC_WAIT_GROUP, ""): _Orders.COPIES,
    (Op.CP_ASYNC_BULK_COMMIT_GROUP, ""): _Orders.BULK_COPIES,
    (Op.CP_ASYNC_BULK_WAIT_GROUP, ""): _Orders.BULK_COPIES,
    (Op.WGMMA_FENCE, ""): _Orders.PRODUCTS,
    (Op.WGMMA_COMMIT_GROUP, ""): _Orders.PRODUCTS,
    (Op.WGMMA_WAIT_GROUP, ""): _Orders.PRODUCTS,
    (Op.TCGEN05_WAIT, ""): _Orders.TENSOR,
    (Op.FENCE_PROXY, ".async"): _Orders.PROXIES,
    (Op.FENCE_PROXY, ".tensormap::generic"): _Orders.MAPS,
}
"""`cp.async` writes as its thread would: its end must come before a proxy fence."""


def _key(instruction: Instruction) -> _Key:
    return instruction.operation.op, instruction.operation.slots.get("kind", "")


def _registers(instruction: Instruction) -> Iterator[Register]:
    yield from instruction.reads()
    yield from instruction.writes()


def _pending(wait: Instruction) -> int:
    """Return how many groups a wait leaves pending; -1 where it covers copies in no group."""
    count = wait.get("n")
    return count.value if isinstance(count, Immediate) else -1


def _next(cfg: Cfg, point: int) -> Iterator[int]:
    block = cfg.block_at(point)
    if point < block.last:
        yield point + 1
    else:
        yield from (cfg.blocks[b].start for b in cfg.successors[block.index] if b != cfg.exit)


def _reaches(cfg: Cfg, start: int, goal: int, inside: frozenset[int]) -> bool:
    """Tell whether a way leads from one point to another through some points alone."""
    seen: set[int] = set()
    work = [start]
    while work:
        for follow in _next(cfg, work.pop()):
            if follow == goal:
                return True
            if follow in inside and follow not in seen:
                seen.add(follow)
                work.append(follow)
    return False


def _passes(cfg: Cfg, start: int, goal: int, barred: frozenset[int]) -> bool:
    """Tell whether a way leads from one point to another that passes none of some points."""
    return _reaches(cfg, start, goal, frozenset(range(len(cfg.instructions))) - barred)
