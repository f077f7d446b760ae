"""The Lark grammar at work: text of one statement, operand or directive → IR."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from lark import Lark, Token, Transformer
from lark import __version__ as lark_version
from lark.exceptions import LarkError, UnexpectedCharacters, UnexpectedInput, UnexpectedToken, VisitError

from ..ir import (
    Address,
    Arguments,
    Component,
    FloatImmediate,
    Immediate,
    Negated,
    Operand,
    Pair,
    Register,
    Sink,
    Symbol,
    SymbolOffset,
    Vector,
)
from .literals import floating, integer
from .scope import Names

_WARP_SIZE = 32
_STARTS = [
    "statement",
    "operand",
    "declaration",
    "initializer",
    "header",
    "directive",
    "listing",
    "prototype",
    "loc",
]


class GrammarError(Exception):
    """Text that is not PTX: a message and the offset in the text that was parsed."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


class _Offset(NamedTuple):
    """`register + constant`, which is legal inside brackets only."""

    base: Register | Symbol | Component
    offset: int


class Word(NamedTuple):
    """A dotted word of a declaration with its number (`.align 8`) and parenthesised items."""

    text: str
    number: int | None
    items: tuple[str, ...]


class Declarator(NamedTuple):
    name: str
    copies: int | None
    dims: tuple[int | None, ...]


class Declaration(NamedTuple):
    words: tuple[Word, ...]
    declarators: tuple[Declarator, ...]


class HeaderDirective(NamedTuple):
    keyword: str
    values: tuple[str, ...]


class Header(NamedTuple):
    words: tuple[Word, ...]
    returns: tuple[Declaration, ...]
    name: str
    parameters: tuple[Declaration, ...]
    directives: tuple[HeaderDirective, ...]


class RawStatement(NamedTuple):
    negated: bool
    guard: str | None
    opcode: str
    operands: tuple[Operand, ...]


class RawLoc(NamedTuple):
    place: tuple[int, int, int]
    function: tuple[str, int] | None
    inlined_at: tuple[int, int, int] | None


@lru_cache(maxsize=1)
def _parser() -> Lark:
    grammar = (Path(__file__).parent / "ptx.lark").read_text(encoding="ascii")
    return Lark(grammar, parser="lalr", start=_STARTS, maybe_placeholders=True, cache=_tables())


def _tables() -> str | bool:
    """Return the file that keeps the parse tables between runs, False when there is no place for it.

    Lark checks that it fits the grammar, and builds the tables where it does not.
    """
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ptxcheck"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return False
    return str(folder / f"grammar-{sys.version_info[0]}.{sys.version_info[1]}-{lark_version}.pickle")


def parse(start: str, text: str, names: Names) -> Any:
    """Parse text from a start rule of the grammar. Raises GrammarError."""
    try:
        return _Build(names).transform(_parser().parse(text, start=start))
    except VisitError as error:
        cause = error.orig_exc
        if isinstance(cause, GrammarError | ValueError | ZeroDivisionError | OverflowError | RecursionError):
            raise GrammarError(str(cause), getattr(cause, "offset", 0)) from None
        raise
    except UnexpectedInput as error:
        raise GrammarError(
            _describe(error, text), min(max(getattr(error, "pos_in_stream", 0) or 0, 0), len(text))
        ) from None
    except RecursionError:
        raise GrammarError("expression is nested too deeply", 0) from None
    except LarkError as error:
        raise GrammarError(str(error), 0) from None


def _describe(error: UnexpectedInput, text: str) -> str:
    if isinstance(error, UnexpectedToken):
        if error.token.type == "$END":
            return "unexpected end of statement"
        return f"unexpected '{error.token}'"
    if isinstance(error, UnexpectedCharacters):
        return f"unexpected character {text[(error.pos_in_stream or 0) :][:1]!r}"
    return "not a PTX statement"


def _constant(value: object) -> int:
    if isinstance(value, Immediate):
        return value.value
    if isinstance(value, Arguments) and len(value.items) == 1:
        return _constant(value.items[0])
    raise GrammarError("a constant expression takes integer constants only", 0)


_BINARY: dict[str, Callable[[int, int], int]] = {
    "*": lambda a, b: a * b,
    "/": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "%": lambda a, b: a - b * (abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)),
    "<<": lambda a, b: (a << b) & 0xFFFFFFFFFFFFFFFF if 0 <= b < 64 else 0,
    ">>": lambda a, b: a >> min(max(b, 0), 64),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
}


_ELEMENT = re.compile(r"[xyzwrgba]\Z|b[0-7]{1,4}\Z|h[0-3]{1,2}\Z")
"""Elements of vector registers, and the bytes and halves that video instructions select."""


class Element(SymbolOffset):
    """`symbol[index]`: the address of an element, or, in `ld` and `st`, the element (PTX ISA 6.4.2)."""


