"""Words of local memory at places that the text gives: to the verifier they are registers.

Property: `with_words_in_registers` returns a function that does what the given one does, point by point. A word of a
`.local` variable is a register in it if each access that may touch the word is a scalar load or store of exactly it.

Argument: local memory is the thread's own. An address that is computed from the variable by constants alone is known
(registers with one definition); a variable of which an address goes anywhere else, as into an index or a call, is left
as it is. So what reaches a load is what the last store of the same word left, as with a register.

A word that nothing stores is left as it is: it would be a register without a number.

Not covered: indices that are registers, parts of words, and vectors: what is loaded there stays a symbol.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ..ir import (
    Address,
    Arguments,
    Body,
    Function,
    Immediate,
    Instruction,
    Operand,
    Register,
    Symbol,
    SymbolOffset,
    Variable,
    Vector,
    registers_of,
)
from ..isa.lookup import resolve
from ..opcodes.op import Op
from .optypes import type_width, typing_of

_SPACES = frozenset({"", ".local"})
_WIDTHS = frozenset({32, 64})


@dataclass(frozen=True, slots=True)
class _Word:
    variable: Symbol
    start: int
    width: int
    """In bits."""

    @property
    def register(self) -> Register:
        return Register(f"{self.variable.name}+{self.start}", self.variable.scope)

    def meets(self, other: _Word) -> bool:
        ends = self.start + self.width // 8, other.start + other.width // 8
        return max(self.start, other.start) < min(ends)


def with_words_in_registers(function: Function) -> Function:
    """Return a function in which words of local memory at known places are registers; itself if there are none."""
    body = function.body
    if body is None or all(each.space != ".local" for each in body.variables):
        return function
    moves = _Words(body).moves()
    if not moves:
        return function
    points = iter(range(len(body.instructions)))
    statements = tuple(
        moves[0].get(next(points), each) if isinstance(each, Instruction) else each
        for each in body.statements
    )
    return replace(function, body=Body((*moves[1], *statements), body.problems))


class _Words:
    """The words of local variables of one function."""

    def __init__(self, body: Body) -> None:
        self._instructions = body.instructions
        self._types = body.register_types
        self._variables = {
            Symbol(each.name, each.scope): each.size or 0 for each in body.variables if each.space == ".local"
        }
        self._written = Counter(register for each in body.instructions for register in each.writes())
        self._addresses: dict[Register, tuple[Symbol, int]] = {}

    def moves(self) -> tuple[Mapping[int, Instruction], tuple[Variable, ...]] | None:
        """Return the moves in place of loads and stores, by point, and declarations; None if there are none."""
        while self._follow():
            pass
        whole = {variable for each in self._instructions for variable in self._lost_by(each)}
        whole |= {word.variable for each in self._instructions if (word := self._outside(each)) is not None}
        touching: dict[_Word, list[int]] = defaultdict(list)
        vague: list[_Word] = []
        for point, instruction in enumerate(self._instructions):
            word = self._accessed(instruction)
            if word is None or word.variable in whole:
                continue
            if self._is_scalar(instruction, word.width):
                touching[word].append(point)
            else:
                vague.append(word)
        every = [*touching, *vague]
        alone = [
            word
            for word in touching
            if all(
                other == word or other.variable != word.variable or not word.meets(other) for other in every
            )
            and word not in vague
            and any(self._instructions[point].operation.op is Op.ST for point in touching[word])
        ]
        found = {point: self._move(point, word) for word in alone for point in touching[word]}
        declared = tuple(
            Variable(".reg", f".b{word.width}", word.register.name, scope=word.register.scope)
            for word in alone
        )
        return (found, declared) if found else None

    def _follow(self) -> bool:
        """Note addresses that are computed from those that are known; return whether there are new ones."""
        count = len(self._addresses)
        for instruction in self._instructions:
            place = self._computed(instruction)
            if place is not None:
                (register,) = instruction.writes()
                self._addresses[register] = place
        return len(self._addresses) > count

    def _computed(self, instruction: Instruction) -> tuple[Symbol, int] | None:
        op, operands = instruction.operation.op, instruction.operands
        if op not in (Op.MOV, Op.CVTA, Op.ADD) or instruction.guard is not None or not operands[1:]:
            return None
        target = operands[0]
        if not isinstance(target, Register) or self._written[target] != 1:
            return None
        place = self._place(operands[1])
        if op is not Op.ADD or place is None:
            return place
        step = operands[2]
        if not isinstance(step, Immediate):
            return None
        return place[0], place[1] + _signed(step.value, typing_of(instruction.operation).width)

    def _place(self, operand: Operand | None) -> tuple[Symbol, int] | None:
        match operand:
            case Symbol() if operand in self._variables:
                return operand, 0
            case SymbolOffset(symbol=symbol, offset=offset) if symbol in self._variables:
                return symbol, offset
            case Register():
                return self._addresses.get(operand)
            case _:
                return None

    def _lost_by(self, instruction: Instruction) -> Iterator[Symbol]:
        """Yield variables of which an instruction does with an address what is not followed."""
        if self._computed(instruction) is not None:
            return  # its result is followed in turn
        is_access = self._accessed(instruction) is not None
        for operand in instruction.operands:
            if is_access and isinstance(operand, Address):
                continue
            yield from self._named(operand)

    def _named(self, operand: Operand) -> Iterator[Symbol]:
        for register in registers_of(operand):
            if register in self._addresses:
                yield self._addresses[register][0]
        yield from (each for each in _symbols_of(operand) if each in self._variables)

    def _outside(self, instruction: Instruction) -> _Word | None:
        """Return what is accessed beyond the ends of a variable, which may be of another one."""
        word = self._accessed(instruction)
        if word is None or 0 <= word.start <= self._variables[word.variable] - word.width // 8:
            return None
        return word

    def _accessed(self, instruction: Instruction) -> _Word | None:
        """Return what a load or store touches of a local variable, None for what is none of it."""
        if instruction.operation.op not in (Op.LD, Op.ST):
            return None
        address = next((each for each in instruction.operands if isinstance(each, Address)), None)
        base = address.base if address is not None else None
        place = self._place(base) if isinstance(base, Register | Symbol) else None
        if address is None or place is None or instruction.operation.slots.get("space", "") not in _SPACES:
            return None
        lanes = int(instruction.operation.slots.get("vec", "").removeprefix(".v") or 1)
        return _Word(
            place[0], place[1] + _signed(address.offset, 32), typing_of(instruction.operation).width * lanes
        )

    def _is_scalar(self, instruction: Instruction, width: int) -> bool:
        value = _value(instruction)
        if width not in _WIDTHS or instruction.operation.slots.get("vec"):
            return False
        if isinstance(value, Immediate):
            return instruction.operation.op is Op.ST
        declared = self._types.get(value) if isinstance(value, Register) else None
        return declared is not None and type_width(declared) == width

    def _move(self, point: int, word: _Word) -> Instruction:
        instruction = self._instructions[point]
        value = _value(instruction)
        operands = (word.register, value) if instruction.operation.op is Op.ST else (value, word.register)
        operation = resolve(f"mov.b{word.width}", operands)
        return replace(instruction, operation=operation, operands=operands)


def _signed(number: int, width: int) -> int:
    """Return a step of an address as it is added: what is more than half the numbers of the width goes back."""
    return (number + (1 << width - 1)) % (1 << width) - (1 << width - 1)


def _symbols_of(operand: Operand) -> Iterator[Symbol]:
    match operand:
        case Symbol():
            yield operand
        case SymbolOffset(symbol=symbol):
            yield symbol
        case Vector(elements=items) | Arguments(items=items):
            for item in items:
                yield from _symbols_of(item)
        case Address(base=base, extra=extra):
            for item in extra if base is None else (base, *extra):
                yield from _symbols_of(item)
        case _:
            return


def _value(instruction: Instruction) -> Operand:
    return instruction.operands[1 if instruction.operation.op is Op.ST else 0]
