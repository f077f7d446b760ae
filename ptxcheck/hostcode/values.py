"""What a variable of host code can hold: integers over symbols, arrays, entry points, functions, or anything.

An integer is a term over symbols, in the syntax tree that the constraint language uses, and the C++ type that
it was computed in. Property: for each run of the program that reaches this point there are values of the
symbols with which the term is the run's value.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

from ptxcheck.descriptors.fields import Kind
from ptxcheck.descriptors.ranges import (
    Range,
    Symbol,
    range_of,
    truth,
)
from ptxcheck.hostcode.code import Function
from ptxcheck.hostcode.types import (
    BOOL,
    INT,
    LONG,
    STATIC,
    UNKNOWN,
    Type,
)
from ptxcheck.source import Span

LARGEST_TERM = 60
"""Nodes of a term; a larger one becomes a symbol of its own."""
MOST_STEPS = 6
UNBOUNDED = 1 << 70


@dataclass(frozen=True, slots=True)
class Step:
    """How a value came to be: a variable, what it was set to, and where."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Integer:
    """A number. `unit` is the bytes that adding 1 means, for a pointer."""

    term: ast.expr
    type: Type = UNKNOWN
    steps: tuple[Step, ...] = ()
    unit: int | None = None

    @property
    def constant(self) -> int | None:
        """Return the number where it is known."""
        if isinstance(self.term, ast.Constant) and isinstance(self.term.value, int):
            return int(self.term.value)
        return None


@dataclass(frozen=True, slots=True)
class Array:
    """Elements in order; beyond them each element is `rest`, or there is none where `rest` is None."""

    items: tuple[Value, ...]
    rest: Value | None = None
    span: Span | None = None
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class NullPointer:
    """A null pointer."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The address of an encode function of the driver."""

    kind: Kind


@dataclass(frozen=True, slots=True)
class Words:
    """A string."""

    text: str


@dataclass(frozen=True, slots=True)
class Closure:
    """A function as a value."""

    function: Function


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel, by its name."""

    name: str
    scope: str = ""
    """Qualifiers as they are written."""
    template_arguments: tuple[int | None, ...] = ()
    """Values; None for types and for what is not known."""
    is_symbol: bool = False
    """True where the name is that of PTX."""


@dataclass(frozen=True, slots=True)
class Extent:
    """A `dim3` as a value."""

    x: Value
    y: Value
    z: Value


@dataclass(frozen=True, slots=True)
class Configuration:
    """A `LaunchConfig` of cuda.core; `cluster` is None where it does not speak of clusters."""

    block: Value
    cluster: Value | None


@dataclass(frozen=True, slots=True)
class Structure:
    """A variable whose members are variables of their own, below `path`; or a pointer to it."""

    path: str
    span: Span
    """Where it is declared."""
    is_extent: bool = False


@dataclass(frozen=True, slots=True)
class Mode:
    """One dimension of a layout of CuTe: how many elements, and how far apart."""

    extent: Integer
    stride: Integer


@dataclass(frozen=True, slots=True)
class Layout:
    """A layout of CuTe: modes, each of one or more dimensions, under Swizzle<B, M, S>."""

    modes: tuple[tuple[Mode, ...], ...]
    swizzle: tuple[int, int, int] = (0, 4, 3)


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor of CuTe in global memory."""

    pointer: Integer
    layout: Layout


class Anything(Enum):
    """A value of which nothing is known."""

    ANYTHING = "anything"


ANYTHING = Anything.ANYTHING
Value: TypeAlias = (
    Integer
    | Array
    | NullPointer
    | Entry
    | Words
    | Closure
    | Layout
    | Tensor
    | Kernel
    | Extent
    | Configuration
    | Structure
    | Anything
)
Known: TypeAlias = Mapping[str, Symbol]
"""Symbols by their key in terms."""


def number(value: int, type_: Type = UNKNOWN, steps: tuple[Step, ...] = ()) -> Integer:
    """Return a known number."""
    return Integer(ast.Constant(value=value), type_, steps)


