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

import numpy as np

from ....cfg.graph import Edge, EdgeKind
from ....cfg.optypes import Typing
from ....cfg.special import changes, special_name
from ....ir import Address as AddressOperand
from ....ir import (
    Component,
    FloatImmediate,
    Guard,
    Immediate,
    Instruction,
    Negated,
    Operand,
    Register,
    Symbol,
    SymbolOffset,
    registers_of,
)
from ....opcodes.op import Op
from ....opcodes.spec import Trait
from ...proof.first.deciding import (
    MOST_PARTS,
    Choose,
    Decider,
    Follow,
    Pair,
    Settle,
)
from ...proof.first.whole_clusters import Ways
from ...typestate.shared_access import access_bytes
from ..slice.sliced_program import Program
from ..values import lane_arithmetic as lanes
from ..values.register_file import (
    RegisterFile,
    SplitError,
    lanes_of,
    set_of,
)
from ..values.substitution import failing, with_pins
from ..values.symbol import (
    LANE,
    WARP,
    Atom,
    Decisions,
    Form,
    Value,
)
from ..values.thread_sets import (
    by_warp,
    holds_whole_warps,
    warps_by_number,
    warps_of,
)
from ..values.trace import (
    RANK_SHIFT,
    SHARED_RING,
    Access,
    Assumption,
    Event,
    HaltError,
    NotFollowedError,
    Peek,
    Shape,
    Side,
    ThreadSet,
    TooLongError,
    Trace,
)
from ..values.wraparound import (
    CUT,
    CUT_NUMBERS,
    EXTENDED,
    may_be_cut,
)
from . import register_instructions as steps
from .accesses import is_pointer
from .bounded_polls import Tries
from .divergent_collectives import Parted
from .groups import Frame, Group, release
from .host import Host
from .layout import Layout
from .mailbox_rings import Rings
from .observation import Observation
from .polling import POLLS
from .shared_accesses import AccessRecorder
from .shared_words import ParkError, Table
from .special import special_register
from .state_merging import UndecidedBranches, merge

_MASK64 = (1 << 64) - 1
_CTA_BARRIERS = frozenset({Op.BAR_SYNC, Op.BAR_RED})
_MEETING = frozenset({Op.BAR_WARP_SYNC, Op.ELECT_SYNC})
"""Warp-collectives that are events by themselves."""
_STATES = frozenset({Op.MBARRIER_ARRIVE, Op.MBARRIER_ARRIVE_DROP})
STATE_TOKEN = 1 << 62
"""Bit of a number that stands for the state which the arrive with the event index in the low bits returned."""
_UNLIMITED = 1 << 62
_DEEP = 8
"""Symbols nested deeper are computed again with what the decisions have made numbers."""
_NUMBERS = frozenset({"addr", "mbar", "mask", "parity", "barrier", "threads", "count", "dst"})
"""Operands that have to be numbers: which barrier, which phase, how many."""
_PLACES = frozenset({"src", "a_desc", "b_desc", "s_desc"})
"""Operands that say where something is read, and may stay symbols."""