class _Build(Transformer[Token, Any]):
    """Lark tree → IR values."""

    def __init__(self, names: Names) -> None:
        super().__init__()
        self._names = names

    # -- operands

    def integer(self, items: list[Token]) -> Immediate:
        return Immediate(integer(items[0]))

    def float_literal(self, items: list[Token]) -> FloatImmediate:
        return floating(items[0])

    def sink(self, _: list[Token]) -> Sink:
        return Sink()

    def name(self, items: list[Token]) -> Operand:
        if items[0] == "WARP_SZ":
            return Immediate(_WARP_SIZE)
        return self._names.resolve(str(items[0]))

    def component(self, items: list[Token]) -> Component:
        base = self._names.resolve(str(items[0]))
        field = str(items[1][1:])
        if not isinstance(base, Register) or _ELEMENT.match(field) is None:
            raise GrammarError(f"'{items[0]}{items[1]}' is not an element of a register", 0)
        return Component(base, field)

    def element(self, items: list[Any]) -> Element:
        base = self._names.resolve(str(items[0]))
        size = self._names.element_bytes(str(items[0]))
        if not isinstance(base, Symbol) or size is None:
            raise GrammarError(f"'{items[0]}' is not an array", 0)
        return Element(base, size * _constant(items[1]))

    def negated(self, items: list[Token]) -> Negated:
        base = self._names.resolve(str(items[0]))
        if not isinstance(base, Register):
            raise GrammarError(f"'{items[0]}' is not a predicate register", 0)
        return Negated(base)

    def vector(self, items: list[Any]) -> Vector:
        return Vector(tuple(_finished(item) for item in items if item is not None))

    def vector_pair(self, items: list[Any]) -> Pair:
        vector, second = items
        return Pair(vector, Sink() if second == "_" else self._names.resolve(str(second)))

    def qualified_address(self, items: list[Any]) -> Address:
        address: Address = items[0]
        qualifier = str(items[1])
        if qualifier != ".unified":
            raise GrammarError(f"'{qualifier}' cannot follow an address", 0)
        return replace(address, unified=True)

    def address(self, items: list[Any]) -> Address:
        first, *rest = items
        extra = tuple(_finished(item) for item in rest)
        match first:
            case _Offset(base=base, offset=offset):
                return Address(base, offset, extra)
            case SymbolOffset(symbol=symbol, offset=offset):
                return Address(symbol, offset, extra)
            case Register() | Symbol() | Component():
                return Address(first, 0, extra)
            case Immediate(value=value):
                return Address(None, value, extra)
            case Vector():
                return Address(None, 0, (first, *extra))
        raise GrammarError("not an address", 0)

    def parenthesised(self, items: list[Any]) -> Arguments:
        return Arguments(tuple(_finished(item) for item in items if item is not None))

    def plus(self, items: list[Any]) -> Any:
        left, right = items
        if isinstance(left, Register | Component):
            return _Offset(left, _constant(right))
        if isinstance(left, _Offset):
            return _Offset(left.base, left.offset + _constant(right))
        if isinstance(left, Symbol):
            return SymbolOffset(left, _constant(right))
        if isinstance(left, SymbolOffset):
            return SymbolOffset(left.symbol, left.offset + _constant(right))
        return Immediate(_constant(left) + _constant(right))

    def minus(self, items: list[Any]) -> Immediate:
        return Immediate(_constant(items[0]) - _constant(items[1]))

    def binary(self, items: list[Any]) -> Immediate:
        left, operator, right = items
        if str(operator) in "/%" and _constant(right) == 0:
            raise GrammarError("division by zero in a constant expression", 0)
        return Immediate(_BINARY[str(operator)](_constant(left), _constant(right)))

    def or_or_pair(self, items: list[Any]) -> Operand:
        left, right = items
        if isinstance(left, Register | Sink) and isinstance(right, Register | Sink):
            return Pair(left, right)
        return Immediate(_constant(left) | _constant(right))

    def xor(self, items: list[Any]) -> Immediate:
        return Immediate(_constant(items[0]) ^ _constant(items[1]))

    def and_(self, items: list[Any]) -> Immediate:
        return Immediate(_constant(items[0]) & _constant(items[1]))

    def any_of(self, items: list[Any]) -> Immediate:
        return Immediate(int(bool(_constant(items[0]) or _constant(items[1]))))

    def all_of(self, items: list[Any]) -> Immediate:
        return Immediate(int(bool(_constant(items[0]) and _constant(items[1]))))

    def choose(self, items: list[Any]) -> Immediate:
        return Immediate(_constant(items[1]) if _constant(items[0]) else _constant(items[2]))

    def negate(self, items: list[Any]) -> Operand:
        if isinstance(items[0], FloatImmediate):
            return FloatImmediate(items[0].bits ^ (1 << (items[0].width - 1)), items[0].width)
        return Immediate(-_constant(items[0]))

    def same(self, items: list[Any]) -> Operand:
        if isinstance(items[0], FloatImmediate):
            return items[0]
        return Immediate(_constant(items[0]))

    def invert(self, items: list[Any]) -> Immediate:
        return Immediate(~_constant(items[0]))

    def not_(self, items: list[Any]) -> Immediate:
        return Immediate(int(not _constant(items[0])))

    # -- statements

    def guard(self, items: list[Any]) -> tuple[bool, str]:
        return len(items) == 2, str(items[-1])

    def opcode(self, items: list[Token]) -> str:
        return "".join(items)

    def operands(self, items: list[Any]) -> tuple[Operand, ...]:
        return tuple(_finished(item) for item in items)

    def statement(self, items: list[Any]) -> RawStatement:
        negated, guard = items[0] if isinstance(items[0], tuple) else (False, None)
        rest = items[1:] if isinstance(items[0], tuple) else items
        return RawStatement(negated, guard, rest[0], rest[1] if len(rest) > 1 else ())

    # -- declarations and directives

    def word(self, items: list[Any]) -> Word:
        text, number = items
        return Word(str(text), None if number is None else integer(number), ())

    def attributed(self, items: list[Any]) -> Word:
        return Word(str(items[0]), None, tuple(str(getattr(item, "value", item)) for item in items[1:]))

    def nested_attribute(self, items: list[Any]) -> str:
        inner = ", ".join(str(getattr(item, "value", item)) for item in items[1:] if item is not None)
        return f"{items[0]}({inner})" if inner else str(items[0])

    def words(self, items: list[Word]) -> tuple[Word, ...]:
        return tuple(items)

    def extent(self, items: list[Any]) -> int | None:
        return None if items[0] is None else _constant(items[0])

    def declarator(self, items: list[Any]) -> Declarator:
        name, count, *dims = items
        return Declarator(str(name), None if count is None else integer(count), tuple(dims))

    def declaration(self, items: list[Any]) -> Declaration:
        return Declaration(items[0], tuple(items[1:]))

    parameter = declaration

    def generic_address(self, items: list[Any]) -> None:
        if items[0] != "generic":
            raise GrammarError(f"'{items[0]}(...)' is not an initialiser", 0)

    def parameters(self, items: list[Any]) -> tuple[Declaration, ...]:
        return tuple(item for item in items if item is not None)

    def directive_value(self, items: list[Token]) -> str:
        return str(items[0])

    def header_directive(self, items: list[Any]) -> HeaderDirective:
        values = tuple(str(getattr(v, "value", v)) for v in items[1:] if v is not None)
        return HeaderDirective(str(items[0]), values)

    directive = header_directive

    def header(self, items: list[Any]) -> Header:
        words, returns, name, parameters, *directives = items
        return Header(words, returns or (), str(name), parameters or (), tuple(directives))

    def listing(self, items: list[Token]) -> tuple[str | None, str, tuple[str, ...]]:
        label = None if items[0].type == "WORD" else str(items[0])
        rest = items if label is None else items[1:]
        return label, str(rest[0]), tuple(str(name) for name in rest[1:])

    def prototype(self, items: list[Any]) -> tuple[str, str]:
        return str(items[0]), str(items[1])

    def loc_function(self, items: list[Any]) -> tuple[str, str, int]:
        if items[0] != "function_name":
            raise GrammarError(f"unexpected '{items[0]}' in .loc", 0)
        return "function", str(items[1]), 0 if items[2] is None else integer(items[2])

    def loc_inlined(self, items: list[Token]) -> tuple[str, tuple[int, int, int]]:
        if items[0] != "inlined_at":
            raise GrammarError(f"unexpected '{items[0]}' in .loc", 0)
        return "inlined", (integer(items[1]), integer(items[2]), integer(items[3]))

    def loc(self, items: list[Any]) -> RawLoc:
        function: tuple[str, int] | None = None
        inlined: tuple[int, int, int] | None = None
        for extra in items[4:]:
            if extra[0] == "function":
                function = (extra[1], extra[2])
            else:
                inlined = extra[1]
        return RawLoc((integer(items[1]), integer(items[2]), integer(items[3])), function, inlined)


def _finished(value: Any) -> Operand:
    """Return an operand as it may stand in a list. Raises GrammarError for `reg+imm` outside brackets."""
    if isinstance(value, _Offset):
        raise GrammarError("register plus constant is an address only inside brackets", 0)
    operand: Operand = value
    return operand


def parse_operand(text: str, names: Names) -> Operand:
    """Parse one operand. Raises GrammarError."""
    return _finished(parse("operand", text, names))
