"""The SIMT machine: runs the sync slice of a kernel for every thread of one CTA at once.

Property: for one choice of every undecided branch, the recorded events are, for each thread, the
synchronising instructions that it executes, in program order, with their operands.

Waits do not block here: what a thread executes depends on data and never on timing, except for polls, which
are taken to succeed. Blocking, phases and order are the business of the protocol that is built from the trace.

Threads run together while they are at the same point; at a divergent branch the sides run one after the other
and meet at the immediate post-dominator. A branch on an open predicate is decided only where a side records an
event or ends threads. Elsewhere both sides run and their values are joined (`selp` of the predicate), or, in a
loop, replaced by symbols of their own. A side that aborts the grid before it synchronises is never taken: a grid
that is aborted does not hang.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from ...cfg.graph import Edge, EdgeKind
from ...cfg.optypes import Typing
from ...cfg.special import changes, special_name
from ...ir import Address as AddressOperand
from ...ir import (
    Component,
    FloatImmediate,
    Immediate,
    Instruction,
    Negated,
    Operand,
    Register,
    Symbol,
    SymbolOffset,
    registers_of,
)
from ...op import Op
from ...spec import Trait
from ..thread.shared_access import access_bytes
from . import lanes, steps
from .accesses import AccessKind, is_pointer, is_strong
from .host import Host
from .lanes import condition_of
from .layout import Layout
from .loop_ends import Ends
from .observation import Observation
from .parted import Parted
from .polling import POLLS
from .program import Program, Region
from .reach import interval_of
from .registers import RegisterFile, SplitError, lanes_of, set_of
from .resolve import (
    Restated,
    arguments,
    at_thread,
    failing,
    has_choice,
    is_predicate,
    leaves,
    rebuild,
    with_pins,
)
from .rings import Rings
from .same_loops import keys_behind
from .scales import scale_of
from .special import special_register
from .steady import keep_steady
from .symbol import (
    CHOSEN,
    FROM_GLOBAL,
    FROM_SHARED,
    LANE,
    LOOPS,
    WARP,
    Atom,
    Condition,
    Decisions,
    Form,
    Value,
)
from .table import ParkError, Table
from .trace import (
    GLOBAL_LOAD,
    GLOBAL_SCALE,
    OFFSET_MASK,
    RANK_SHIFT,
    SHARED_LOAD,
    SHARED_RING,
    Access,
    Assumption,
    Bytes,
    Event,
    HaltError,
    NotFollowedError,
    Peek,
    Shape,
    ThreadSet,
    TooLongError,
    Trace,
)
from .tries import Tries
from .whole_clusters import WHOLE_CLUSTERS, Ways
from .wrapping import CUT, CUT_NUMBERS, EXTENDED, MULTIPLES, is_multiple, may_be_cut, may_be_negative

_MASK64 = (1 << 64) - 1
_CTA_BARRIERS = frozenset({Op.BAR_SYNC, Op.BAR_RED})
_MEETING = frozenset({Op.BAR_WARP_SYNC, Op.ELECT_SYNC})
"""Warp-collectives that are events by themselves."""
_STATES = frozenset({Op.MBARRIER_ARRIVE, Op.MBARRIER_ARRIVE_DROP})
STATE_TOKEN = 1 << 62
"""Bit of a number that stands for the state which the arrive with the event index in the low bits returned."""
_MOST_PARTS = 32
_UNLIMITED = 1 << 62
_MOST_ASKED = 6
"""Most questions to the solver about one address of an ordinary access."""
_MOST_CTAS = 16
"""CTAs of the largest cluster."""
_DEEP = 8
"""Symbols nested deeper are computed again with what the decisions have made numbers."""
_NUMBERS = frozenset({"addr", "mbar", "mask", "parity", "barrier", "threads", "count", "dst"})
"""Operands that have to be numbers: which barrier, which phase, how many."""
_PLACES = frozenset({"src", "a_desc", "b_desc", "s_desc"})
"""Operands that say where something is read, and may stay symbols."""


@dataclass(frozen=True, slots=True)
class Question:
    """An open predicate that a run has to decide."""

    point: int
    condition: Condition
    positive: bool
    """The predicate is the condition (True) or its negation."""
    stays: bool | None
    """The truth of the guard for which a branch stays in its loop; None when it leaves no loop."""
    turns: tuple[int, ...]
    """How often each acting loop around the branch has started, outermost first, this time not counted."""
    at_top: bool
    """The branch stands in the header of its loop, before the body."""
    is_outer: bool = False
    """Another acting loop is inside the innermost loop around the branch."""
    loop: int = -1
    """Header of the innermost acting loop around the branch, -1 when there is none."""


@dataclass(slots=True)
class _Frame:
    """A branch whose sides are under way: threads wait at the join until all of them have come or ended."""

    join: int
    source: int
    parent: _Frame | None
    left: int
    turns: dict[int, int]
    arrived: ThreadSet = 0
    is_outermost: bool = False
    """Nobody goes on from the join."""


@dataclass(slots=True)
class _Group:
    """Threads that are at the same place: a block, and how many of its steps they have done."""

    block: int
    threads: ThreadSet
    frame: _Frame | None
    at: int = 0
    came_from: int = -1
    rounds: int = 0
    turns: dict[int, int] = field(default_factory=dict)
    """How often each loop that they are in has started anew."""

    def move(self, block: int, source: int) -> None:
        """Go to the start of a block."""
        self.block, self.at, self.came_from = block, 0, source
        self.rounds += 1


def _release(groups: list[_Group], parked: list[_Group]) -> bool:
    """Let threads that wait at a join for others go on without them; False when nobody waits."""
    for group in parked:
        frame = group.frame
        while frame is not None:
            if frame.arrived and not frame.is_outermost:
                early = _Group(frame.join, frame.arrived, frame.parent)
                early.came_from, early.turns = frame.source, dict(frame.turns)
                frame.arrived = 0
                if frame.parent is not None:
                    frame.parent.left += 1
                groups.append(early)
                return True
            frame = frame.parent
    return False


Follow = Callable[[int, bool, Condition, bool], None]
"""Told of each predicate that earlier decisions imply: point, does its guard hold, its condition, and the truth."""

Took = Callable[[int, bool, bool], None]
"""Told of each side that threads took: point, does its guard hold, is it a branch on what the host or memory gives."""

Settle = Callable[[int, Atom, int], None]
"""Told of each symbol for which a run takes one number among several: point, symbol and number."""

Choose = Callable[[Question], bool]
"""Decides whether the guard of an open predicate holds."""


_Held: TypeAlias = list[tuple[ThreadSet, Value]] | None
"""What threads hold in a register; None: it was not written."""
_Sides: TypeAlias = list[list[_Held]]
"""What each side of a branch leaves in the registers of a region."""


class Machine:
    """One CTA. Use `run` once."""

    def __init__(
        self,
        program: Program,
        layout: Layout,
        shape: Shape,
        rank: int,
        decisions: Decisions,
        choose: Choose,
        budget: int = 400_000,
        is_late: Callable[[], bool] = lambda: False,
        follow: Follow = lambda *_: None,
        took: Took = lambda *_: None,
        settle: Settle = lambda *_: None,
        *,
        peek_fails: Callable[[Peek], bool] = lambda _: False,
        observation: Observation | None = None,
        elects_last: bool = False,
        ways: Ways | None = None,
        host: Host | None = None,
        halts: bool = False,
    ) -> None:
        self._host = host
        self._halts = halts
        """Threads stop where they would decide by what they have read from shared memory and nobody has followed."""
        self._ended: ThreadSet = 0
        self.elects_last = elects_last
        """`elect.sync` chooses the highest lane that takes part, not the lowest."""
        self.program = program
        self.cfg = program.cfg
        self.layout = layout
        self.shape = shape
        self.rank = rank
        self.threads = shape.threads
        self.registers = RegisterFile(shape.threads)
        self._decisions = decisions
        self._ways = Ways() if ways is None else ways
        self._choose = choose
        self._follow = follow
        self._took = took
        self._settle = settle
        self._peek_fails = peek_fails
        self._peeks: dict[int, Peek] = {}
        self._tries = Tries()
        self._parted = Parted(program, self.threads)
        self._budget = budget
        self._before_access = 0
        self._is_late = is_late
        self._observation = observation
        self._events: list[Event] = []
        self._assumptions: dict[tuple[str, int], Assumption] = {}
        self._loaded: dict[int, tuple[Atom, ...]] = {}
        self._turns: dict[int, int] = {}
        self._speculative = 0
        self._visits: dict[object, int] = {}
        self._reduced: dict[Form, tuple[int, Value]] = {}
        self._restated = Restated(self._stated, shape.threads, decisions.equals)
        self._restated_at = 0
        """How many decisions were taken when it was looked whether restated values are still right."""
        self.table = Table(self._table_places(), shape.threads)
        self.rings = Rings()
        self._ring_turns: dict[int, int] = {}
        self._specials: dict[tuple[str, str], Value] = {}
        self._apart: Machine | None = None

    def run(self) -> Trace:
        """Run every thread to its exit. Raises NotFollowedError."""
        self._run_groups(_Group(0, (1 << self.threads) - 1, None))
        return Trace(
            self.rank, self.shape, tuple(self._events), tuple(self._decisions.taken),
            tuple(self._assumptions.values()), self._loaded, self._ring_turns, self._peeks,
            (1 << self.threads) - 1 & ~self._ended if self._halts else 0,
        )  # fmt: skip

    def _table_places(self) -> Iterator[int]:
        for point in self.program.table_stores:
            instruction = self.cfg.instructions[point]
            address = self.value(instruction.operands[0], 1)
            if isinstance(address, int):
                yield from range(address, address + access_bytes(instruction))
        for point in self.program.spread_stores:
            yield from self._bytes_of_store(point)

    def _bytes_of_store(self, point: int) -> range:
        """Return the bytes, as addresses of this CTA, that a store whose numbers are kept may write."""
        pointer = self.program.place(point)
        size = access_bytes(self.cfg.instructions[point])
        within = None if pointer is None else self.layout.within(pointer, size)
        own = self.rank << RANK_SHIFT
        return range(0) if within is None else range(own | within.start, own | within.end)

    def apart(self) -> Machine:
        """Return a machine of the same CTA that has decided nothing, for what needs nothing but computing."""
        if self._apart is None:
            self._apart = Machine(
                self.program, self.layout, self.shape, self.rank, Decisions(), self._choose, _UNLIMITED
            )
            self._apart._speculative = 1
        return self._apart

    def step_alone(self, point: int, threads: ThreadSet) -> None:
        """Run one instruction that records nothing. Raises SplitError, NotFollowedError."""
        self._step(point, threads)

    # -- control

    def _run_groups(self, first: _Group) -> ThreadSet:
        """Run a group, and those that it splits into, to the end; return the threads that come to its own join.

        A group that reads what others may still store waits until nobody else can go on.
        """
        groups, parked = [first], list[_Group]()
        arrived: ThreadSet = 0
        outer = first.frame
        while groups or parked:
            if not groups:
                waiting, parked = parked, []
                moved = [self._try(group, groups, parked) for group in waiting]
                if not any(moved) and not _release(groups, parked):
                    self._unpark(groups, parked)
                continue
            group = groups.pop()
            self._try(group, groups, parked)
        if outer is not None:
            arrived = outer.arrived
        return arrived

    def _try(self, group: _Group, groups: list[_Group], parked: list[_Group]) -> bool:
        """Run a group as far as it comes; False when it could not move."""
        before = (group.block, group.at, group.rounds)
        try:
            self._advance(group, groups)
        except HaltError:
            return True
        except ParkError:
            self._forget_access(group)
            parked.append(group)
            return (group.block, group.at, group.rounds) != before
        return True

    def _forget_access(self, group: _Group) -> None:
        """Drop the access of a read that is made again."""
        point = self._parted.steps(group.block, group.threads)[group.at]
        if point in self.program.accesses:
            for index in range(self._before_access, len(self._events)):
                self._ring_turns.pop(index, None)
                self._loaded.pop(index, None)
            del self._events[self._before_access :]
            if self._observation is not None:
                del self._observation.rounds[self._before_access :]

    def _unpark(self, groups: list[_Group], parked: list[_Group]) -> None:
        """Everybody waits: let one group read without knowing what."""
        self.table.may_park = False
        group = parked.pop(0)
        try:
            self._step(self._parted.steps(group.block, group.threads)[group.at], group.threads)
            group.at += 1
            groups.append(group)
        except HaltError:
            pass
        finally:
            self.table.may_park = True
        groups.extend(parked)
        parked.clear()

    def _advance(self, group: _Group, groups: list[_Group]) -> None:
        """Run a group until it ends, waits at a join, or splits. Raises ParkError, with the group before the read."""
        headers, steps_of = self.program.headers, self._parted.steps
        while True:
            frame = group.frame
            if frame is not None and group.block == frame.join:
                if not self._arrive(group, frame):
                    return
                continue
            if group.block == self.cfg.exit:
                self.table.end(lanes_of(group.threads, self.threads))
                self._ended |= group.threads
                if not self._end(group):
                    return
                continue
            if group.at == 0:
                inside = headers.get(group.block)
                if inside is not None:
                    again = group.came_from in inside
                    group.turns[group.block] = group.turns.get(group.block, -1) + 1 if again else 0
            self._turns = group.turns
            if self._observation is not None and group.at == 0:
                self._observe_head(self._observation, group)
            points = steps_of(group.block, group.threads)
            while group.at < len(points):
                self._step(points[group.at], group.threads)
                group.at += 1
            if not self._leave(group, groups):
                return

    def _arrive(self, group: _Group, frame: _Frame) -> bool:
        """Come to a join; the last side goes on from there, with all threads that came."""
        frame.arrived |= group.threads
        frame.left -= 1
        return self._go_on(group, frame)

    def _end(self, group: _Group) -> bool:
        """End threads; False when nobody goes on from the join that they were to come to."""
        frame = group.frame
        if frame is None:
            return False
        frame.left -= 1
        return self._go_on(group, frame)

    def _go_on(self, group: _Group, frame: _Frame | None) -> bool:
        while frame is not None:
            if frame.left or frame.is_outermost:
                return False
            if frame.arrived:
                group.move(frame.join, frame.source)
                group.threads, group.frame, group.turns = frame.arrived, frame.parent, dict(frame.turns)
                return True
            frame = frame.parent
            if frame is not None:
                frame.left -= 1
        return False

    def _leave(self, group: _Group, groups: list[_Group]) -> bool:
        """Go to the next block, or split; False when the group has ended or waits for others."""
        block, threads = group.block, group.threads
        edges = self.cfg.graph.outgoing[block]
        if len(edges) == 1:
            group.move(edges[0].target, block)
            return True
        join = self.program.join(block)
        last = self.cfg.blocks[block].last
        if last not in self.program.points:
            self._record_skipped(self.program.region(block), threads)
            group.move(join, block)
            return True
        sides = self._sides(block, edges, threads, last)
        if sides is None:
            group.move(join, block)
            return True
        if len(sides) == 1:
            group.move(sides[0][0].target, block)
            return True
        frame = group.frame
        if join != self.cfg.exit:
            frame = _Frame(join, block, frame, len(sides), dict(group.turns))
        elif frame is not None:
            frame.left += len(sides) - 1
        for edge, taken in reversed(sides):
            side = _Group(edge.target, taken, frame)
            side.came_from = block
            side.turns = dict(group.turns)
            groups.append(side)
        return False

    def _sides(
        self, block: int, edges: tuple[Edge, ...], threads: ThreadSet, point: int
    ) -> list[tuple[Edge, ThreadSet]] | None:
        """Return the threads that take each edge out of a block; None when both sides were run and joined."""
        if any(edge.cases for edge in edges):
            return self._table_sides(edges, threads, point)
        guarded = [edge for edge in edges if edge.guard is not None]
        if not guarded or any(edge.kind is EdgeKind.UNKNOWN for edge in edges):
            raise NotFollowedError("jump whose targets are not known", point)
        first = guarded[0]
        other = next(edge for edge in edges if edge is not first)
        assert first.guard is not None
        taken: ThreadSet = 0
        opened: list[tuple[ThreadSet, Form]] = []
        acting = point if self.program.region(block).acts else -1
        for held, value in self._guard_pieces(first.guard.register, threads):
            truth = lanes.negate(value) if first.guard.negated else value
            known = self._known(truth, held, acting)
            if known is None:
                assert isinstance(truth, Form)
                opened.append((held, truth))
            else:
                taken |= known
        if self._passes(block, first, other, opened, threads):
            together = sum(held for held, _ in opened)
            if together == threads:
                return None
            taken |= together if first.target == self.program.join(block) else 0
            opened = []
        for held, truth in opened:
            if self.program.is_doomed(other.target) or self.program.is_doomed(first.target):
                if not self.program.is_doomed(first.target):
                    taken |= held
                continue
            taken |= self._decide(truth, held, point, self._loop_side(block, first, other))
        sides = [(e, t) for e, t in ((first, taken), (other, threads & ~taken)) if t]
        is_open = point in self.program.open_branches
        if (is_open or self._host is not None) and not self._speculative:
            for edge, _ in sides:
                self._took(point, edge is first, is_open)
        return sides

    def _passes(
        self, block: int, first: Edge, other: Edge, opened: list[tuple[ThreadSet, Form]], threads: ThreadSet
    ) -> bool:
        """Run both sides of a branch for threads whose predicate is open; False where it has to be decided.

        Those that it is known for go on by themselves, so there has to be a side that comes to the join at once.
        """
        if not opened or self.program.region(block).acts:
            return False
        join = self.program.join(block)
        if join not in (first.target, other.target) and opened[0][0] != threads:
            return False
        for held, truth in opened:
            self._join(block, first, other, held, truth)
        return True

    def _guard_pieces(self, register: Register, threads: ThreadSet) -> list[tuple[ThreadSet, Value]]:
        try:
            return [(threads, self.read(register, threads))]
        except SplitError as split:
            return [(part, self.read(register, part)) for part in split.parts]

    def _known(self, value: Value, threads: ThreadSet, point: int = -1) -> ThreadSet | None:
        """Return the threads for which a predicate holds, None when it is open; `point` asks, -1: no branch."""
        if isinstance(value, int):
            return threads if value & 1 else 0
        if isinstance(value, np.ndarray):
            return set_of(value != 0) & threads
        reduced = self.restated(self.reduced(value))
        if not isinstance(reduced, Form):
            self._note_reduced(value, reduced, point)
            return self._known(reduced, threads)
        narrow = self.narrow(reduced, threads)
        if narrow is None:
            return None
        if not isinstance(narrow, Form):
            return self._known(narrow, threads)
        known = self._decisions.truths.get(narrow)
        condition, positive = condition_of(narrow)
        if known is None:
            truth = self._decisions.implied(condition)
            if truth is None:
                return None
            known = self._decisions.truths[narrow] = truth == positive
        if point >= 0 and not self._speculative:
            self._follow(point, known, condition, known == positive)
            self._note_multiple(condition, point)
            self._ways.note(point, self.rank, condition, known == positive)
        return threads if known else 0

    def _note_reduced(self, value: Form, reduced: Value, point: int) -> None:
        """Note a predicate that became a number through what was decided."""
        if point < 0 or self._speculative or not isinstance(reduced, int) or has_choice(value):
            return
        condition, positive = condition_of(value)
        self._follow(point, bool(reduced & 1), condition, bool(reduced & 1) == positive)

    def _loop_side(self, block: int, first: Edge, other: Edge) -> bool | None:
        """Return the truth of the guard for which a branch stays in the innermost loop, None for other branches."""
        loops = self.cfg.loops_around(block)
        if not loops:
            return None
        inside, outside = first.target in loops[0].blocks, other.target in loops[0].blocks
        return inside if inside != outside else None

    def _table_sides(
        self, edges: tuple[Edge, ...], threads: ThreadSet, point: int
    ) -> list[tuple[Edge, ThreadSet]]:
        index = self.concrete(self.value(self.cfg.instructions[point].operands[0], threads), threads, point)
        if isinstance(index, Form):
            self._halt_at(index)
            raise NotFollowedError(f"jump table with an index that is not known: {index}", point)
        found: list[tuple[Edge, ThreadSet]] = []
        for edge in edges:
            if isinstance(index, int):
                taken = threads if index in edge.cases else 0
            else:
                taken = set_of(np.isin(index, edge.cases)) & threads
            if taken:
                found.append((edge, taken))
        if sum(taken for _, taken in found) != threads:
            raise NotFollowedError("jump table with an index that is behind its end", point)
        return found

    # -- branches that are not decided

    def _join(self, block: int, first: Edge, other: Edge, threads: ThreadSet, truth: Form) -> None:
        """Leave both sides of a branch behind, none of which records an event."""
        region = self.program.region(block)
        meeting = self.program.meets(region)
        if not region.counted or truth.differs:
            inside = threads & ~self._passing(block, first, other, truth)
            if not inside:
                return
            if meeting is not None and (truth.differs & LANE or self.is_parted(meeting, threads)):
                self._take_together(meeting)
            sides: _Sides = []
            if region.counted if region.cyclic else region.copies or region.predicates:
                sides = self._run_sides(block, region, (first, other), inside)
            else:
                self._record_skipped(region, inside)
                for point in region.keeps:
                    self.forget_stored(point, inside)
            self._forget(block, region, threads, truth)
            for register, one, two in zip(region.written, *sides, strict=True) if sides else ():
                if register in region.predicates:
                    self._merge_sides(register, one, two, threads, truth)
                else:
                    self._keep_equal(register, one, two, threads)
            return
        is_seen = meeting is not None or any(self._accesses_of(region))
        if not (region.written or region.keeps or region.copies or is_seen):
            return
        sides = self._run_sides(block, region, (first, other), threads)
        for register, one, two in zip(region.written, *sides, strict=True):
            if one is not two:
                self._merge_sides(register, one, two, threads, truth)

    def _run_sides(self, block: int, region: Region, edges: tuple[Edge, Edge], threads: ThreadSet) -> _Sides:
        """Run both sides of a branch as far as the join, and return what each leaves in registers; these stay."""
        join = self.program.join(block)
        before = [self.registers.snapshot(register) for register in region.written]
        sides = []
        self._speculative += 1
        for edge in edges:
            if edge.target != join:
                self._run_aside(block, edge.target, threads, join)
            sides.append([self.registers.snapshot(register) for register in region.written])
            for register, pieces in zip(region.written, before, strict=True):
                self.registers.restore(register, pieces)
        self._speculative -= 1
        return sides

    def _passing(self, block: int, first: Edge, other: Edge, truth: Form) -> ThreadSet:
        """Return threads that surely go from a branch to its join at once."""
        join = self.program.join(block)
        if other.target == join:
            return failing(truth, self.threads)
        return failing(lanes.negate(truth), self.threads) if first.target == join else 0

    def _run_aside(self, source: int, block: int, threads: ThreadSet, join: int) -> None:
        """Run one side of a branch that records nothing, as far as the join."""
        turns, may_park = self._turns, self.table.may_park
        frame = _Frame(join, source, None, 1, dict(turns), is_outermost=True)
        group = _Group(block, threads, frame)
        group.came_from, group.turns = source, dict(turns)
        self.table.may_park = False
        self._run_groups(group)
        self._turns, self.table.may_park = turns, may_park

    def _merge_sides(
        self,
        register: Register,
        one: list[tuple[ThreadSet, Value]] | None,
        two: list[tuple[ThreadSet, Value]] | None,
        threads: ThreadSet,
        truth: Form,
    ) -> None:
        if one is None and two is None:
            return
        for held, a in _pieces(register, one, threads):
            for both, b in _pieces(register, two, held):
                if a is not b:
                    self.registers.write(register, both, lanes.choose(truth, a, b, self.threads))
                else:
                    self.registers.write(register, both, a)

    def _keep_equal(self, register: Register, one: _Held, two: _Held, threads: ThreadSet) -> None:
        """Write what both sides of a branch give to a register alike."""
        if one is None or two is None:
            return
        for held, a in _pieces(register, one, threads):
            for both, b in _pieces(register, two, held):
                if a is b or (isinstance(a, int | Form) and isinstance(b, int | Form) and a == b):
                    self.registers.write(register, both, a)

    def _forget(self, block: int, region: Region, threads: ThreadSet, truth: Form) -> None:
        """Give what a region may write symbols of their own: the same for all threads if all that it reads is."""
        kept = keep_steady(self, region, threads)
        differs = truth.differs | self._differs_into(region, threads)
        visit = self.count(("region", block, threads))
        left = [register for register in region.written if register not in kept]
        kind = LOOPS[self.program.memory_read(block)]
        ends = {register: found for register in left if (found := self._ends_of(block, register, threads))}
        tells: dict[tuple[int, int | None], Register] = {}
        for register in sorted(ends, key=lambda each: ends[each].point):
            tells.setdefault(ends[register].blocks, register)
        left = [register for register in left if register not in ends or register in tells.values()]
        symbols: dict[Register, Form] = {}
        keys = keys_behind(self, block, threads) if left else {}
        for register in left:
            key = (*keys[register], lanes.key_of(truth)) if register in keys else (block, register, visit)
            alike = differs & LANE and self.program.agrees_in_warps(self.program.join(block), register)
            own = differs & ~LANE if alike else differs
            name = self.program.loop_result(block, register, (*key, own))
            symbols[register] = lanes.opaque(kind, *name, differs=own)
            if register not in ends:
                self.registers.write(register, threads, symbols[register])
        for register, found in ends.items():
            is_first = lanes.compare(".ne", symbols[tells[found.blocks]], 0, 32, signed_operands=True)
            held = found.value(is_first, self._before(register, threads), self.threads)
            assert held is not None
            self.registers.write(register, threads, held)

    def _ends_of(self, block: int, register: Register, threads: ThreadSet) -> Ends | None:
        """Return how a register tells which way a loop ended, None when it does not for these threads."""
        found = self.program.ends_of(block, register)
        known = (
            found is not None and found.value(0, self._before(register, threads), self.threads) is not None
        )
        return found if known else None

    def _before(self, register: Register, threads: ThreadSet) -> Value | None:
        try:
            return self.registers.read(register, threads)
        except SplitError:
            return None

    def _differs_into(self, region: Region, threads: ThreadSet) -> int:
        found = 0
        for block in region.blocks:
            for point in self.program.steps[block]:
                if point not in self.program.points:
                    continue
                instruction = self.cfg.instructions[point]
                traits = instruction.operation.traits
                if (
                    Trait.ATOMIC in traits
                    or is_strong(instruction.operation)
                    or self.program.may_be_local(point)
                ):
                    return LANE | WARP
                for operand in instruction.operands:
                    if isinstance(operand, Component):
                        found |= lanes.differs_of(self.value(operand, threads))
                for register in instruction.reads():
                    for _, value in self._guard_pieces(register, threads):
                        found |= lanes.differs_of(value)
                if found == LANE | WARP:
                    return found
        return found

    # -- decisions

    def narrow(self, value: Form, threads: ThreadSet) -> Value | None:
        """Return a value that is one number in these threads, None when they may hold different ones."""
        if not value.differs:
            return value
        first = (threads & -threads).bit_length() - 1
        if not _is_one(value.differs, threads, first):
            return None
        found = at_thread(value, first, self.threads)
        if not isinstance(found, Form) or not found.differs:
            return found
        tags = [first % 32] if found.differs & LANE else []
        if found.differs & WARP:
            tags.append(-1 - first // 32)
        return lanes.opaque("of", *tags, found, differs=0)

    def _decide(self, value: Form, threads: ThreadSet, point: int, stays: bool | None = None) -> ThreadSet:
        """Return the threads for which an open predicate holds, deciding what is not known."""
        if not value.differs:
            return threads if self.decide_uniform(value, point, stays) else 0
        if self.narrow(value, threads) is None:
            built = self.concrete(value, threads, point)
            known = self._known(built, threads)
            if known is not None:
                return known
            assert isinstance(built, Form)
            value = built
        holds: ThreadSet = 0
        for part in self._alike(value, threads, point):
            narrow = self.narrow(value, part)
            assert narrow is not None
            if isinstance(narrow, Form):
                holds |= part if self.decide_uniform(narrow, point, stays) else 0
            else:
                known = self._known(narrow, part)
                assert known is not None
                holds |= known
        return holds

    def _alike(self, value: Form, threads: ThreadSet, point: int) -> Iterator[ThreadSet]:
        """Split threads into sets that hold one number each: warps, or threads when lanes differ."""
        if value.differs & LANE and threads.bit_count() > _MOST_PARTS:
            raise NotFollowedError(f"a condition differs between threads: {_shown(value)}", point)
        for first in _bits_of_warps(threads, self.threads):
            warp = threads & 0xFFFFFFFF << first
            if not value.differs & LANE:
                yield warp
                continue
            while warp:
                yield warp & -warp
                warp &= warp - 1

    def decide_uniform(self, value: Form, point: int, stays: bool | None = None) -> bool:
        """Decide a predicate that is the same for all threads concerned; what it depends on first."""
        known = self._decisions.truths.get(value)
        if known is None:
            reduced = self.restated(self.reduced(value))
            if isinstance(reduced, int):
                self._note_reduced(value, reduced, point)
                known = bool(reduced & 1)
            else:
                known = self._decided(reduced if isinstance(reduced, Form) else value, point, stays)
            self._decisions.truths[value] = known
        return known

    def _decided(self, value: Form, point: int, stays: bool | None) -> bool:
        condition, positive = condition_of(value)
        truth = self._decisions.implied(condition)
        if truth is None and not is_predicate(condition.form) and has_choice(condition.form):
            form = self.concrete(condition.form, 1, point)
            if not isinstance(form, Form):
                assert isinstance(form, int)
                return condition.holds(form) == positive
            condition = replace(condition, form=form)
            reduced = self.restated(self.reduced(form))
            if isinstance(reduced, int):
                truth = condition.holds(reduced)
            else:
                assert isinstance(reduced, Form)
                condition = replace(condition, form=reduced)
                truth = self._decisions.implied(condition)
        if truth is not None and not self._speculative:
            self._follow(point, truth == positive, condition, truth)
        if truth is None:
            if self._speculative:
                raise NotFollowedError("a decision inside code that may not run", point)
            self._halt_at(condition.form)
            self._note_source(condition, point)
            truth = self._agreed(condition, point)
        if truth is None:
            block = self.cfg.graph.block_of[point]
            loops = self.program.acting_loops(block)
            question = Question(
                point, condition, positive, stays, tuple(self._turns.get(loop.header, 0) for loop in loops),
                bool(loops) and loops[-1].header == block,
                bool(loops) and loops[-1].header in self.program.outer_loops,
                loops[-1].header if loops else -1,
            )  # fmt: skip
            truth = self._choose(question) == positive
            self._state(condition, truth)
        self._note_multiple(condition, point)
        self._ways.note(point, self.rank, condition, truth)
        return truth == positive

    def _halt_at(self, value: Form) -> None:
        """Stop where threads would decide about a value by what they have read. Raises HaltError."""
        if self._halts and not self._speculative and value.origin & FROM_SHARED:
            raise HaltError

    def _agreed(self, condition: Condition, point: int) -> bool | None:
        """Return what other CTAs of a cluster have decided, where only their places in the grid differ."""
        if self.shape.ctas == 1:
            return None
        truth = self._ways.agreed(point, self.rank, condition)
        if truth is not None:
            self.assume(
                WHOLE_CLUSTERS, "work comes in whole clusters: the CTAs of a cluster take the same way", point
            )
            self._state(condition, truth)
        return truth

    def _note_source(self, condition: Condition, point: int) -> None:
        origin = condition.form.origin
        if origin & FROM_SHARED:
            note = "all roles read the same values from shared memory, in the same order"
            self.assume(SHARED_LOAD, note, point)
        if origin & FROM_GLOBAL:
            note = "numbers in global memory that decide branches do not change while the kernel runs"
            self.assume(GLOBAL_LOAD if scale_of(condition) is None else GLOBAL_SCALE, note, point)

    def concrete(self, value: Value, threads: ThreadSet, point: int) -> Value:
        """Return a value with the predicates that it depends on decided."""
        if not isinstance(value, Form) or not has_choice(value):
            return value
        return rebuild(value, lambda truth: self.decide_uniform(truth, point), self.threads)

    def reduced(self, value: Value) -> Value:
        """Return a value with numbers in place of what the decisions leave one number."""
        pins = self._decisions.pins
        if not pins or not isinstance(value, Form):
            return value
        known = self._reduced.get(value)
        if known is None or known[0] != len(pins):
            known = self._reduced[value] = len(pins), with_pins(value, pins, self.threads)
        return known[1]

    def reduced_form(self, form: Form) -> Value:
        """Return a form with numbers in place of the atoms inside others that the decisions leave one number."""
        pins = self._decisions.pins
        if len(form.terms) == 1 and form.terms[0][0] in pins:
            others = {name: number for name, number in pins.items() if name != form.terms[0][0]}
            found = with_pins(form, others, self.threads)
            return found if isinstance(found, int) else form
        return self.reduced(form)

    def restated(self, value: Value) -> Value:
        """Return a value with the choices in it made that are decided; as it is where that leaves no symbol."""
        if not isinstance(value, Form):
            return value
        if value.origin & CHOSEN or self._decisions.equals:
            self._renew()
        if not self._restated.concerns(value):
            return value
        made = self._restated.of(value)
        return made if isinstance(made, Form) else value

    def _renew(self) -> bool:
        """Forget what was restated when a choice that was open then is not any more; tell whether that is so."""
        taken = len(self._decisions.taken)
        if taken == self._restated_at:
            return False
        self._restated_at = taken
        is_as_before = self._restated.knows(self._decisions.equals)
        if is_as_before and all(self._stated(each) is None for each in self._restated.open):
            return False
        self._restated = Restated(self._stated, self.threads, self._decisions.equals)
        return True

    def _stated(self, predicate: Form) -> bool | None:
        condition, positive = condition_of(predicate)
        truth = self._decisions.stated(condition)
        return truth if truth is None else truth == positive

    def single(self, value: Form, threads: ThreadSet) -> Value:
        """Return the number that the decisions leave a symbol, if it is only one."""
        narrow = self.narrow(value, threads)
        if not isinstance(narrow, Form):
            return value if narrow is None else narrow
        number = self._decisions.only(narrow)
        return value if number is None else number & _MASK64

    def _placed(self, address: Value) -> Value:
        """Return an address with numbers for those parts of it that the decisions leave one number."""
        found = self.reduced(address)
        if not isinstance(found, Form):
            return found
        waiting = [name for name, _ in found.terms]
        asked = 0
        while waiting and asked < _MOST_ASKED:
            name = waiting.pop()
            if not name.differs and name[0] != "sum":
                asked += 1
                number = self._decisions.only(Form(((name, 1),)))
                if number is not None:
                    self._decisions.pins[name] = number
                    self._decisions.restate(self.reduced_form)
                    continue
            waiting.extend(arguments(name))
        return self.reduced(found) if asked else found

    def settled(self, value: Form, point: int) -> Value:
        """Return the number that a symbol is when what it is computed from has numbers that the decisions admit.

        Which barrier a warp waits on after any count of rounds is a number in each run only.
        """
        self._halt_at(value)
        found: Value = value
        for leaf in leaves(value):
            number = None if leaf.differs else self._decisions.example(leaf)
            if number is None:
                return value
            self._settle(point, leaf, number)
            self._state(Condition("eq", Form(((leaf, 1),)), number), True)
            found = self.reduced(found)
            if not isinstance(found, Form):
                break
        return found

    def _state(self, condition: Condition, truth: bool) -> None:
        """Record a decision, and what follows from it for earlier ones. Raises ImpossibleError."""
        pins = len(self._decisions.pins)
        self._decisions.assume(condition, truth)
        if len(self._decisions.pins) != pins:
            self._decisions.restate(self.reduced_form)
        if self._renew():
            restated = self._restated
            self._decisions.restate(lambda form: restated.inside(form) if restated.concerns(form) else form)

    def count(self, key: object) -> int:
        """Return how often this was asked with the same key before."""
        seen = self._visits.get(key, 0)
        self._visits[key] = seen + 1
        return seen

    def assume(self, kind: str, text: str, point: int) -> None:
        """Note an approximation that a verdict rests on."""
        self._assumptions.setdefault((kind, point), Assumption(kind, text, point))

    def note_stored(self, value: Value, width: int, point: int) -> None:
        """Note that a symbol is taken to fit into what is stored of it, where it may not."""
        if may_be_cut(value, width):
            self.assume(CUT, CUT_NUMBERS, point)

    def note_loss(self, loss: str, types: Typing, values: Sequence[Value], point: int) -> None:
        """Note what an instruction may take from the symbols that it reads."""
        for value in values:
            if isinstance(value, Form) and (
                may_be_cut(value, types.width) if loss == CUT_NUMBERS
                else loss != EXTENDED or not self._is_positive(value)
            ):  # fmt: skip
                self.assume(CUT, loss, point)
                return

    def _is_positive(self, value: Form) -> bool:
        if self._decisions.stated(Condition("lt", value, 0)) is False:
            return True
        return (
            all(factor > 0 and not may_be_negative(name) for name, factor in value.terms)
            and value.constant >= 0
        )

    def _note_multiple(self, condition: Condition, point: int) -> None:
        if is_multiple(condition):
            self.assume(CUT, MULTIPLES, point)

    def note_loaded(self, value: Value, point: int, guard: ThreadSet) -> None:
        """Note which access reads a symbol: the last one that was recorded, if it is the one of the load."""
        last = self._access_of(point, guard)
        if last is None or not isinstance(value, Form):
            return
        self._loaded[last.index] = (*self._loaded.get(last.index, ()), *(name for name, _ in value.terms))

    def _access_of(self, point: int, guard: ThreadSet) -> Event | None:
        """Return the access that some threads have just recorded, None when it was another one, or of other threads."""
        last = self._events[-1] if self._events else None
        return last if last is not None and last.point == point and last.threads == guard else None

    def read_ring(self, point: int, address: Value, size: int, guard: ThreadSet) -> Value | None:
        """Return what is handed on through a ring. Raises ParkError when it has not been written yet.

        With ordinary accesses, only what the one access of these threads reads: else nothing could check its turn.
        """
        if not self.program.ring_stores or not isinstance(address, int):
            return None
        if self.program.accesses and self._access_of(point, guard) is None:
            return None
        read = self.rings.read(address, size, guard, may_park=self.table.may_park)
        if read is None:
            return None
        turn, value = read
        if self.program.accesses:
            self._ring_turns[self._events[-1].index] = turn
        self.assume(
            SHARED_RING, "what is read from a ring in shared memory was written in the same turn", point
        )
        return value

    # -- instructions

    def _step(self, point: int, threads: ThreadSet) -> None:
        instruction = self.cfg.instructions[point]
        if point in self.program.accesses:
            self._record_access(point, instruction, threads)
            if point not in self.program.points:
                return
        if point in self.program.member_masks:
            self._meet_lanes(point, instruction, threads)
            if point not in self.program.points:
                return
        self._budget -= 1
        if self._budget < 0:
            raise TooLongError("more steps than the budget allows", point)
        if not self._budget & 1023 and self._is_late():
            raise NotFollowedError("out of time", point)
        if point in self.program.leaving:
            return
        guard = threads
        if instruction.guard is not None:
            guard = self._holding(instruction, threads, point)
            if not guard:
                return
        try:
            self._perform(point, instruction, guard, threads)
        except SplitError as split:
            self._perform_parts(point, instruction, guard, threads, split.parts)

    def _perform_parts(
        self,
        point: int,
        instruction: Instruction,
        guard: ThreadSet,
        threads: ThreadSet,
        parts: tuple[ThreadSet, ...],
    ) -> None:
        """Run an instruction for each set of threads that reads one symbol."""
        crossing = Trait.CROSS_LANE in instruction.operation.traits
        if len(parts) > _MOST_PARTS or (
            crossing and not all(_whole_warps(p, guard, self.threads) for p in parts)
        ):
            if point in self.program.events:
                raise NotFollowedError("operands differ between too many threads", point)
            self.write_opaque(
                instruction, guard, "merged", point, self.count(("merged", point)), differs=LANE | WARP
            )
            return
        rest = guard
        for part in parts:
            rest &= ~part
        for part in (*parts, rest):
            if part & guard:
                try:
                    self._perform(point, instruction, part & guard, threads)
                except SplitError as split:
                    self._perform_parts(point, instruction, part & guard, threads, split.parts)

    def _holding(self, instruction: Instruction, threads: ThreadSet, point: int) -> ThreadSet:
        """Return the threads for which the guard of an instruction holds."""
        guard = instruction.guard
        assert guard is not None
        holds: ThreadSet = 0
        decided = point in self.program.events and point not in self.program.thread_copies
        for held, value in self._guard_pieces(guard.register, threads):
            truth = lanes.negate(value) if guard.negated else value
            known = self._known(truth, held, point if decided else -1)
            if known is None:
                assert isinstance(truth, Form)
                if point in self.program.thread_copies:
                    self._may_copy(point, instruction, held & ~failing(truth, self.threads), threads)
                    continue
                if point not in self.program.events:
                    self._guarded_write(point, instruction, held, truth)
                    continue
                known = self._decide(truth, held, point)
            holds |= known
        if decided and not self._speculative:
            for taken in (True, False):
                if holds if taken else threads & ~holds:
                    self._took(point, taken, False)
        return holds

    def _may_copy(self, point: int, instruction: Instruction, held: ThreadSet, threads: ThreadSet) -> None:
        """Record a copy that threads make or not."""
        self._speculative += 1
        try:
            self._perform(point, instruction, held, threads)
        except SplitError as split:
            self._perform_parts(point, instruction, held, threads, split.parts)
        self._speculative -= 1

    def _guarded_write(self, point: int, instruction: Instruction, threads: ThreadSet, truth: Form) -> None:
        """Run an instruction whose guard is open: each result is the new value or the old one."""
        registers = [r for r in dict.fromkeys(instruction.writes()) if r in self.program.wanted]
        before = [self.registers.snapshot(register) for register in registers]
        self._speculative += 1
        try:
            self._perform(point, instruction, threads, threads)
        except SplitError as split:
            self._perform_parts(point, instruction, threads, threads, split.parts)
        self._speculative -= 1
        for register, old in zip(registers, before, strict=True):
            new = self.registers.snapshot(register)
            self.registers.restore(register, old)
            self._merge_sides(register, new, old, threads, truth)
            left = threads
            for mask, _ in old or []:
                left &= ~mask
            if left:
                for held, value in [(mask & left, v) for mask, v in new or [] if mask & left]:
                    self.registers.write(register, held, value)

    def _perform(self, point: int, instruction: Instruction, guard: ThreadSet, threads: ThreadSet) -> None:
        operation = instruction.operation
        if point in self.program.events:
            if Trait.ANYTHING in operation.traits:
                raise NotFollowedError(operation.problem or f"unknown instruction '{operation.text}'", point)
            if Trait.CALL in operation.traits:
                text = "call of a function that may synchronise, access shared memory or end threads"
                raise NotFollowedError(text, point)
            if point in self.program.peeks and len(warps := _by_warp(guard, self.threads)) > 1:
                for warp in warps:  # each may find another answer
                    self._perform(point, instruction, warp, threads)
                return
            peek = self._peek(point, guard)
            if peek is not None and self._peek_fails(peek):
                self._tries.failed(peek, len(self._events))
                self._write_all(instruction, guard, 0)
                return
            if peek is not None:
                self._peeks[len(self._events)] = peek
            self._record(point, instruction, threads, guard)
            return
        steps.perform(self, point, instruction, guard)
        if operation.op is Op.ELECT_SYNC and not self._speculative:
            self._append(point, guard, self._mask_at(point), threads)

    def _mask_at(self, point: int) -> dict[str, Value]:
        mask = self.program.member_masks[point]
        return {} if mask is None else {"member_mask": mask}

    def _meet_lanes(self, point: int, instruction: Instruction, threads: ThreadSet) -> None:
        """Record that lanes wait at an instruction for others of a mask, if it does not record that itself."""
        is_event = instruction.operation.op in _MEETING and point in self.program.points
        if is_event:
            return
        guard = threads
        if instruction.guard is not None:
            guard = 0
            for held, value in self._guard_pieces(instruction.guard.register, threads):
                truth = lanes.negate(value) if instruction.guard.negated else value
                known = self._known(truth, held)
                if known is None:
                    return
                guard |= known
        alone = self._parted.threads(point, guard)
        if not alone:
            return
        if self._speculative or self.program.member_masks[point] is None:
            self._take_together(point)
        else:
            self._append(point, alone, self._mask_at(point), threads)

    def _take_together(self, point: int) -> None:
        self.assume("member-mask", "the lanes that a member mask names come together", point)

    def is_parted(self, point: int, threads: ThreadSet) -> bool:
        """Tell whether some threads come to a warp-collective without lanes that it is for."""
        return bool(self._parted.threads(point, threads))

    def _append(
        self,
        point: int,
        guard: ThreadSet,
        operands: dict[str, Value],
        threads: ThreadSet,
        access: Access | None = None,
    ) -> int:
        index = len(self._events)
        certain = access is not None or not self._speculative
        self._events.append(Event(index, point, guard, operands, threads, access, certain))
        if self._observation is not None:
            self._observation.recorded(self._turns)
        return index

    def _observe_head(self, observation: Observation, group: _Group) -> None:
        carried = observation.carried.get(group.block)
        if carried and not self._speculative:
            values: list[Value | None] = []
            for register in carried:
                try:
                    values.append(self.registers.read(register, group.threads))
                except SplitError:
                    values.append(None)
            observation.at_head(group.block, group.turns, group.threads, values)

    def observe_use(self, value: Value) -> None:
        """Note what an operand depends on, before decisions make it a number."""
        if self._observation is not None:
            self._observation.use(value)

    def observe_comparison(self, point: int, threads: ThreadSet, left: Value, right: Value) -> None:
        """Note what a `setp` compares."""
        if self._observation is not None and not self._speculative:
            self._observation.compared(point, threads, self._turns, left, right)

    def write_opaque(
        self, instruction: Instruction, guard: ThreadSet, *parts: Value | str, differs: int
    ) -> None:
        """Give everything that an instruction writes a symbol of its own."""
        for number, register in enumerate(dict.fromkeys(instruction.writes())):
            if register in self.program.wanted:
                name, *rest = parts
                assert isinstance(name, str)
                self.registers.write(register, guard, lanes.opaque(name, number, *rest, differs=differs))

    # -- events

    def _record(self, point: int, instruction: Instruction, threads: ThreadSet, guard: ThreadSet) -> None:
        operands: dict[str, Value] = {}
        for spec, operand in self.program.followed_at(point):
            self._check_written(operand, guard, point)
            value = self._followed(spec.name, self.value(operand, guard), guard, point)
            operands[spec.name] = value
            if isinstance(operand, AddressOperand) and spec.second is not None:
                written = instruction[spec.name]
                assert isinstance(written, AddressOperand)
                if written.extra:
                    extra = operand.extra[0] if operand.extra else None
                    operands[spec.second.name] = 0 if extra is None else self.value(extra, guard)
        index = self._append(point, guard, operands, threads)
        if (
            instruction.operation.op in _CTA_BARRIERS
            and operands.get("threads", self.threads) == self.threads
        ):
            self.table.pass_barrier(lanes_of(guard, self.threads))
        op = instruction.operation.op
        if op in POLLS or Trait.BARRIER in instruction.operation.traits:
            self.rings.wait(guard)
        if op in POLLS:
            self._write_all(instruction, guard, 1)
        elif op in _STATES:
            self._write_all(instruction, guard, STATE_TOKEN | index)
        else:
            differs = self._differing(instruction, operands, guard)
            visit = self.count(("result", point))
            self.write_opaque(instruction, guard, "result", point, visit, differs=differs)

    def _differing(self, instruction: Instruction, operands: Mapping[str, Value], guard: ThreadSet) -> int:
        """Return between which threads the result of an event may differ: those that meet at a barrier have one."""
        if Trait.BARRIER not in instruction.operation.traits:
            return LANE | WARP
        barrier, needed = operands.get("barrier", 0), operands.get("threads", self.threads)
        warps = sum(1 for _ in _bits_of_warps(guard, self.threads))
        if isinstance(barrier, int) and isinstance(needed, int) and 32 * warps < needed + 32:
            return 0
        return LANE | WARP if lanes.differs_of(barrier) & LANE else WARP

    def _followed(self, name: str, value: Value, guard: ThreadSet, point: int) -> Value:
        """Return an operand of an event, a number where it has to be one; nothing is decided for what may not run."""
        if not isinstance(value, Form):
            return value
        if self._speculative:
            return self._placed(value)
        self.observe_use(value)
        value = self.reduced(self.concrete(value, guard, point))
        if isinstance(value, Form) and name in _NUMBERS:
            value = self.single(value, guard)
            return self.settled(value, point) if isinstance(value, Form) and not is_pointer(value) else value
        return self._placed(value) if name in _PLACES else value

    def _peek(self, point: int, guard: ThreadSet) -> Peek | None:
        """Return the name of a poll that is not repeated, None for everything else."""
        if point not in self.program.peeks:
            return None
        first = (guard & -guard).bit_length() - 1
        if self._tries.is_over(point, first):
            self.assume("tries", "a poll that has failed a thousand times is tried until it succeeds", point)
            return None
        again = self._tries.again(point, first, len(self._events))
        return again or (point, first, self.count(("peek", point, first)))

    def _check_written(self, operand: Operand, guard: ThreadSet, point: int) -> None:
        if not all(self.registers.covers(register, guard) for register in registers_of(operand)):
            raise NotFollowedError("some of its threads have not written a register that it reads", point)

    def _write_all(self, instruction: Instruction, guard: ThreadSet, value: Value) -> None:
        for register in instruction.writes():
            self.registers.write(register, guard, value)

    def _record_access(self, point: int, instruction: Instruction, threads: ThreadSet) -> None:
        """Record an access of shared memory; its predicate is not decided for its sake."""
        guard, certain = threads, not self._speculative
        if instruction.guard is not None:
            guard = 0
            for held, value in self._guard_pieces(instruction.guard.register, threads):
                truth = lanes.negate(value) if instruction.guard.negated else value
                known = self._known(truth, held)
                certain = certain and known is not None
                guard |= held & ~failing(truth, self.threads) if known is None else known
        if not guard:
            return
        kind = self.program.accesses[point]
        self._before_access = len(self._events)
        self._add_accesses(point, kind, guard, threads, certain=certain)

    def _add_accesses(
        self, point: int, kind: AccessKind, guard: ThreadSet, threads: ThreadSet, *, certain: bool
    ) -> None:
        try:
            addresses = [(guard, self.value(kind.operand, guard))]
        except SplitError as split:
            addresses = [(part, self.value(kind.operand, part)) for part in split.parts]
        for held, address in addresses:
            self.observe_use(address)
            placed = self._placed(address) if kind.space else self.reduced(address)
            access = kind.at(placed, self.threads)
            if access is not None:
                if certain and kind.space and isinstance(placed, Form):
                    self._check_cluster(point, placed, held)
                access = self._bounded(point, replace(access, certain=certain))
                access = access if not kind.space else self._bounded_by_masks(placed, held, access)
                self._add_access(point, held, threads, access)

    def _check_cluster(self, point: int, address: Form, threads: ThreadSet) -> None:
        """Raise NotFollowedError when a symbol, in the first thread, is in a CTA that the cluster does not have."""
        first = (threads & -threads).bit_length() - 1
        number = _number_at(address, first)
        if number is not None and number < self.shape.ctas << RANK_SHIFT:
            return
        place = at_thread(address, first, self.threads)
        if not isinstance(place, Form) or place.constant < self.shape.ctas << RANK_SHIFT:
            return
        rank = self.shape.ctas
        while (
            rank < _MOST_CTAS
            and self._decisions.implied(Condition("lt", place, (rank + 1) << RANK_SHIFT)) is False
        ):
            rank += 1
        if self._decisions.implied(Condition("lt", place, rank << RANK_SHIFT)) is False:
            text = f"an address is in CTA {rank} of a cluster of {self.shape.ctas}"
            raise NotFollowedError(text, point, ctas=rank + 1)

    def _bounded_by_masks(self, place: Value, threads: ThreadSet, access: Access) -> Access:
        """Return an access with the bytes that masks leave of a place which is not known, if that are fewer."""
        ends = interval_of(place, threads, self.threads) if isinstance(place, Form) else None
        if ends is None or access.address is not None or not access.size:
            return access
        start, end = ends[0] & OFFSET_MASK, (ends[1] & OFFSET_MASK) + access.size
        if {each >> RANK_SHIFT for each in ends} != {self.rank} or (
            access.within is not None and access.within.end - access.within.start <= end - start
        ):
            return access
        return replace(access, within=Bytes(start, end, of_any=False))

    def _bounded(self, point: int, access: Access) -> Access:
        """Return an access with the bytes that it stays inside, or where its array starts, if it has no address."""
        if access.address is not None:
            return access
        pointer = self.program.pointer(point)
        within = None if pointer is None else self.layout.within(pointer, access.size)
        if within is not None:
            return replace(access, within=within)
        return replace(access, array=self.layout.open_array(self.program.array_start(point)))

    def _add_access(self, point: int, guard: ThreadSet, threads: ThreadSet, access: Access) -> None:
        self._append(point, guard, {}, threads, access)

    def _accesses_of(self, region: Region) -> Iterator[tuple[int, AccessKind]]:
        for block in sorted(region.blocks):
            for point in self.program.steps[block]:
                kind = self.program.accesses.get(point)
                if kind is not None:
                    yield point, kind

    def _record_skipped(self, region: Region, threads: ThreadSet) -> None:
        """Record the accesses of a region that is not followed, each as one that may happen."""
        for point, kind in self._accesses_of(region):
            if kind.operand.base in region.written:
                access = Access(kind.reads, kind.writes, None, kind.size, kind.lanes, certain=False)
                self._add_access(point, threads, threads, self._bounded(point, access))
            else:
                self._add_accesses(point, kind, threads, threads, certain=False)

    # -- numbers in shared memory

    def keep_stored(self, point: int, address: int, size: int, value: Value, threads: ThreadSet) -> None:
        """Keep what threads store to one place; a store that may not happen leaves open what is there."""
        known = None if self._speculative else value
        if point in self.program.ring_stores:
            self.rings.write(address, size, known, threads)
        if point not in self.program.ring_stores or point in self.program.table_stores:
            self.table.write(address, size, known, lanes_of(threads, self.threads))

    def forget_stored(self, point: int, threads: ThreadSet) -> None:
        """Note that a store writes some of the bytes that it may write, or none of them."""
        if point in self.program.ring_stores and point not in self.program.table_stores:
            return
        if point in self.program.spread_stores:
            places = self._bytes_of_store(point)
            self.table.write(places.start, len(places), None, lanes_of(threads, self.threads))
            return
        instruction = self.cfg.instructions[point]
        address = self.value(instruction.operands[0], threads)
        assert isinstance(address, int)
        self.table.write(address, access_bytes(instruction), None, lanes_of(threads, self.threads))

    # -- operands

    def read(self, register: Register, threads: ThreadSet) -> Value:
        """Return the value of a register. Raises SplitError."""
        value = self.registers.read(register, threads)
        if value is None:
            if special_name(register) is None:
                return _undefined(register)
            return self._special(register.name, "")
        if isinstance(value, Form) and any(name.depth > _DEEP for name, _ in value.terms):
            self.observe_use(value)
            return self.reduced(value)
        return value

    def parameter(self, offset: int, types: Typing) -> Value:
        """Return a parameter word: a number that is given, or that the host passes, else a symbol."""
        size = types.width // 8
        found = self.layout.parameter(offset, size)
        if self._host is None or isinstance(found, int):
            return found
        number = self._host.parameter(offset, size, is_float=not types.is_integer)
        return found if number is None else number

    def from_host(self, point: int, address: Value, types: Typing, guard: ThreadSet) -> Value | None:
        """Return what the host has put into global memory, None when it has put no numbers there."""
        size, is_float = types.width // 8, not types.is_integer
        if self._host is None or size > 8:
            return None
        if isinstance(address, Form):
            return self._host.load_anywhere(point, address, size, is_float=is_float)
        if isinstance(address, int):
            return self._host.load(point, address, size, is_float=is_float)
        active = lanes_of(guard, self.threads)
        held = np.zeros(self.threads, dtype=np.uint64)
        for place in np.unique(address[active]).tolist():
            held[active & (address == place)] = self._host.load(point, place, size, is_float=is_float)
        return lanes.settle(held)

    def _of_host(self, special: Value | None) -> Value | None:
        """Return a special register with the numbers of the grid that the host has launched."""
        if self._host is None or not isinstance(special, Form):
            return special
        known: dict[Atom, int] = {}
        for name, _ in special.terms:
            register, _, axis = str(name[1]).partition(".")
            number = self._host.special(register, "xyz".index(axis)) if axis else None
            if number is not None:
                known[name] = number
        return with_pins(special, known, self.threads)

    def _special(self, name: str, axis: str) -> Value:
        if changes(name):
            return lanes.opaque("volatile", name, self.count(("special", name)), differs=LANE | WARP)
        known = self._specials.get((name, axis))
        if known is None:
            found = special_register(name, axis, self.shape, self.rank)
            found = self._of_host(found)
            known = (
                found if found is not None else lanes.opaque("undefined", name + axis, differs=LANE | WARP)
            )
            self._specials[(name, axis)] = known
        return known

    def value(self, operand: Operand, threads: ThreadSet) -> Value:
        """Return the value of an operand; for an address the number in the brackets. Raises SplitError."""
        match operand:
            case Register():
                return self.read(operand, threads)
            case Immediate(value=value):
                return value & _MASK64
            case FloatImmediate(bits=bits):
                return bits
            case Component(base=base, field=name):
                return self._special(base.name, name)
            case Negated(operand=inner):
                return lanes.negate(self.read(inner, threads))
            case Symbol():
                return self.layout.address(operand, self.rank)
            case SymbolOffset(symbol=symbol, offset=offset):
                return lanes.add(self.layout.address(symbol, self.rank), offset & _MASK64, 64)
            case AddressOperand(base=base, offset=offset):
                if base is None:
                    return offset
                start = self.value(base, threads)
                return lanes.add(start, offset & _MASK64, 64) if offset else start
            case _:
                return lanes.opaque("operand", differs=LANE | WARP)


def _undefined(register: Register) -> Form:
    """Return what a register holds that was not written."""
    return lanes.opaque("undefined", register.name, register.scope)


def _pieces(
    register: Register, held: list[tuple[ThreadSet, Value]] | None, threads: ThreadSet
) -> list[tuple[ThreadSet, Value]]:
    """Return what threads hold in a register of which this is the snapshot."""
    found = [(part, value) for mask, value in held or [] if (part := mask & threads)]
    for part, _ in found:
        threads &= ~part
    return [*found, (threads, _undefined(register))] if threads else found


def _is_one(differs: int, threads: ThreadSet, first: int) -> bool:
    """Tell whether threads that may differ in this way are one warp, one lane of all warps, or one thread."""
    if differs & WARP and threads >> first // 32 * 32 + 32:
        return False
    if differs & LANE:
        lanes_used = 0
        rest = threads
        while rest:
            lanes_used |= rest & 0xFFFFFFFF
            rest >>= 32
        return lanes_used.bit_count() == 1
    return True


def _bits_of_warps(threads: ThreadSet, count: int) -> Iterator[int]:
    for first in range(0, count, 32):
        if threads >> first & 0xFFFFFFFF:
            yield first


def _by_warp(threads: ThreadSet, count: int) -> list[ThreadSet]:
    return [threads & 0xFFFFFFFF << first for first in _bits_of_warps(threads, count)]


def _whole_warps(part: ThreadSet, guard: ThreadSet, count: int) -> bool:
    """Tell whether a part of the active threads holds all active threads of each warp that it touches."""
    return all(not ((part ^ guard) & guard) >> first & 0xFFFFFFFF for first in _bits_of_warps(part, count))


def _shown(value: Form) -> str:
    text = str(value)
    return text if len(text) < 120 else text[:117] + "..."


__all__ = ["STATE_TOKEN", "Choose", "Machine", "Question", "lanes_of"]


def _number_at(address: Form, thread: int) -> int | None:
    """Return what of an address is a number in one thread, None when operations in it may be numbers in part."""
    place = address.constant
    for name, factor in address.terms:
        if name.inner[0] == "lanes":
            held = np.frombuffer(name.inner[1], dtype=np.uint64)  # type: ignore[call-overload]
            place += factor * int(held[thread])
        elif name.differs or name.inner[0] == "sum":
            return None
    return place
