"""Operands of instructions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


class Register(NamedTuple):
    """A register or special register. `scope` tells registers of one name in nested blocks apart.

    A tuple, because analyses look registers up by the million.
    """

    name: str
    scope: int = 0


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable, parameter, label or function by name; `scope` as for registers."""

    name: str
    scope: int = 0


@dataclass(frozen=True, slots=True)
class Immediate:
    """An integer constant, after folding of constant expressions."""

    value: int


@dataclass(frozen=True, slots=True)
class FloatImmediate:
    """A floating-point constant: its bits, as a 32- or 64-bit number (decimal literals are 64-bit)."""

    bits: int
    width: int


@dataclass(frozen=True, slots=True)
class Component:
    """One element of a vector register: `%tid.x`, `v.w`."""

    base: Register
    field: str


@dataclass(frozen=True, slots=True)
class Sink:
    """The `_` destination."""


@dataclass(frozen=True, slots=True)
class Negated:
    """A negated predicate source `!p`."""

    operand: Register


@dataclass(frozen=True, slots=True)
class Pair:
    """A destination pair `p|q`."""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class SymbolOffset:
    """`symbol+constant` outside brackets (in `mov`)."""

    symbol: Symbol
    offset: int


@dataclass(frozen=True, slots=True)
class Vector:
    """`{a, b, c, d}`."""

    elements: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Address:
    """`[base+offset]`; base is None for `[imm]`. `extra` holds the further items of `[map, {x, y}]`."""

    base: Register | Symbol | Component | None
    offset: int = 0
    extra: tuple[Operand, ...] = ()
    unified: bool = False
    """`.unified` after the bracket: the address is the same in host and device memory."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """A parenthesised list of a call."""

    items: tuple[Operand, ...]


Operand: TypeAlias = (
    Register
    | Symbol
    | Immediate
    | FloatImmediate
    | Component
    | Sink
    | Negated
    | Pair
    | SymbolOffset
    | Vector
    | Address
    | Arguments
)


class Guard(NamedTuple):
    """`@p` or `@!p` before an instruction."""

    register: Register
    negated: bool


def registers_of(operand: Operand) -> Iterator[Register]:
    """Yield the registers named anywhere in an operand."""
    match operand:
        case Register():
            yield operand
        case Component(base=base):
            yield base
        case Negated(operand=inner):
            yield inner
        case Pair(first=first, second=second):
            yield from registers_of(first)
            yield from registers_of(second)
        case Vector(elements=items) | Arguments(items=items):
            for item in items:
                yield from registers_of(item)
        case Address(base=base, extra=extra):
            if base is not None:
                yield from registers_of(base)
            for item in extra:
                yield from registers_of(item)
        case _:
            return
