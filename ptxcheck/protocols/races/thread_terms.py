"""Registers of one of two threads of a block, as terms over what tells the two apart and what does not.

Property: `ThreadTerms.name(name, context)` is, for some numbers of its variables, what the definition leaves in the
register of the thread in the rounds of loops that the context names. Variables without a thread in their name have
one number for both threads: parameters, the block, rounds that both are in, and what uniformity analysis shows to
agree.

Argument: operations have the terms of `semantics`. A merge is a choice by the branches between it and its dominator.
What a loop changes by a constant in each round is its first value and a number of rounds; everything else that a loop
changes is a variable within the bounds of value analysis. What is loaded is a variable for each thread and load.

Not covered: what one load has to do with another, and shuffles: their results are variables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

from ...cfg import AtomKind, Edge, EdgeKind, Loop, Name, Uniformity, Value
from ...cfg.definitions import part_of
from ...cfg.sparse import Sparse
from ...cfg.special import changes, special_name, special_uniformity, special_value
from ...ir import Address, Instruction, Operand, Register
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ...terms.bitvectors import Bits
from .kernel import Kernel, Step
from .passages import Context, Round
from .semantics import Call, Sources, computed, fitted


@dataclass(frozen=True, slots=True)
class Key:
    """A definition in the rounds of a context."""

    name: Name
    context: Context


MOST_CTAS = 64
"""CTAs along an axis of the grid of two threads of different ones: numbers of threads do not wrap."""
ROUNDS = "round"
"""What begins the name of a variable for the rounds of a loop."""
LOADED = "result of "
"""What begins the name of a variable for what an instruction gives that has no term, mostly a load."""
MADE_AT = "@"
"""What stands in the name of a variable for what one point makes, in front of the point."""
Read = Callable[[Key], Bits | None]


class ThreadTerms:
    """Registers of one thread. `level` is how far threads must agree to have one variable."""

    def __init__(self, kernel: Kernel, thread: int, level: Uniformity) -> None:
        self.kernel = kernel
        self.pool = kernel.pool
        self.thread = thread
        self.index = kernel.thread(thread)
        self.level = level
        self._sparse: Sparse[Key, Bits] = Sparse(self)
        self._conditions: dict[tuple[int, int, Context], Bits] = {}

    # ---- what is asked

    def operand(self, point: int, operand: Operand | None, width: int, context: Context) -> Bits:
        """Return an operand as the point reads it."""
        return self._operand(point, operand, width, context, self._sparse.get)

    def value(self, name: Name, context: Context) -> Bits | None:
        """Return what a definition leaves in its register."""
        return self._sparse.get(Key(name, context))

    def address(self, point: int, operand: Operand, context: Context) -> Bits:
        """Return the number in the brackets of an address."""
        pool = self.pool
        if not isinstance(operand, Address):
            return self.operand(point, operand, 32, context)
        offset = pool.number(operand.offset, 32)
        if operand.base is None:
            return offset
        return pool.add(self.operand(point, operand.base, 32, context), offset)

    def guard(self, point: int, context: Context) -> Bits:
        """Return that the guard of an instruction lets it run."""
        guard = self.kernel.cfg.instructions[point].guard
        if guard is None:
            return self.pool.true
        test = self.operand(point, guard.register, 1, context)
        return self.pool.not_(test) if guard.negated else test

    def taken(self, edge: Edge, context: Context) -> Bits:
        """Return that a thread at the end of a block takes an edge."""
        return self._taken(edge, context, self._sparse.get)

    def arrives(self, block: int, context: Context) -> Bits:
        """Return that a thread that has not ended comes to a block in these rounds, or came to the loop around it."""
        found = self.pool.true
        current: int | None = block
        while current is not None:
            above = self.kernel.cfg.dominators.parent[current]
            if above is not None:
                found = self.pool.both(found, self._local(current, context))
            current = above
        return found

    # ---- the problem for the sparse solver

    def inputs(self, key: Key) -> Sequence[Key]:
        name, context = key.name, key.context
        if name.phi_block is not None:
            return self._inputs_of_merge(name, name.phi_block, context)
        if name.site < 0:
            return ()
        instruction = self.kernel.cfg.instructions[name.site]
        names = list(self.kernel.facts.read_at(name.site)) if self._is_followed(instruction) else []
        if instruction.guard is not None:
            names.append(self.kernel.facts.name(name.site, name.register))
            names.append(self.kernel.facts.name(name.site, instruction.guard.register))
        return [Key(each, context) for each in names]

    def _inputs_of_merge(self, name: Name, block: int, context: Context) -> Sequence[Key]:
        loop, merged = self.kernel.headers.get(block), self.kernel.facts.merged(name)
        if loop is None:
            return [*(Key(each, context) for _, each in merged), *self._deciding(block, context)]
        passage = context.of(loop.index)
        entering = [Key(each, context) for edge, each in merged if edge.source not in loop.blocks]
        outer = self._deciding(block, context) if len(entering) > 1 else []
        if passage is not None and passage.round is Round.FIRST:
            return [*entering, *outer]
        if passage is not None and passage.round is Round.NEXT and passage.before is not None:
            return [Key(each, passage.before) for edge, each in merged if edge.source in loop.blocks]
        steps = self.kernel.steps(name, loop)
        if steps is None or self._agrees(name, context):
            return ()
        reads = (self.kernel.facts.name(s.point, s.operand) for s in steps if isinstance(s.operand, Register))
        return [*entering, *outer, *(Key(each, context) for each in reads)]

    def _deciding(self, block: int, context: Context) -> list[Key]:
        found: dict[Key, None] = {}
        for source in self.kernel.region(block) or ():
            if len(self.kernel.cfg.successors[source]) > 1:
                for name in self.kernel.facts.read_at(self.kernel.cfg.blocks[source].last):
                    found[Key(name, context)] = None
        return list(found)

    def evaluate(self, key: Key, read: Read) -> Bits | None:
        name, context = key.name, key.context
        if name.phi_block is not None:
            return self._merged(name, name.phi_block, context, read)
        if name.site < 0:
            special = special_name(name.register)
            return self._variable(name, context) if special is None else self.special(special, name.site)
        instruction = self.kernel.cfg.instructions[name.site]
        new = self._result(name, instruction, context, read)
        if instruction.guard is None:
            return new
        test = fitted(self.pool, self._read(name.site, instruction.guard.register, context, read), 1)
        old = self._read(name.site, name.register, context, read)
        if instruction.guard.negated:
            test = self.pool.not_(test)
        return self.pool.choice(test, new, fitted(self.pool, old, new.width))

    def closes_cycle(self, key: Key) -> bool:
        return key.name.phi_block is not None

    def merge(self, key: Key, old: Bits, new: Bits, turn: int, cycle: Sequence[Key]) -> Bits:
        return self._variable(key.name, key.context)

    # ---- definitions

    def _is_followed(self, instruction: Instruction) -> bool:
        return Trait.PURE in instruction.operation.traits or instruction.operation.op in (Op.MOV, Op.CVTA)

    def _result(self, name: Name, instruction: Instruction, context: Context, read: Read) -> Bits:
        op = instruction.operation.op
        value = self.kernel.facts.value_of(name)
        if value is not None and value.constant is not None:
            return self.pool.number(value.constant, value.width)
        if op is Op.LD and value is not None and value.linear is not None and len(value.linear.terms) == 1:
            (atom, factor) = value.linear.terms[0]
            if atom.kind is AtomKind.PARAMETER and factor == 1 and not value.linear.constant:
                return self.pool.variable(f"{atom}", value.width, value.low, value.high)
        if not self._is_followed(instruction):
            return self._variable(name, context)
        part = part_of(instruction.operands[0], name.register)
        found = computed(
            Call(self.pool, instruction, part, lambda o, w: self._operand(name.site, o, w, context, read))
        )
        return self._variable(name, context) if found is None else found

    def special(self, name: str, point: int) -> Bits:
        """Return a special register."""
        known = self.kernel.geometry.special(self.pool, self.index, name)
        if known is not None:
            return known
        low, high = _bounds(name, special_value(name, 32, self.kernel.facts.launch), self.level)
        shared = not changes(name) and special_uniformity(name) <= min(self.level, Uniformity.WARP)
        where = f"{MADE_AT}{point}" if changes(name) else ""
        suffix = "" if shared else f"~{self.thread}"
        return self.pool.variable(f"{name}{where}{suffix}", 32, low, high)

    def _variable(self, name: Name, context: Context) -> Bits:
        """Return a variable for a definition, one for both threads where they agree."""
        value = self.kernel.facts.value_of(name)
        width, low, high = (64, 0, None) if value is None else (value.width, value.low, value.high)
        suffix = "" if self._agrees(name, context) else f"~{self.thread}"
        kind = LOADED if name.site >= 0 else ""
        text = (
            f"{kind}{name.register.name}.{name.register.scope}{MADE_AT}{name.site}{_written(context)}{suffix}"
        )
        return self.pool.variable(text, width, low, high)

    def _agrees(self, name: Name, context: Context) -> bool:
        """Tell whether both threads have one number: it is uniform, and they are in the same rounds."""
        if self.kernel.facts.uniformity_of(name) > self.level:
            return False
        for loop in self.kernel.cfg.loops_around(self.kernel.facts.block_of(name)):
            passage = context.of(loop.index)
            if passage is None and loop.index not in self.kernel.left_together(self.level):
                return False
            if passage is not None and passage.round is Round.ANY:
                return False
        return True

    def _merged(self, name: Name, block: int, context: Context, read: Read) -> Bits:
        value = self.kernel.facts.value_of(name)
        if value is not None and value.constant is not None:
            return self.pool.number(value.constant, value.width)
        loop, merged = self.kernel.headers.get(block), self.kernel.facts.merged(name)
        if loop is None:
            return self._joined(name, block, merged, context, read)
        passage = context.of(loop.index)
        entering = tuple(each for each in merged if each[0].source not in loop.blocks)
        if passage is not None and passage.round is Round.FIRST:
            return self._joined(name, block, entering, context, read)
        if passage is not None and passage.round is Round.NEXT and passage.before is not None:
            return self._after_round(name, loop, merged, context, passage.before, read)
        steps = self.kernel.steps(name, loop)
        if steps is None or self._agrees(name, context):
            return self._variable(name, context)
        first = self._joined(name, block, entering, context, read)
        return self._after_rounds(loop, first, steps, context, read)

    def _after_round(
        self,
        name: Name,
        loop: Loop,
        merged: Sequence[tuple[Edge, Name]],
        context: Context,
        before: Context,
        read: Read,
    ) -> Bits:
        latches = [read(Key(each, before)) for edge, each in merged if edge.source in loop.blocks]
        first = latches[0]
        if first is None or any(other is not first for other in latches[1:]):
            return self._variable(name, context)
        return first

    def rounds(self, loop: Loop, context: Context) -> Bits:
        """Return how often the thread has gone round a loop that it is in."""
        passage = context.of(loop.index)
        is_shared = passage is not None and passage.round is Round.HELD
        name = f"{ROUNDS}{loop.index}{_written(context)}" + ("" if is_shared else f"~{self.thread}")
        return self.pool.variable(name, 32, 0, self.kernel.most_rounds(loop))

    def _after_rounds(
        self, loop: Loop, first: Bits, steps: Sequence[Step], context: Context, read: Read
    ) -> Bits:
        pool, by = self.pool, self.pool.number(0, first.width)
        for each in steps:
            changed = self._operand(each.point, each.operand, first.width, context, read)
            by = pool.add(by, pool.times(changed, each.sign))
        return pool.add(first, pool.mul(fitted(pool, self.rounds(loop, context), first.width), by))

    def _joined(
        self, name: Name, block: int, merged: Sequence[tuple[Edge, Name]], context: Context, read: Read
    ) -> Bits:
        values = [read(Key(each, context)) for _, each in merged]
        known = [value for value in values if value is not None]
        if not known:
            return self._variable(name, context)
        width = max(value.width for value in known)
        if any(value.width not in (width, 32) for value in known):
            return self._variable(name, context)
        if all(value is known[0] for value in known) and len(known) == len(values):
            return known[0]
        into = self._into(block, context, read)
        if into is None:
            return self._variable(name, context)
        found: Bits | None = None
        for (edge, _), value in zip(merged, values, strict=True):
            if value is not None and edge in into:
                fit = fitted(self.pool, value, width)
                found = fit if found is None else self.pool.choice(into[edge], fit, found)
        return self._variable(name, context) if found is None else found

    # ---- branches

    def _into(self, block: int, context: Context, read: Read) -> dict[Edge, Bits] | None:
        """Return what holds on each edge into a block, for a thread that has come to its dominator."""
        return self.kernel.into(block, lambda edge: self._taken(edge, context, read))

    def _local(self, block: int, context: Context) -> Bits:
        above = self.kernel.cfg.dominators.parent[block]
        assert above is not None
        if self.kernel.cfg.postdominators.dominates(block, above):
            return self.pool.true
        key = (above, block, context)
        if key not in self._conditions:
            into = self._into(block, context, self._sparse.get)
            found = self.pool.true if into is None else self.pool.false
            for condition in (into or {}).values():
                found = self.pool.either(found, condition)
            self._conditions[key] = found
        return self._conditions[key]

    def _taken(self, edge: Edge, context: Context, read: Read) -> Bits:
        pool, cfg = self.pool, self.kernel.cfg
        if edge.kind is EdgeKind.INDIRECT:
            point = cfg.blocks[edge.source].last
            index = self._operand(point, cfg.instructions[point].operands[0], 32, context, read)
            cases = (pool.eq(index, pool.number(case, 32)) for case in edge.cases)
            return reduce(pool.either, cases, pool.false)
        if edge.guard is None:
            return pool.true
        test = fitted(pool, self._read(cfg.blocks[edge.source].last, edge.guard.register, context, read), 1)
        return pool.not_(test) if edge.guard.negated else test

    # ---- operands

    def _read(self, point: int, register: Register, context: Context, read: Read) -> Bits:
        special = special_name(register)
        if special is not None:
            return self.special(special, point)
        name = self.kernel.facts.name(point, register)
        found = read(Key(name, context))
        return self._variable(name, context) if found is None else found

    def _operand(self, point: int, operand: Operand | None, width: int, context: Context, read: Read) -> Bits:
        sources = Sources(
            self.pool,
            lambda register: self._read(point, register, context, read),
            lambda name: self.special(name, point),
            self.kernel.layout.start,
        )
        found = sources.read(operand, width)
        if found is not None:
            return found
        return self.pool.variable(f"operand{MADE_AT}{point}{_written(context)}~{self.thread}", width)


def _bounds(name: str, value: Value | None, level: Uniformity) -> tuple[int, int | None]:
    """Return the bounds of a special register; for threads of different CTAs, in a grid of few."""
    low, high = (0, None) if value is None else (value.low, value.high)
    if level is Uniformity.GRID and name.startswith(("%ctaid", "%nctaid")):
        most = MOST_CTAS if name.startswith("%n") else MOST_CTAS - 1
        high = most if high is None else min(high, most)
    return low, high


def _written(context: Context) -> str:
    """Return a context as a part of a variable's name: the rounds that differ from those of the interval's start."""
    parts = []
    for loop, passage in context.passages:
        before = "" if passage.before is None else _written(passage.before)
        parts.append(f"{loop}{passage.round.value}{before}")
    return f"[{','.join(parts)}]" if parts else ""