class Symbols:
    """Makes symbols; each key is new. Names are texts of the source where they can be read as expressions."""

    def __init__(self, prefix: str = "unknown") -> None:
        self._prefix = prefix
        self._count = 0

    def fresh(self, known: dict[str, Symbol], text: str, span: Range) -> ast.expr:
        """Add a symbol to `known` and return the term that is it alone."""
        key = f"{self._prefix}_{self._count}"
        self._count += 1
        step = max(span.step, 1)
        low, high = -(-span.low // step) * step, span.high // step * step
        if low > high:
            return self.fresh(known, text, Range(span.low, span.high, 1))
        if low == high:
            return ast.Constant(value=low)
        known[key] = Symbol(_readable(text, key), span.low, span.high, step)
        return ast.Name(id=key, ctx=ast.Load())

    def of_type(
        self, known: dict[str, Symbol], text: str, type_: Type, steps: tuple[Step, ...] = ()
    ) -> Integer:
        """Return an unknown number of a type."""
        return Integer(self.fresh(known, text, type_range(type_)), type_, steps)


def _readable(text: str, key: str) -> str:
    """Return a text that Python reads as an expression: the source's where possible, made unlike any other."""
    plain = " ".join(text.replace("->", ".").replace("::", ".").split())
    try:
        tree = ast.parse(plain, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return key
    return plain if isinstance(tree, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) else key


def type_range(type_: Type) -> Range:
    """Return the integers of a type."""
    if type_.is_pointer:
        return Range(0, (1 << 57) - 1, 1)
    if type_.is_integer:
        return Range(type_.low, type_.high, 1)
    return Range(-UNBOUNDED, UNBOUNDED, 1)


def bounds(value: Integer, known: Known) -> Range:
    """Return what a number can be."""
    found = range_of(value.term, known)
    return type_range(value.type) if found is None else found


def fits(type_: Type, span: Range) -> bool:
    """Whether all of a range can be held by a type."""
    return type_.low <= span.low and span.high <= type_.high


def is_large(term: ast.expr) -> bool:
    """Whether a term has grown too large to carry on."""
    return sum(1 for _ in ast.walk(term)) > LARGEST_TERM


def joined_steps(*values: Value) -> tuple[Step, ...]:
    """Return the steps of several values, each once."""
    steps = (step for value in values if isinstance(value, (Integer, Array)) for step in value.steps)
    return tuple(dict.fromkeys(steps))[:MOST_STEPS]


def promoted(a: Type, b: Type) -> Type:
    """Return the type in which C++ computes with two operands; unknown where one is."""
    if not (a.is_integer and b.is_integer):
        return UNKNOWN
    if a.name == b.name == STATIC.name:
        return STATIC
    left, right = _promoted(a), _promoted(b)
    if left.bits != right.bits:
        return left if left.bits > right.bits else right
    return left if not left.signed else right


def _promoted(type_: Type) -> Type:
    if type_.bits < 32 or type_.values or type_.name == STATIC.name:
        return INT
    return replace(type_, is_const=False, is_constant=False, is_reference=False)


def is_true(test: ast.expr, known: Known) -> bool | None:
    """Return whether a condition holds for all values of the symbols, for none, or cannot be told."""
    return truth(test, known)


def as_test(value: Value, known: Known) -> ast.expr | None:
    """Return a value as a condition."""
    if not isinstance(value, Integer):
        return None
    if isinstance(value.term, (ast.Compare, ast.BoolOp)):
        return value.term
    if value.constant is not None:
        return ast.Constant(value=bool(value.constant))
    return ast.Compare(left=value.term, ops=[ast.NotEq()], comparators=[ast.Constant(value=0)])


def from_test(test: ast.expr, steps: tuple[Step, ...] = ()) -> Integer:
    """Return a condition as a value."""
    if isinstance(test, ast.Constant):
        return number(int(bool(test.value)), BOOL, steps)
    return Integer(test, BOOL, steps)


__all__ = [
    "ANYTHING",
    "BOOL",
    "INT",
    "LONG",
    "Anything",
    "Array",
    "Closure",
    "Configuration",
    "Entry",
    "Extent",
    "Integer",
    "Kernel",
    "Known",
    "Layout",
    "Mode",
    "NullPointer",
    "Step",
    "Structure",
    "Symbols",
    "Tensor",
    "Value",
    "Words",
    "as_test",
    "bounds",
    "fits",
    "from_test",
    "is_large",
    "is_true",
    "joined_steps",
    "number",
    "promoted",
    "type_range",
]
