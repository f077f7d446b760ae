"""The SIMT machine: runs the sync slice of a kernel for every thread of one CTA at once.

Property: for one choice of every undecided branch, the recorded events are, for each thread, the
synchronising instructions that it executes, in program order, with their operands.

Waits do not block here: what a thread executes depends on data and never on timing, except for polls, which
are taken to succeed. Blocking, phases and order are the business of the protocol that is built from the trace.

Threads run together while they are at the same point; at a divergent branch the sides run one after the other
and meet at the immediate post-dominator. A branch outside the slice is skipped: its sides have the same
synchronising effect, which is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from ...cfg.cfg import Cfg
from ...cfg.graph import Edge, EdgeKind
from ...cfg.optypes import typing_of
from ...ir import (
    Address,
    Component,
    FloatImmediate,
    Guard,
    Immediate,
    Instruction,
    Negated,
    Operand,
    Pair,
    Register,
    Symbol,
    SymbolOffset,
    Vector,
)
from ...op import Op
from ...spec import Trait
from . import lanes
from .accesses import AccessKind
from .compute import COMPUTE, negate_predicate
from .layout import Layout
from .registers import RegisterFile, lanes_of, set_of
from .special import special_register
from .symbol import Condition, Decisions, Form, Value
from .trace import (
    OFFSET_MASK,
    PARAM_WINDOW,
    RANK_SHIFT,
    SHARED_WINDOW,
    Access,
    Assumption,
    Event,
    NotFollowedError,
    Shape,
    ThreadSet,
    Trace,
)

Choose = Callable[[int, int], bool]
"""Decides an open predicate: (point, how often this point was decided before) → does its guard hold."""

_EVENT_TRAITS = frozenset(
    {
        Trait.MBARRIER, Trait.BARRIER, Trait.WAIT, Trait.COMMIT, Trait.ASYNC, Trait.FENCE, Trait.TENSOR_MEMORY,
        Trait.WARPGROUP,
    }
)  # fmt: skip
_POLLS = frozenset({Op.MBARRIER_TEST_WAIT, Op.MBARRIER_TRY_WAIT})


class Machine:
    """One CTA. Use `run` once."""

    def __init__(
        self,
        cfg: Cfg,
        relevant: frozenset[int],
        layout: Layout,
        shape: Shape,
        rank: int,
        decisions: Decisions,
        choose: Choose,
        budget: int = 200_000,
        accesses: Mapping[int, AccessKind] | None = None,
    ) -> None:
        self._cfg = cfg
        self._relevant = relevant
        self._layout = layout
        self._shape = shape
        self._rank = rank
        self._decisions = decisions
        self._choose = choose
        self._budget = budget
        self._accesses = accesses or {}
        self._threads = shape.threads
        self._all: ThreadSet = (1 << shape.threads) - 1
        self._registers = RegisterFile(shape.threads)
        self._events: list[Event] = []
        self._assumptions: dict[tuple[str, int], Assumption] = {}
        self._decided: dict[int, int] = {}
        self._loads: dict[object, int] = {}

    def run(self) -> Trace:
        """Run every thread to its exit. Raises NotFollowedError."""
        self._execute(0, self._all, self._cfg.exit)
        return Trace(
            self._rank, self._shape, tuple(self._events), tuple(self._decisions.taken),
            tuple(self._assumptions.values()),
        )  # fmt: skip

    # -- control

    def _execute(self, block: int, threads: ThreadSet, stop: int) -> ThreadSet:
        """Run `threads` from a block until `stop`; return those that reach it."""
        exits = self._cfg.exit
        while block != stop and threads:
            if block == exits:
                return 0 if stop != exits else threads
            for point in self._cfg.blocks[block].points:
                self._step(point, threads)
            block, threads = self._leave(block, threads, stop)
        return threads

    def _leave(self, block: int, threads: ThreadSet, stop: int) -> tuple[int, ThreadSet]:
        """Return the next block and the threads that go there together."""
        edges = self._cfg.graph.outgoing[block]
        if len(edges) == 1:
            return edges[0].target, threads
        join = self._cfg.postdominators.parent[block]
        if join is None:
            join = self._cfg.exit
        last = self._cfg.blocks[block].last
        if last not in self._relevant:
            self._record_skipped(block, join, threads)
            return join, threads
        sides = [(edge, taken) for edge, taken in self._split(edges, threads, last) if taken]
        if len(sides) == 1:
            return sides[0][0].target, sides[0][1]
        arrived: ThreadSet = 0
        for edge, taken in sides:
            if edge.kind in (EdgeKind.EXIT, EdgeKind.TRAP):
                continue
            arrived |= taken if edge.target == join else self._execute(edge.target, taken, join)
        if join == self._cfg.exit and stop != join:
            return join, 0
        return join, arrived

    def _split(
        self, edges: tuple[Edge, ...], threads: ThreadSet, point: int
    ) -> Iterator[tuple[Edge, ThreadSet]]:
        """Yield the threads that take each edge out of a block."""
        if any(edge.cases for edge in edges):
            yield from self._split_table(edges, threads, point)
            return
        left = threads
        guarded = [edge for edge in edges if edge.guard is not None]
        if not guarded or any(edge.kind is EdgeKind.UNKNOWN for edge in edges):
            raise NotFollowedError("jump whose targets are not known", point)
        first, *others = guarded
        assert first.guard is not None
        taken = self._truth(self._guard_value(first.guard, threads), threads, point)
        yield first, taken
        left &= ~taken
        rest = others or [edge for edge in edges if edge is not first]
        yield rest[0], left

    def _split_table(
        self, edges: tuple[Edge, ...], threads: ThreadSet, point: int
    ) -> Iterator[tuple[Edge, ThreadSet]]:
        instruction = self._cfg.instructions[point]
        index = self._value(instruction.operands[0], threads)
        if isinstance(index, Form):
            raise NotFollowedError("jump table with an index that is not known", point)
        for edge in edges:
            yield edge, self._where(index, edge.cases, threads)

    def _where(self, index: Value, cases: tuple[int, ...], threads: ThreadSet) -> ThreadSet:
        if isinstance(index, int):
            return threads if index in cases else 0
        assert isinstance(index, np.ndarray)
        return set_of(np.isin(index, cases)) & threads

    def _guard_value(self, guard: Guard, threads: ThreadSet) -> Value:
        value = self._read(guard.register, threads)
        return negate_predicate(value) if guard.negated else value

    def _truth(self, value: Value, threads: ThreadSet, point: int) -> ThreadSet:
        """Return the threads for which a predicate holds, deciding what is open."""
        if isinstance(value, int):
            return threads if value & 1 else 0
        if isinstance(value, np.ndarray):
            return set_of(value != 0) & threads
        return threads if self._decide(value, point) else 0

    def _decide(self, value: Form, point: int) -> bool:
        condition, positive = condition_of(value)
        truth = self._decisions.implied(condition)
        if truth is None:
            count = self._decided.get(point, 0)
            self._decided[point] = count + 1
            truth = self._choose(point, count) == positive
            self._decisions.assume(condition, truth)
        return truth == positive

    # -- instructions

    def _step(self, point: int, threads: ThreadSet) -> None:
        instruction = self._cfg.instructions[point]
        operation = instruction.operation
        traits = operation.traits
        if point in self._accesses:
            self._record_access(point, instruction, threads)
        if point not in self._relevant:
            return
        self._budget -= 1
        if self._budget < 0:
            raise NotFollowedError("more steps than the budget allows", point)
        if Trait.BRANCH in traits or Trait.TERMINATOR in traits:
            return
        guard = threads
        if instruction.guard is not None:
            guard = self._truth(self._guard_value(instruction.guard, threads), threads, point)
            if not guard:
                return
        if Trait.ANYTHING in traits:
            raise NotFollowedError(operation.problem or f"unknown instruction '{operation.text}'", point)
        if Trait.CALL in traits:
            raise NotFollowedError("call of a function that synchronises", point)
        if traits & _EVENT_TRAITS:
            self._record(point, instruction, threads, guard)
            return
        self._compute(point, instruction, guard)

    def _record(self, point: int, instruction: Instruction, threads: ThreadSet, guard: ThreadSet) -> None:
        operands: dict[str, Value] = {}
        for spec, operand in zip(instruction.operation.operand_specs, instruction.operands, strict=True):
            if isinstance(operand, Register | Immediate | Address | Component | SymbolOffset | Symbol):
                operands[spec.name] = self._value(operand, guard)
                if isinstance(operand, Address) and operand.extra and spec.second is not None:
                    extra = operand.extra[0]
                    operands[spec.second.name] = 0 if isinstance(extra, Vector) else self._value(extra, guard)
        event = Event(len(self._events), point, threads, operands, guard)
        self._events.append(Event(event.index, point, guard, operands, threads))
        self._define_results(instruction, guard, event.index)

    def _record_access(self, point: int, instruction: Instruction, threads: ThreadSet) -> None:
        """Record an access of shared memory; its predicate is not decided for its sake."""
        guard, certain = threads, True
        if instruction.guard is not None:
            holds = self._guard_value(instruction.guard, threads)
            if isinstance(holds, Form):
                certain = False
            else:
                guard = self._truth(holds, threads, point)
        if not guard:
            return
        kind = self._accesses[point]
        access = kind.at(self._value(kind.operand, guard))
        if access is not None:
            self._add_access(point, guard, threads, replace(access, certain=certain))

    def _add_access(self, point: int, guard: ThreadSet, threads: ThreadSet, access: Access) -> None:
        self._events.append(Event(len(self._events), point, guard, {}, threads, access))

    def _record_skipped(self, block: int, join: int, threads: ThreadSet) -> None:
        """Record the accesses between a branch that is not followed and its join, each as one that may happen."""
        if not self._accesses:
            return
        waiting, seen = list(self._cfg.successors[block]), {block, join, self._cfg.exit}
        while waiting:
            each = waiting.pop()
            if each in seen:
                continue
            seen.add(each)
            waiting.extend(self._cfg.successors[each])
            for point in self._cfg.blocks[each].points:
                kind = self._accesses.get(point)
                if kind is not None:
                    access = Access(kind.reads, kind.writes, None, kind.size, kind.lanes, certain=False)
                    self._add_access(point, threads, threads, access)

    def _define_results(self, instruction: Instruction, guard: ThreadSet, index: int) -> None:
        if instruction.operation.op is Op.ELECT_SYNC:
            self._elect(instruction, guard)
            return
        result: Value = 1 if instruction.operation.op in _POLLS else (1 << 62) | index
        for register in instruction.writes():
            self._registers.write(register, guard, result)

    def _compute(self, point: int, instruction: Instruction, guard: ThreadSet) -> None:
        op = instruction.operation.op
        special = _SPECIAL.get(op)
        if special is not None:
            special(self, point, instruction, guard)
            return
        function = COMPUTE.get(op)
        if function is None or not instruction.operands:
            self._opaque_results(instruction, guard)
            return
        target, *sources = instruction.operands
        if not isinstance(target, Register) or any(isinstance(s, Vector) for s in sources):
            self._move_vector(instruction, guard)
            return
        types = typing_of(instruction.operation)
        if not types.is_integer and op is not Op.MOV and op is not Op.SELP and op is not Op.CVT:
            self._opaque_results(instruction, guard)
            return
        values = [self._value(source, guard) for source in sources]
        if op in (Op.AND, Op.OR, Op.XOR) and types.width == 1:
            values = self._same_kind(values, point)
        self._registers.write(target, guard, lanes.settle(function(types, values, self._threads)))

    def _move_vector(self, instruction: Instruction, guard: ThreadSet) -> None:
        """`mov` that packs or unpacks a vector."""
        if instruction.operation.op is not Op.MOV or len(instruction.operands) != 2:
            self._opaque_results(instruction, guard)
            return
        target, source = instruction.operands
        width = typing_of(instruction.operation).width
        if isinstance(source, Vector):
            part = width // len(source.elements)
            total: Value = 0
            for position, element in enumerate(source.elements):
                total = lanes.add(
                    total, lanes.multiply(self._value(element, guard), 1 << position * part, width), width
                )
            if isinstance(target, Register):
                self._registers.write(target, guard, total)
        elif isinstance(target, Vector):
            value = self._value(source, guard)
            part = width // len(target.elements)
            for position, element in enumerate(target.elements):
                if isinstance(element, Register):
                    self._registers.write(element, guard, _slice(value, position, part))

    def _opaque_results(self, instruction: Instruction, guard: ThreadSet) -> None:
        written = list(instruction.writes())
        sources = [self._value(r, guard) for r in dict.fromkeys(instruction.reads()) if r not in written]
        for number, register in enumerate(written):
            self._registers.write(register, guard, lanes.opaque(instruction.operation.text, number, *sources))

    # -- operands

    def _read(self, register: Register, threads: ThreadSet) -> Value:
        value = self._registers.read(register, threads)
        if value is not None:
            return value
        known = special_register(register.name, "", self._shape, self._rank)
        return known if known is not None else lanes.opaque("undefined", register.name)

    def _value(self, operand: Operand, threads: ThreadSet) -> Value:
        match operand:
            case Register():
                return self._read(operand, threads)
            case Immediate(value=value):
                return value & ((1 << 64) - 1)
            case FloatImmediate(bits=bits):
                return bits
            case Component(base=base, field=name):
                known = special_register(base.name, name, self._shape, self._rank)
                return known if known is not None else lanes.opaque("undefined", base.name + name)
            case Negated(operand=inner):
                return negate_predicate(self._read(inner, threads))
            case Symbol():
                return self._layout.address(operand, self._rank)
            case SymbolOffset(symbol=symbol, offset=offset):
                return lanes.add(self._layout.address(symbol, self._rank), offset & ((1 << 64) - 1), 64)
            case Address(base=base, offset=offset):
                if base is None:
                    return offset
                start = self._value(base, threads)
                return lanes.add(start, offset & ((1 << 64) - 1), 64) if offset else start
            case _:
                return lanes.opaque("operand")

    def assume(self, kind: str, text: str, point: int) -> None:
        """Note an approximation that a verdict rests on."""
        self._assumptions.setdefault((kind, point), Assumption(kind, text, point))

    # -- instructions that look at lanes, memory or addresses

    def _elect(self, instruction: Instruction, guard: ThreadSet) -> None:
        """`elect.sync`: the lowest active lane of each warp leads (the ISA only fixes that it is always the same)."""
        leaders: ThreadSet = 0
        for warp in range(0, self._threads, 32):
            active = guard >> warp & 0xFFFFFFFF
            if active:
                leaders |= (active & -active) << warp
        (result, *_) = instruction.operands
        lane: Value = lanes.opaque("leader")
        chosen = lanes_of(leaders, self._threads).astype(np.uint64)
        targets = (result.first, result.second) if isinstance(result, Pair) else (result,)
        if isinstance(targets[-1], Register):
            self._registers.write(targets[-1], guard, chosen)
        if len(targets) == 2 and isinstance(targets[0], Register):
            self._registers.write(targets[0], guard, lane)

    def _shuffle(self, point: int, instruction: Instruction, guard: ThreadSet) -> None:
        target, source, lane, *_ = instruction.operands
        value = self._value(source, guard)
        index = self._value(lane, guard)
        result: Value
        if isinstance(value, int):
            result = value
        elif (
            isinstance(value, np.ndarray)
            and isinstance(index, int)
            and ".idx" in instruction.operation.modifiers
        ):
            first = np.arange(self._threads) // 32 * 32 + (index & 31)
            result = value[np.minimum(first, self._threads - 1)]
        elif isinstance(value, Form) and ".idx" in instruction.operation.modifiers:
            result = value
            self.assume("shuffled-symbol", "a shuffled value is taken to be the same in all lanes", point)
        else:
            result = lanes.opaque("shfl", value, index)
        targets = (target.first, target.second) if isinstance(target, Pair) else (target,)
        for each, held in zip(targets, (lanes.settle(result), 1), strict=False):
            if isinstance(each, Register):
                self._registers.write(each, guard, held)

    def _load(self, point: int, instruction: Instruction, guard: ThreadSet) -> None:
        """A load gives a symbol named by its address, and for shared memory by how often it was read."""
        address = next(
            (self._value(o, guard) for o in instruction.operands if isinstance(o, Address)),
            lanes.opaque("nowhere"),
        )
        targets = list(instruction.writes())
        for number, register in enumerate(targets):
            self._registers.write(register, guard, self._loaded(point, instruction, address, number, guard))

    def _loaded(
        self, point: int, instruction: Instruction, address: Value, number: int, guard: ThreadSet
    ) -> Value:
        types = typing_of(instruction.operation)
        at = lanes.add(address, number * types.width // 8, 64)
        if isinstance(at, int) and at & PARAM_WINDOW:
            return self._layout.parameter(at - PARAM_WINDOW, types.width // 8)
        space = instruction.operation.slots.get("space", "")
        if space.startswith(".shared"):
            key = lanes.opaque("address", at)
            count = self._loads.get((key, guard), 0)
            self._loads[(key, guard)] = count + 1
            self.assume("shared-load", "roles are taken to read the same values from shared memory", point)
            return lanes.opaque("shared", at, count)
        return lanes.opaque("load", at)

    def _address_conversion(self, _: int, instruction: Instruction, guard: ThreadSet) -> None:
        target, source = instruction.operands
        value = self._value(source, guard)
        modifiers = instruction.operation.modifiers
        if any(m.startswith(".shared") for m in modifiers):
            if ".to" in modifiers:
                value = lanes.bitwise(Op.AND, value, 0xFFFFFFFF) if not isinstance(value, Form) else value
            else:
                value = lanes.add(value, SHARED_WINDOW, 64)
        if isinstance(target, Register):
            self._registers.write(target, guard, value)

    def _map_address(self, point: int, instruction: Instruction, guard: ThreadSet) -> None:
        target, source, rank = (self._value(o, guard) if i else o for i, o in enumerate(instruction.operands))
        if isinstance(source, Form) or isinstance(rank, Form):
            raise NotFollowedError("mapa with an address or rank that is not known", point)
        offset = lanes.bitwise(Op.AND, source, OFFSET_MASK)  # type: ignore[arg-type]
        high = lanes.shift_left(rank, RANK_SHIFT, 64)  # type: ignore[arg-type]
        if isinstance(target, Register):
            self._registers.write(target, guard, lanes.settle(lanes.add(offset, high, 64)))

    def _same_kind(self, values: list[Value], point: int) -> list[Value]:
        """Decide open predicates that are combined with one that differs between lanes."""
        if not any(isinstance(value, np.ndarray) for value in values):
            return values
        return [int(self._decide(value, point)) if isinstance(value, Form) else value for value in values]

    def _set_predicate(self, point: int, instruction: Instruction, guard: ThreadSet) -> None:
        operation = instruction.operation
        types = typing_of(operation)
        target, a, b, *rest = instruction.operands
        relation = next(m for m in operation.modifiers if m in _ALL_RELATIONS)
        left, right = self._value(a, guard), self._value(b, guard)
        if types.is_integer:
            truth = lanes.compare(
                relation, _masked(left, types.width), _masked(right, types.width), types.width,
                signed_operands=types.signed,
            )  # fmt: skip
        else:
            truth = lanes.opaque("setp", relation, left, right)
        combine = next((m for m in operation.modifiers if m in _COMBINE), None)
        values = [truth, negate_predicate(truth)]
        if combine is not None and rest:
            third = self._value(rest[0], guard)
            truth, third = self._same_kind([truth, third], point)
            values = [_logical(_COMBINE[combine], v, third) for v in (truth, negate_predicate(truth))]
        targets = (target.first, target.second) if isinstance(target, Pair) else (target,)
        for each, value in zip(targets, values, strict=False):
            if isinstance(each, Register):
                self._registers.write(each, guard, lanes.settle(value))

    def _elect_step(self, _: int, instruction: Instruction, guard: ThreadSet) -> None:
        self._elect(instruction, guard)


_ALL_RELATIONS = frozenset(
    {
        ".eq", ".ne", ".lt", ".le", ".gt", ".ge", ".lo", ".ls", ".hi", ".hs", ".equ", ".neu", ".ltu", ".leu", ".gtu",
        ".geu", ".num", ".nan",
    }
)  # fmt: skip
_COMBINE = {".and": Op.AND, ".or": Op.OR, ".xor": Op.XOR}

_SPECIAL: dict[Op, Callable[[Machine, int, Instruction, ThreadSet], None]] = {
    Op.SETP: Machine._set_predicate,
    Op.ELECT_SYNC: Machine._elect_step,
    Op.SHFL_SYNC: Machine._shuffle,
    Op.LD: Machine._load,
    Op.LD_NC: Machine._load,
    Op.CVTA: Machine._address_conversion,
    Op.MAPA: Machine._map_address,
}


def _masked(value: Value, width: int) -> Value:
    return value if isinstance(value, Form) else lanes.unsigned(value, width)


def _logical(op: Op, a: Value, b: Value) -> Value:
    for one, other in ((a, b), (b, a)):
        if isinstance(one, int):
            if op is Op.AND:
                return other if one & 1 else 0
            if op is Op.OR:
                return 1 if one & 1 else other
    return lanes.bitwise(op, a, b)


def _slice(value: Value, position: int, width: int) -> Value:
    if isinstance(value, Form):
        return value if position == 0 else lanes.opaque("part", value, position)
    shifted = lanes.shift_right(value, position * width, 64, arithmetic=False)
    return lanes.unsigned(shifted, width) if not isinstance(shifted, Form) else shifted


def condition_of(value: Form) -> tuple[Condition, bool]:
    """Return a condition, and whether the predicate is it (True) or its negation (False)."""
    if len(value.terms) == 1 and value.terms[0][1] == 1 and not value.constant:
        name = value.terms[0][0]
        if name[0] == "cmp":
            _, relation, terms, constant = name
            form = Form(terms, constant)  # type: ignore[arg-type]
            return _NORMAL[str(relation)](form)
        if name[0] == "not" and isinstance(name[1], tuple):
            condition, positive = condition_of(Form(((name[1], 1),)))
            return condition, not positive
    return Condition("ne", value, 0), True


_NORMAL: dict[str, Callable[[Form], tuple[Condition, bool]]] = {
    ".eq": lambda f: (Condition("eq", f, 0), True),
    ".ne": lambda f: (Condition("eq", f, 0), False),
    ".lt": lambda f: (Condition("lt", f, 0), True),
    ".lo": lambda f: (Condition("lt", f, 0), True),
    ".ge": lambda f: (Condition("lt", f, 0), False),
    ".hs": lambda f: (Condition("lt", f, 0), False),
    ".le": lambda f: (Condition("lt", f, 1), True),
    ".ls": lambda f: (Condition("lt", f, 1), True),
    ".gt": lambda f: (Condition("lt", f, 1), False),
    ".hi": lambda f: (Condition("lt", f, 1), False),
}
