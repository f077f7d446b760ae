"""`OneCall`: one instruction with its operands as values, the way transfer functions ask for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from ..ir import (
    Component,
    FloatImmediate,
    Immediate,
    Instruction,
    Negated,
    Operand,
    Register,
    Symbol,
    SymbolOffset,
    Vector,
)
from .addresses import Addresses
from .arithmetic import truncate, zero_extend
from .bits import bit_not
from .definitions import Definitions, Name, part_of
from .guards import Fact, Guards
from .optypes import Typing, typing_of
from .values import Value, exactly, top

Read = Callable[[Name], Value | None]


class ReachingValues(Protocol):
    """What a call asks of the values of its function."""

    @property
    def definitions(self) -> Definitions: ...

    @property
    def addresses(self) -> Addresses: ...

    @property
    def guards(self) -> Guards: ...

    def read(self, point: int, register: Register, read: Read) -> Value | None:
        """Return the value that a read at the point sees; None when no run reads it there."""
        ...

    def constrained(self, name: Name, value: Value | None, facts: Iterable[Fact]) -> Value | None:
        """Return the part of the name's value that agrees with facts."""
        ...

    def component(self, operand: Component) -> Value:
        """Return the value of `%tid.x` and the like."""
        ...


class OneCall:
    """Operands of the instruction that defines one name. `dead` is set when an operand has no value."""

    def __init__(self, values: ReachingValues, name: Name, instruction: Instruction, read: Read) -> None:
        self.values = values
        self.name = name
        self.instruction = instruction
        self.dead = False
        self._read = read

    @property
    def typing(self) -> Typing:
        return typing_of(self.instruction.operation)

    @property
    def count(self) -> int:
        return len(self.instruction.operands)

    @property
    def part(self) -> int:
        return part_of(self.instruction.operands[0], self.name.register)

    def elements(self, index: int) -> int:
        operand = self._operand(index)
        return len(operand.elements) if isinstance(operand, Vector) else 0

    def element(self, index: int, part: int, width: int) -> Value:
        operand = self._operand(index)
        assert isinstance(operand, Vector)
        return self.of(operand.elements[part], width)

    def value(self, index: int, width: int) -> Value:
        return self.of(self._operand(index), width)

    def chosen(self, index: int, width: int, predicate: int, holds: bool) -> Value | None:
        operand, test = self._operand(index), self._operand(predicate)
        value = self.of(operand, width)
        if isinstance(test, Negated):
            test, holds = test.operand, not holds
        if not isinstance(test, Register):
            return value
        known = self.of(test, 1)
        if known.constant is not None and bool(known.low) != holds:
            return None
        if not isinstance(operand, Register):
            return value
        name = self.values.definitions.before(self.name.site, operand)
        tested = self.values.definitions.before(self.name.site, test)
        return self.values.constrained(name, value, self.values.guards.of(tested, holds))

    def of(self, operand: Operand | None, width: int) -> Value:
        """Return the value of any operand as a number of `width` bits."""
        match operand:
            case Register():
                return self._register(operand, width)
            case Immediate(value=number):
                return exactly(number, width)
            case Negated(operand=inner):
                return bit_not(self._register(inner, width))
            case Component():
                return fitted(self.values.component(operand), width)
            case Symbol():
                return fitted(self.values.addresses.of_symbol(operand), width)
            case SymbolOffset(symbol=symbol, offset=offset):
                return fitted(self.values.addresses.of_symbol(symbol, offset), width)
            case FloatImmediate(bits=pattern, width=size) if size == width:
                return exactly(pattern, width)
            case _:
                return top(width)

    def _operand(self, index: int) -> Operand | None:
        operands = self.instruction.operands
        return operands[index] if index < len(operands) else None

    def _register(self, register: Register, width: int) -> Value:
        value = self.values.read(self.name.site, register, self._read)
        if value is None:
            self.dead = True
            return top(width)
        return fitted(value, width)


def fitted(value: Value, width: int) -> Value:
    """Return the value as an operand of a width: registers may be wider or narrower than the type."""
    if value.width == width:
        return value
    return truncate(value, width) if value.width > width else zero_extend(value, width)
