"""Registers of two runs of a kernel, one of which makes a period of rounds more: in which of them both agree.

Compared are a run for a count and one for a larger count, from the start of a round of each loop on, where the larger
one has made a period of rounds more. What is known there of registers that loops carry is given; this module tells
what that says of all later instructions, for as long as both runs take the same branches. They do when every predicate
that decides one agrees. So the two go on in step, and what one does in its last rounds the other does too.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from ....cfg.definitions import ENTRY, Name
from ....cfg.optypes import Typing, typing_of
from ....ir import (
    Address,
    Component,
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
from ...symex.slice.polling import POLLS
from ...symex.slice.sliced_program import Program

_STATES = frozenset({Op.MBARRIER_ARRIVE, Op.MBARRIER_ARRIVE_DROP})
_UNSTEADY = frozenset({Trait.VOLATILE, Trait.ATOMIC, Trait.CALL})
_ALL_BITS = 64


@dataclass(frozen=True, slots=True)
class Gap:
    """How far the values of a register are apart in two runs."""

    bits: int
    """Low bits in which they agree; 64 when they are the same."""
    delta: int | None
    """The second minus the first, in every thread; None when that is not known."""


SAME = Gap(_ALL_BITS, 0)
APART = Gap(0, None)


def gap_of(delta: int) -> Gap:
    """Return the gap of values that are a number apart."""
    return Gap((delta & -delta).bit_length() - 1, delta) if delta else SAME


def meet(one: Gap, other: Gap) -> Gap:
    """Return what holds of both."""
    if one == other:
        return one
    return Gap(min(one.bits, other.bits), one.delta if one.delta == other.delta else None)


Agrees = Callable[[int, int | None, int | None], bool]
"""Tells whether a comparison comes out alike in both runs, given its point and how far each side is apart."""


class Lockstep:
    """The gaps of all registers that a kernel's synchronisation depends on."""

    def __init__(
        self,
        program: Program,
        growing: Mapping[int, frozenset[int]],
        heads: Mapping[Name, Gap],
        agrees: Agrees,
    ) -> None:
        self._program = program
        self._cfg = program.cfg
        self._growing = growing
        self._heads = heads
        self._agrees = agrees
        self._zone = _reachable(program, growing)
        self._gaps: dict[Name, Gap] = {}

    def differs(self) -> bool:
        """Tell whether the effect of an instruction on synchronisation may differ.

        Gaps are only lowered, so that the first name that has to agree and does not ends the search.
        """
        wanted = dict.fromkeys(name for names in self._wanted().values() for name in names)
        return self._settle(wanted, wanted)

    def names(self) -> tuple[Name, ...]:
        """Return all definitions that synchronisation depends on."""
        self._settle(name for names in self._wanted().values() for name in names)
        return tuple(self._gaps)

    def _wanted(self) -> dict[int, tuple[Name, ...]]:
        return {point: tuple(self._sinks(point)) for point in sorted(self._program.points | self._accesses)}

    @property
    def _accesses(self) -> frozenset[int]:
        return frozenset(p for p in self._program.accesses if self._cfg.connected(p))

    def _sinks(self, point: int) -> Iterator[Name]:
        """Yield the names that have to agree."""
        program, instruction = self._program, self._cfg.instructions[point]
        traits = instruction.operation.traits
        if point in program.events:
            yield from program.needed(point)
        elif Trait.BRANCH in traits or Trait.TERMINATOR in traits:
            yield from program.definitions.read_at(point)
        kind = program.accesses.get(point)
        if kind is not None:
            for register in registers_of(kind.operand):
                yield program.definitions.before(point, register)
            if instruction.guard is not None:
                yield program.definitions.before(point, instruction.guard.register)

    def _settle(self, start: Iterable[Name], same: Container[Name] = ()) -> bool:
        """Compute the greatest gaps that are consistent: nothing known, lowered until nothing changes.

        Return whether one of those that have to be the same is not; the others are not all computed then.
        """
        inputs: dict[Name, tuple[Name, ...]] = {}
        waiting = list(dict.fromkeys(start))
        while waiting:
            name = waiting.pop()
            if name in inputs:
                continue
            inputs[name] = tuple(self._inputs(name))
            waiting.extend(inputs[name])
        users: dict[Name, list[Name]] = {}
        for name, read in inputs.items():
            for each in read:
                users.setdefault(each, []).append(name)
        open_names = dict.fromkeys(reversed(inputs))
        while open_names:
            name = next(iter(open_names))
            del open_names[name]
            known, gap = self._gaps.get(name), self._evaluate(name, inputs[name])
            if gap is None:
                continue
            gap = gap if known is None else meet(known, gap)
            if gap != known:
                self._gaps[name] = gap
                if gap != SAME and name in same:
                    return True
                open_names.update(dict.fromkeys(users.get(name, ())))
        for name in inputs:
            if name in same and name not in self._gaps:
                return True
            self._gaps.setdefault(name, APART)
        return False

    def _inputs(self, name: Name) -> Iterator[Name]:
        definitions = self._program.definitions
        block = name.phi_block
        if block is not None:
            yield from self._merged(name, block)
        elif name.site != ENTRY:
            instruction = self._cfg.instructions[name.site]
            if name.site not in self._program.events:
                yield from definitions.read_at(name.site)
            elif instruction.guard is not None:
                yield definitions.before(name.site, instruction.guard.register)
            if instruction.guard is not None:
                yield definitions.before(name.site, name.register)

    def _merged(self, name: Name, block: int) -> Iterator[Name]:
        """Yield what a phi merges; at the head of a loop that makes more rounds only what a round leaves."""
        inside = self._growing.get(block)
        for edge, source in self._program.definitions.merged(name):
            if inside is None or edge.source in inside:
                yield source

    def _evaluate(self, name: Name, inputs: Sequence[Name]) -> Gap | None:
        """Return a gap from those of the inputs, None when too few of them are known yet."""
        block = name.phi_block
        if block is not None:
            known = [self._gaps[source] for source in inputs if source in self._gaps]
            if block in self._growing:
                known.append(self._heads.get(name, APART))
            return reduce(meet, known) if known else None
        if name.site == ENTRY:
            return SAME
        if any(source not in self._gaps for source in inputs):
            return None
        instruction = self._cfg.instructions[name.site]
        gap = self._result(name.site, instruction)
        if instruction.guard is not None:
            definitions = self._program.definitions
            if self._gaps[definitions.before(name.site, instruction.guard.register)] != SAME:
                return APART
            gap = meet(gap, self._gaps[definitions.before(name.site, name.register)])
        return gap

    def _result(self, point: int, instruction: Instruction) -> Gap:
        """Return the gap of what an instruction writes."""
        operation = instruction.operation
        inside = self._cfg.graph.block_of[point] in self._zone
        if point in self._program.events:
            return SAME if operation.op in POLLS or operation.op in _STATES or not inside else APART
        if operation.op is Op.SETP:
            return self._compared(point, instruction)
        names = self._program.definitions.read_at(point)
        if inside and (operation.traits & _UNSTEADY or _may_read_what_changes(instruction)):
            return APART
        if all(self._gaps[name] == SAME for name in names):
            return SAME
        transfer = _TRANSFERS.get(operation.op)
        if transfer is None:
            return APART
        _, *sources = instruction.operands
        return transfer(typing_of(operation), [self._gap(point, source) for source in sources], sources)

    def _compared(self, point: int, instruction: Instruction) -> Gap:
        _, a, b, *rest = instruction.operands
        if any(self._gap(point, each) != SAME for each in rest):
            return APART
        return SAME if self._agrees(point, self._gap(point, a).delta, self._gap(point, b).delta) else APART

    def _gap(self, point: int, operand: Operand) -> Gap:
        match operand:
            case Register():
                return self._gaps[self._program.definitions.before(point, operand)]
            case Negated(operand=inner):
                return self._gap(point, inner)
            case Immediate() | Component() | Symbol() | SymbolOffset():
                return SAME
            case Address(base=base) if isinstance(base, Register):
                return self._gap(point, base)
            case _:
                return APART


