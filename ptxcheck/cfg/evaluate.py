"""Values of definitions: the sparse problem that joins transfer functions, guards and loops.

Property: `Values.of(name)` contains every number that the definition can leave in its register, in any thread
of any launch that `Launch` allows. Results without a form of their own get an atom: "the latest result of
this definition". Values are refined by guards that dominate the place of the read (see `guards`).

Unsupported: memory. A load from anything but a kernel parameter is an atom.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from ..ir import (
    Component,
    Immediate,
    Instruction,
    Register,
)
from ..opcodes.op import Op
from ..opcodes.spec import Operation, Trait
from . import transfer
from .addresses import PARAMETER_SPACES, Addresses, linear_uniformity
from .arithmetic import add, mul, zero_extend
from .call import OneCall, fitted
from .cfg import Cfg
from .compare import constrain
from .definitions import ENTRY, Definitions, Name
from .graph import Edge
from .guards import Fact, Guards
from .linear import Atom, AtomKind, Linear
from .optypes import typing_of
from .sparse import Sparse
from .special import changes, special_name, special_value
from .uniform import Uniformity
from .values import (
    Value,
    exactly,
    join,
    of_atom,
    top,
    widen,
)

WIDEN_AFTER = 12
GIVE_UP_AFTER = 60
"""Rounds of one loop before its merges take any number: a bound on costs, hardly ever met."""
WIDEST = 64
_MOST_STEPS_BACK = 8
"""Definitions between a value that is computed anew and one that it is computed of."""

Read = Callable[[Name], Value | None]
_OWN = frozenset({Op.LD, Op.CVTA, Op.MAPA, Op.SHFL_SYNC, Op.SHFL})


class Values:
    """Values of all definitions of one function, computed when asked for."""

    def __init__(self, cfg: Cfg, definitions: Definitions, addresses: Addresses) -> None:
        self.cfg = cfg
        self.definitions = definitions
        self.addresses = addresses
        self.guards = Guards(cfg, definitions)
        self._sparse: Sparse[Name, Value] = Sparse(self)
        self._thresholds: dict[tuple[Name, ...], tuple[int, ...]] = {}

    def of(self, name: Name) -> Value | None:
        """Return the value of a definition; None when it never runs."""
        return self._sparse.get(name)

    def at(self, point: int, register: Register) -> Value | None:
        """Return the value that a read at the point sees; None when no run reads it there."""
        return self.read(point, register, self.of)

    def read(self, point: int, register: Register, read: Read) -> Value | None:
        name = self.definitions.before(point, register)
        return self._refined(name, read(name), self.cfg.graph.block_of[point])

    def given(self, name: Name, known: Mapping[Name, Value]) -> Value | None:
        """Return the value of a name where others have known values, computed anew inside the name's block."""
        return self._given(name, known, _MOST_STEPS_BACK, {})

    def _given(
        self,
        name: Name,
        known: Mapping[Name, Value],
        depth: int,
        computed: dict[tuple[Name, int], Value | None],
    ) -> Value | None:
        """`computed`: what was found so far with so many steps left, as an instruction may be reached on many ways."""

        def read(other: Name) -> Value | None:
            if other in known:
                return known[other]
            same = (
                other.site >= 0 and self.cfg.graph.block_of[other.site] == self.cfg.graph.block_of[name.site]
            )
            return self._given(other, known, depth - 1, computed) if same else self.of(other)

        if name in known:
            return known[name]
        if name.site < 0 or not depth:
            return self.of(name)
        if (name, depth) not in computed:
            computed[name, depth] = self.evaluate(name, read)
        return computed[name, depth]

    def component(self, operand: Component) -> Value:
        """Return the value of `%tid.x` and the like."""
        name = special_name(operand)
        value = special_value(name, WIDEST, self.addresses.launch) if name is not None else None
        return top(WIDEST) if value is None else value

    def of_linear(self, form: Linear, width: int) -> Value:
        """Return the value of a linear expression, from those of its atoms."""
        total = exactly(form.constant, width)
        for atom, factor in form.terms:
            numbers = fitted(self._of_atom(atom), width)
            total = add(mul(of_atom(atom, numbers), exactly(factor, width)), total)
        return total

    def _of_atom(self, atom: Atom) -> Value:
        value: Value | None = None
        match atom.kind:
            case AtomKind.SPECIAL:
                value = special_value(atom.name, WIDEST, self.addresses.launch)
            case AtomKind.DEFINITION:
                value = self.of(Name(Register(atom.name, atom.scope), atom.at))
            case AtomKind.PHI:
                value = self.of(Name(Register(atom.name, atom.scope), -2 - atom.at))
            case AtomKind.PARAMETER if atom.width < WIDEST:
                value = zero_extend(top(atom.width), WIDEST)
            case _:
                pass
        return top(WIDEST) if value is None else value

    # ---- the problem for the sparse solver

    def inputs(self, key: Name) -> Sequence[Name]:
        if key.phi_block is not None:
            return [name for _, name in self.definitions.merged(key)]
        if key.site < 0:
            return ()
        instruction = self.cfg.instructions[key.site]
        names = list(self.definitions.read_at(key.site)) if is_followed(instruction.operation) else []
        if instruction.guard is not None:
            names.append(self.definitions.before(key.site, instruction.guard.register))
            names.append(self.definitions.before(key.site, key.register))
        return names

    def evaluate(self, key: Name, read: Read) -> Value | None:
        if key.phi_block is not None:
            return self._merged(key, key.phi_block, read)
        if key.site < 0:
            return self._on_entry(key.register)
        instruction = self.cfg.instructions[key.site]
        if instruction.guard is None:
            return self._result(key, instruction, read)
        return self._guarded(key, instruction, read)

    def closes_cycle(self, key: Name) -> bool:
        return key.phi_block is not None

    def merge(self, key: Name, old: Value, new: Value, turn: int, cycle: Sequence[Name]) -> Value:
        old, new = _same_width(old, new)
        if turn >= GIVE_UP_AFTER:
            return of_atom(_phi_atom(key), top(old.width))
        merged = join(old, new) if turn < WIDEN_AFTER else widen(old, new, self._bounds(cycle))
        return merged if merged.linear is not None else of_atom(_phi_atom(key), merged)

    # ---- parts of it

    def _on_entry(self, register: Register) -> Value:
        name = special_name(register)
        value = None if name is None else special_value(name, WIDEST, self.addresses.launch)
        if value is not None:
            return value
        if name is not None and changes(name):  # each read has a number of its own, which no name stands for
            return top(WIDEST)
        return of_atom(_atom(Name(register, ENTRY), WIDEST), top(WIDEST))

    def _merged(self, key: Name, block: int, read: Read) -> Value | None:
        merged: Value | None = None
        for edge, name in self.definitions.merged(key):
            value = self._along(edge, name, read(name))
            if value is not None:
                merged = value if merged is None else join(*_same_width(merged, value))
        if merged is None or merged.linear is not None:
            return merged
        return of_atom(_phi_atom(key), merged)

    def _along(self, edge: Edge, name: Name, value: Value | None) -> Value | None:
        """Return the part of a value that passes an edge into a merge."""
        if name.site == ENTRY:
            return value
        value = self._refined(name, value, edge.source)
        if value is None or edge.guard is None:
            return value
        return self.constrained(
            name, value, self.guards.of_guard(self.cfg.blocks[edge.source].last, edge.guard)
        )

    def _refined(self, name: Name, value: Value | None, block: int) -> Value | None:
        for where, fact in self.guards.on_edges.get(name, ()):
            if value is None:
                return None
            if self.cfg.dominators.dominates(where, block):
                value = constrain(value, fact.relation, fact.number, fact.signed)
        return value

    def constrained(self, name: Name, value: Value | None, facts: Iterable[Fact]) -> Value | None:
        """Return the part of the name's value that agrees with facts."""
        for fact in facts:
            if value is not None and fact.name == name:
                value = constrain(value, fact.relation, fact.number, fact.signed)
        return value

    def _guarded(self, key: Name, instruction: Instruction, read: Read) -> Value | None:
        guard = instruction.guard
        assert guard is not None
        tested = self.definitions.before(key.site, guard.register)
        predicate = read(tested)
        runs = (
            None if predicate is None or predicate.constant is None else bool(predicate.low) != guard.negated
        )
        new = None if runs is False else self._result(key, instruction, read)
        if runs is True:
            return new
        previous = self.definitions.before(key.site, key.register)
        old = self.read(key.site, key.register, read)
        old = self.constrained(previous, old, self.guards.of(tested, guard.negated))
        if old is None or new is None:
            return new if old is None else old
        merged = join(*_same_width(old, new))
        return merged if merged.linear is not None else of_atom(_atom(key, merged.width), merged)

    def _result(self, key: Name, instruction: Instruction, read: Read) -> Value | None:
        call = OneCall(self, key, instruction, read)
        value = self._known(call) if is_followed(instruction.operation) else None
        if call.dead:
            return None
        if value is None:
            value = top(self._width(call))
        return value if value.linear is not None else of_atom(_atom(key, value.width, call.part), value)

    def _known(self, call: OneCall) -> Value | None:
        op = call.instruction.operation.op
        match op:
            case Op.LD:
                return self.addresses.parameter(call)
            case Op.CVTA | Op.MAPA:
                return self.addresses.converted(call)
            case Op.SHFL_SYNC | Op.SHFL:
                return self._shuffled(call)
            case Op.AND if call.typing.width == 32:
                mask = call.value(2, 32).constant
                peer = None if mask is None else self.addresses.peer(call.value(1, 32), mask)
                return transfer.apply(op, call) if peer is None else peer
            case _:
                return transfer.apply(op, call)

    def _shuffled(self, call: OneCall) -> Value | None:
        """A shuffled number is one that some lane had; from an operand that is uniform it is the operand."""
        if call.part:
            return None
        source = call.value(1, 32)
        uniform = source.linear is not None and linear_uniformity(source.linear) <= Uniformity.WARP
        return source if uniform else source.with_linear(None)

    def _width(self, call: OneCall) -> int:
        """Return the width of an unknown result: a narrow load may set the bits above its own."""
        typing = call.typing
        if not typing.types or len(call.instruction.operands) == 0:
            return WIDEST
        return max(32, typing.width * (2 if typing.has(".wide") else 1)) if typing.width > 1 else WIDEST

    def _bounds(self, cycle: Sequence[Name]) -> tuple[int, ...]:
        """Return numbers at which counters of a loop may stop: near the literals that it works with."""
        key = tuple(cycle)
        if key not in self._thresholds:
            numbers: set[int] = set()
            for name in cycle:
                numbers.update(fact.number for _, fact in self.guards.on_edges.get(name, ()))
                instruction = self.cfg.instructions[name.site] if name.site >= 0 else None
                for operand in () if instruction is None else instruction.operands:
                    if isinstance(operand, Immediate):
                        numbers.add(operand.value)
            near = {n + step for n in numbers for step in (-1, 0, 1)}
            self._thresholds[key] = tuple(sorted(n for n in near if n >= 0))
        return self._thresholds[key]


@lru_cache(maxsize=4096)
def is_followed(operation: Operation) -> bool:
    """Tell whether the operands of an operation say anything about its result."""
    if Trait.ANYTHING in operation.traits:
        return False
    if operation.op is Op.LD:
        return operation.slots.get("space", "") in PARAMETER_SPACES
    return operation.op in _OWN or transfer.knows(operation.op, typing_of(operation))


def _same_width(a: Value, b: Value) -> tuple[Value, Value]:
    if a.width == b.width:
        return a, b
    return zero_extend(a, WIDEST), zero_extend(b, WIDEST)


def _phi_atom(key: Name) -> Atom:
    block = key.phi_block
    assert block is not None
    return Atom(AtomKind.PHI, key.register.name, block, scope=key.register.scope)


def _atom(key: Name, width: int, part: int = 0) -> Atom:
    return Atom(AtomKind.DEFINITION, key.register.name, key.site, width, part=part, scope=key.register.scope)