Took = Callable[[int, bool, bool], None]
"""Told of each side that threads took: point, does its guard hold, is it a branch on what the host or memory gives."""


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
        pair: Pair = lambda *_: None,
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
        self._choose = choose
        self._took = took
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
        self._visits: dict[object, int] = {}
        self.decider = Decider(
            program, shape, rank, decisions, Ways() if ways is None else ways, choose, follow, settle, pair,
            self.assume, halts=halts,
        )  # fmt: skip
        self.recorder = AccessRecorder(self, decisions)
        self._undecided = UndecidedBranches(self)
        self.table = Table(self._table_places(), shape.threads)
        self.rings = Rings()
        self._ring_turns: dict[int, int] = {}
        self._specials: dict[tuple[str, str], Value] = {}
        self._apart: Machine | None = None
        self._side: Side | None = None
        """The side of a branch that the threads are on which run now."""
        self._forks = 0
        """How often threads have parted."""

    def run(self) -> Trace:
        """Run every thread to its exit. Raises NotFollowedError."""
        self._run_groups(Group(0, (1 << self.threads) - 1, None))
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
            self._apart.decider.speculative = 1
        return self._apart

    def step_alone(self, point: int, threads: ThreadSet) -> None:
        """Run one instruction that records nothing. Raises SplitError, NotFollowedError."""
        self._step(point, threads)

    # -- control

    def _run_groups(self, first: Group) -> ThreadSet:
        """Run a group, and those that it splits into, to the end; return the threads that come to its own join.

        A group that reads what others may still store waits until nobody else can go on.
        """
        groups, parked = [first], list[Group]()
        arrived: ThreadSet = 0
        outer = first.frame
        while groups or parked:
            if not groups:
                waiting, parked = parked, []
                moved = [self._try(group, groups, parked) for group in waiting]
                if not any(moved) and not release(groups, parked):
                    self._unpark(groups, parked)
                continue
            group = groups.pop()
            self._try(group, groups, parked)
        if outer is not None:
            arrived = outer.arrived
        return arrived

    def _try(self, group: Group, groups: list[Group], parked: list[Group]) -> bool:
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

    def _forget_access(self, group: Group) -> None:
        """Drop the access of a read that is made again."""
        point = self._parted.steps(group.block, group.threads)[group.at]
        if point in self.program.accesses:
            for index in range(self._before_access, len(self._events)):
                self._ring_turns.pop(index, None)
                self._loaded.pop(index, None)
            del self._events[self._before_access :]
            if self._observation is not None:
                del self._observation.rounds[self._before_access :]

    def _unpark(self, groups: list[Group], parked: list[Group]) -> None:
        """Everybody waits: let one group read without knowing what."""
        self.table.may_park = False
        group = parked.pop(0)
        self._side = group.side
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

    def _advance(self, group: Group, groups: list[Group]) -> None:
        """Run a group until it ends, waits at a join, or splits. Raises ParkError, with the group before the read."""
        headers, steps_of = self.program.headers, self._parted.steps
        while True:
            frame = group.frame
            if frame is not None and group.block == frame.join:
                if not group.arrive(frame):
                    return
                continue
            if group.block == self.cfg.exit:
                self.table.end(lanes_of(group.threads, self.threads))
                self._ended |= group.threads
                if not group.end():
                    return
                continue
            if group.at == 0:
                inside = headers.get(group.block)
                if inside is not None:
                    again = group.came_from in inside
                    group.turns[group.block] = group.turns.get(group.block, -1) + 1 if again else 0
            self.decider.turns = group.turns
            self._side = group.side
            if self._observation is not None and group.at == 0:
                self._observe_head(self._observation, group)
            points = steps_of(group.block, group.threads)
            while group.at < len(points):
                self._step(points[group.at], group.threads)
                group.at += 1
            if not self._leave(group, groups):
                return

    def _leave(self, group: Group, groups: list[Group]) -> bool:
        """Go to the next block, or split; False when the group has ended or waits for others."""
        block, threads = group.block, group.threads
        edges = self.cfg.graph.outgoing[block]
        if len(edges) == 1:
            group.move(edges[0].target, block)
            return True
        join = self.program.join(block)
        last = self.cfg.blocks[block].last
        if last not in self.program.points:
            self.recorder.record_skipped(self.program.region(block), threads)
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
        self._forks += 1
        fork = self._forks
        if join != self.cfg.exit:
            frame = Frame(join, block, frame, len(sides), dict(group.turns), side=group.side, fork=fork)
        elif frame is not None:
            frame.left += len(sides) - 1
        for edge, taken in reversed(sides):
            part = Group(edge.target, taken, frame, side=Side(group.side, fork, taken))
            part.came_from = block
            part.turns = dict(group.turns)
            groups.append(part)
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
        for held, truth in self.guard_truths(first.guard, threads):
            known = self.decider.known(truth, held, acting)
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
            taken |= self.decider.decide(truth, held, point, self._loop_side(block, first, other))
        sides = [(e, t) for e, t in ((first, taken), (other, threads & ~taken)) if t]
        is_open = point in self.program.open_branches
        if (is_open or self._host is not None) and not self.decider.speculative:
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
            self._undecided.join(block, first, other, held, truth)
        return True

    def guard_truths(self, guard: Guard, threads: ThreadSet) -> Iterator[tuple[ThreadSet, Value]]:
        """Yield whether a guard holds, for each set of threads that holds one value of its predicate."""
        for held, value in self.guard_pieces(guard.register, threads):
            yield held, lanes.negate(value) if guard.negated else value

    def guard_pieces(self, register: Register, threads: ThreadSet) -> list[tuple[ThreadSet, Value]]:
        """Return what threads hold in a register, by the sets that hold one value."""
        try:
            return [(threads, self.read(register, threads))]
        except SplitError as split:
            return [(part, self.read(register, part)) for part in split.parts]

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
        index = self.decider.concrete(
            self.value(self.cfg.instructions[point].operands[0], threads), threads, point
        )
        if isinstance(index, Form):
            self.decider.halt_at(index)
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

    def run_aside(self, source: int, block: int, threads: ThreadSet, join: int) -> None:
        """Run one side of a branch that records nothing, as far as the join."""
        turns, may_park = self.decider.turns, self.table.may_park
        side = self._side
        frame = Frame(join, source, None, 1, dict(turns), is_outermost=True)
        group = Group(block, threads, frame, side=side)
        group.came_from, group.turns = source, dict(turns)
        self.table.may_park = False
        self._run_groups(group)
        self.decider.turns, self.table.may_park, self._side = turns, may_park, side

    # -- decisions

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
                else loss != EXTENDED or not self.decider.is_positive(value)
            ):  # fmt: skip
                self.assume(CUT, loss, point)
                return

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
        if point in self.program.ring_loads and self._read_apart(point, instruction, threads):
            return
        if point in self.program.accesses:
            self.recorder.record(point, instruction, threads)
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

    def _read_apart(self, point: int, instruction: Instruction, threads: ThreadSet) -> bool:
        """Run a read of several stages of a ring for the warps at each: they are in turns of their own.

        False where all read one, or lanes of one warp several.
        """
        try:
            address = self.value(instruction.operands[1], threads)
        except SplitError:
            return False
        parts = [] if isinstance(address, int | Form) else warps_by_number(address, threads)
        if len(parts) < 2:
            return False
        before = len(self._events)
        try:
            for part in parts:
                self._step(point, part)
        except ParkError:
            self._before_access = before
            raise
        return True

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
        if len(parts) > MOST_PARTS or (
            crossing and not all(holds_whole_warps(p, guard, self.threads) for p in parts)
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
        for held, truth in self.guard_truths(guard, threads):
            known = self.decider.known(truth, held, point if decided else -1)
            if known is None:
                assert isinstance(truth, Form)
                if point in self.program.thread_copies:
                    self._may_copy(point, instruction, held & ~failing(truth, self.threads), threads)
                    continue
                if point not in self.program.events:
                    self._guarded_write(point, instruction, held, truth)
                    continue
                known = self.decider.decide(truth, held, point)
            holds |= known
        if decided and not self.decider.speculative:
            for taken in (True, False):
                if holds if taken else threads & ~holds:
                    self._took(point, taken, False)
        return holds

    def _may_copy(self, point: int, instruction: Instruction, held: ThreadSet, threads: ThreadSet) -> None:
        """Record a copy that threads make or not."""
        self.decider.speculative += 1
        try:
            self._perform(point, instruction, held, threads)
        except SplitError as split:
            self._perform_parts(point, instruction, held, threads, split.parts)
        self.decider.speculative -= 1

    def _guarded_write(self, point: int, instruction: Instruction, threads: ThreadSet, truth: Form) -> None:
        """Run an instruction whose guard is open: each result is the new value or the old one."""
        registers = [r for r in dict.fromkeys(instruction.writes()) if r in self.program.wanted]
        before = [self.registers.snapshot(register) for register in registers]
        self.decider.speculative += 1
        try:
            self._perform(point, instruction, threads, threads)
        except SplitError as split:
            self._perform_parts(point, instruction, threads, threads, split.parts)
        self.decider.speculative -= 1
        for register, old in zip(registers, before, strict=True):
            new = self.registers.snapshot(register)
            self.registers.restore(register, old)
            merge(self, register, new, old, threads, truth)
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
            if point in self.program.peeks and len(warps := by_warp(guard, self.threads)) > 1:
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
        if operation.op is Op.ELECT_SYNC and not self.decider.speculative:
            self.append(point, guard, self._mask_at(point), threads)

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
            for held, truth in self.guard_truths(instruction.guard, threads):
                known = self.decider.known(truth, held)
                if known is None:
                    return
                guard |= known
        alone = self._parted.threads(point, guard)
        if not alone:
            return
        if self.decider.speculative or self.program.member_masks[point] is None:
            self.take_together(point)
        else:
            self.append(point, alone, self._mask_at(point), threads)

    def take_together(self, point: int) -> None:
        self.assume("member-mask", "the lanes that a member mask names come together", point)

    def is_parted(self, point: int, threads: ThreadSet) -> bool:
        """Tell whether some threads come to a warp-collective without lanes that it is for."""
        return bool(self._parted.threads(point, threads))

    def begin_access(self) -> None:
        """Remember what was recorded before an access, which may be made again."""
        self._before_access = len(self._events)

    def append(
        self,
        point: int,
        guard: ThreadSet,
        operands: dict[str, Value],
        threads: ThreadSet,
        access: Access | None = None,
    ) -> int:
        index = len(self._events)
        certain = access is not None or not self.decider.speculative
        self._events.append(Event(index, point, guard, operands, threads, access, certain, self._side))
        if self._observation is not None:
            self._observation.recorded(self.decider.turns)
        return index

    def _observe_head(self, observation: Observation, group: Group) -> None:
        carried = observation.carried.get(group.block)
        if carried and not self.decider.speculative:
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
        if self._observation is not None and not self.decider.speculative:
            self._observation.compared(point, threads, self.decider.turns, left, right)

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
        if instruction.operation.op is Op.ST_ASYNC:
            self._note_teller(point, guard)
        index = self.append(point, guard, operands, threads)
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

    def _note_teller(self, point: int, guard: ThreadSet) -> None:
        """Note that this CTA tells all of its cluster something: where several do, who is heard first is open."""
        broadcasts = self.program.broadcasts
        if broadcasts.words and point in broadcasts.stores:
            told = (1 << self.shape.ctas) - 1
            if any(~guard >> first & told for first in warps_of(guard, self.threads)):
                raise NotFollowedError("only some CTAs of a cluster are told numbers by this store", point)
            self._decisions.tellers.add(self.rank)
            if len(self._decisions.tellers) > 1:
                raise NotFollowedError(
                    "several CTAs of a cluster tell all of them numbers at the same place", point
                )

    def _differing(self, instruction: Instruction, operands: Mapping[str, Value], guard: ThreadSet) -> int:
        """Return between which threads the result of an event may differ: those that meet at a barrier have one."""
        if Trait.BARRIER not in instruction.operation.traits:
            return LANE | WARP
        barrier, needed = operands.get("barrier", 0), operands.get("threads", self.threads)
        warps = sum(1 for _ in warps_of(guard, self.threads))
        if isinstance(barrier, int) and isinstance(needed, int) and 32 * warps < needed + 32:
            return 0
        return LANE | WARP if lanes.differs_of(barrier) & LANE else WARP

    def _followed(self, name: str, value: Value, guard: ThreadSet, point: int) -> Value:
        """Return an operand of an event, a number where it has to be one; nothing is decided for what may not run."""
        if not isinstance(value, Form):
            return value
        if self.decider.speculative:
            return self.decider.placed(value)
        self.observe_use(value)
        value = self.decider.reduced(self.decider.concrete(value, guard, point))
        if isinstance(value, Form) and name in _NUMBERS:
            value = self.decider.single(value, guard)
            return (
                self.decider.settled(value, point)
                if isinstance(value, Form) and not is_pointer(value)
                else value
            )
        return self.decider.placed(value) if name in _PLACES else value

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

    # -- numbers in shared memory

    def keep_stored(self, point: int, address: int, size: int, value: Value, threads: ThreadSet) -> None:
        """Keep what threads store to one place; a store that may not happen leaves open what is there."""
        known = None if self.decider.speculative else value
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
                return lanes.undefined(register)
            return self._special(register.name, "")
        if isinstance(value, Form) and any(name.depth > _DEEP for name, _ in value.terms):
            self.observe_use(value)
            return self.decider.reduced(value)
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