def carried_registers(program: Program) -> Mapping[int, tuple[Register, ...]]:
    """Return for the header of each loop the registers that rounds hand on and synchronisation depends on."""
    found: dict[int, set[Register]] = {header: set() for header in program.loops.headers}
    for name in Lockstep(program, {}, {}, lambda *_: True).names():
        block = name.phi_block
        if block is not None and block in found:
            found[block].add(name.register)
    return {header: tuple(sorted(registers)) for header, registers in found.items()}


def _reachable(program: Program, growing: Mapping[int, frozenset[int]]) -> frozenset[int]:
    """Return the blocks in loops that make more rounds, and behind them."""
    waiting = [block for blocks in growing.values() for block in blocks]
    seen = set(waiting)
    while waiting:
        for target in program.cfg.successors[waiting.pop()]:
            if target not in seen and target != program.cfg.exit:
                seen.add(target)
                waiting.append(target)
    return frozenset(seen)


def _may_read_what_changes(instruction: Instruction) -> bool:
    space = instruction.operation.slots.get("space", "")
    return Trait.LOAD in instruction.operation.traits and (
        not space or space.startswith((".shared", ".local"))
    )


# -- what instructions make of gaps

_Transfer = Callable[[Typing, Sequence[Gap], Sequence[Operand]], Gap]


def _in_width(gap: Gap, width: int) -> Gap:
    """Return the gap of a result of some width: values that agree in all its bits are the same."""
    return SAME if gap.bits >= width else gap


def _move(_: Typing, gaps: Sequence[Gap], __: Sequence[Operand]) -> Gap:
    return gaps[0]


def _sum(types: Typing, gaps: Sequence[Gap], _: Sequence[Operand], sign: int = 1) -> Gap:
    a, b = gaps
    delta = None if a.delta is None or b.delta is None else a.delta + sign * b.delta
    if delta is not None:
        return _in_width(gap_of(delta), types.width)
    return _in_width(Gap(min(a.bits, b.bits), None), types.width)


def _difference(types: Typing, gaps: Sequence[Gap], operands: Sequence[Operand]) -> Gap:
    return _sum(types, gaps, operands, -1)


def _product(types: Typing, gaps: Sequence[Gap], operands: Sequence[Operand]) -> Gap:
    if types.has(".hi"):
        return APART
    for gap, other in ((gaps[0], operands[1]), (gaps[1], operands[0])):
        if isinstance(other, Immediate) and gap.delta is not None:
            factor = other.value & ((1 << types.width) - 1)
            factor -= factor >> (types.width - 1) << types.width if types.signed else 0
            return gap_of(gap.delta * factor)
    if types.has(".wide"):
        return APART
    return _in_width(Gap(min(gaps[0].bits, gaps[1].bits), None), types.width)


def _multiply_add(types: Typing, gaps: Sequence[Gap], operands: Sequence[Operand]) -> Gap:
    product = _product(types, gaps[:2], operands[:2])
    return _sum(types, (product, gaps[2]), operands)


def _shift_left(types: Typing, gaps: Sequence[Gap], operands: Sequence[Operand]) -> Gap:
    count = operands[1]
    if not isinstance(count, Immediate):
        return APART
    gap = gaps[0]
    if gap.delta is not None:
        return _in_width(gap_of(gap.delta << count.value), types.width)
    return _in_width(Gap(min(gap.bits + count.value, _ALL_BITS - 1), None), types.width)


def _shift_right(types: Typing, gaps: Sequence[Gap], operands: Sequence[Operand]) -> Gap:
    count = operands[1]
    return Gap(max(gaps[0].bits - count.value, 0), None) if isinstance(count, Immediate) else APART


def _mask(types: Typing, gaps: Sequence[Gap], operands: Sequence[Operand]) -> Gap:
    for gap, other in ((gaps[0], operands[1]), (gaps[1], operands[0])):
        if isinstance(other, Immediate):
            kept = other.value & ((1 << types.width) - 1)
            return SAME if gap.bits >= kept.bit_length() else Gap(gap.bits, None)
    return _bits(types, gaps, operands)


def _bits(types: Typing, gaps: Sequence[Gap], _: Sequence[Operand]) -> Gap:
    return _in_width(Gap(min(gap.bits for gap in gaps), None), types.width)


def _convert(types: Typing, gaps: Sequence[Gap], _: Sequence[Operand]) -> Gap:
    gap = gaps[0]
    if not types.is_integer or len(gaps) > 1:
        return APART
    width = min(types.width, types.source_width)
    return _in_width(gap if width == types.source_width else Gap(gap.bits, None), width)


def _extract(_: Typing, gaps: Sequence[Gap], operands: Sequence[Operand]) -> Gap:
    place, count = operands[1:3]
    if not (isinstance(place, Immediate) and isinstance(count, Immediate)):
        return APART
    return SAME if gaps[0].bits >= place.value + count.value else APART


def _select(_: Typing, gaps: Sequence[Gap], __: Sequence[Operand]) -> Gap:
    return meet(gaps[0], gaps[1]) if gaps[2] == SAME else APART


_TRANSFERS: Mapping[Op, _Transfer] = {
    Op.MOV: _move,
    Op.ADD: _sum,
    Op.SUB: _difference,
    Op.MUL: _product,
    Op.MAD: _multiply_add,
    Op.SHL: _shift_left,
    Op.SHR: _shift_right,
    Op.AND: _mask,
    Op.OR: _bits,
    Op.XOR: _bits,
    Op.CVT: _convert,
    Op.BFE: _extract,
    Op.SELP: _select,
}
"""For sources that are not all the same; the result of any other instruction may be anything."""
