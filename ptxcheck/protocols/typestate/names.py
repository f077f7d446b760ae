"""Which names a function declares, in which block, and which of its operands name nothing.

A name belongs to the block that declares it; registers, variables, parameters and labels share one set of
names in each block. `.reg .b32 %r<4>` declares `%r0` to `%r3`. Order is not looked at: a use above the
declaration passes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ...ir import (
    Address,
    Arguments,
    Directive,
    Function,
    Instruction,
    Label,
    Module,
    Operand,
    Register,
    ScopeBegin,
    ScopeEnd,
    Symbol,
    SymbolOffset,
    Variable,
    Vector,
    registers_of,
)
from ...isa.operands import is_special
from ...source import Span


@dataclass(frozen=True, slots=True)
class Undeclared:
    """An operand of the instruction at `point` that names nothing."""

    point: int
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A second declaration of a name in one block."""

    name: str
    span: Span
    point: int
    """Point of the instruction after the declaration, or of the last one."""


@dataclass(frozen=True)
class DeclaredNames:
    """The declarations of one function with a body."""

    module: Module
    function: Function

    @property
    def _variables(self) -> tuple[Variable, ...]:
        body = self.function.body
        own = () if body is None else body.variables
        return (*self.function.parameters, *self.function.returns, *own)

    @cached_property
    def _ranges(self) -> Mapping[tuple[str, int], int]:
        return {(v.name, v.scope): v.count for v in self._variables if v.count is not None}

    @cached_property
    def _singles(self) -> frozenset[tuple[str, int]]:
        return frozenset((v.name, v.scope) for v in self._variables if v.count is None)

    @cached_property
    def _global_names(self) -> frozenset[str]:
        names = {item.name for item in self.module.items if isinstance(item, (Function, Variable))}
        for item in self.module.items:
            if isinstance(item, Directive):
                names.update(item.names)
        body = self.function.body
        return frozenset(names.union(d.label for d in body.directives if d.label) if body else names)

    def undeclared(self) -> Iterator[Undeclared]:
        """Yield each operand that names nothing, once for each name."""
        body = self.function.body
        seen: set[Register | Symbol] = set()
        for point, operand in body.distinct_operands if body else ():
            for name in _named(operand):
                if name in seen:
                    continue
                seen.add(name)
                reason = self._complaint(name)
                if reason is not None:
                    yield Undeclared(point, name.name, reason)

    def _complaint(self, name: Register | Symbol) -> str | None:
        if isinstance(name, Register):
            return self._register_complaint(name)
        body = self.function.body
        known = name.name in self._global_names or (name.name, name.scope) in self._singles
        if known or body is None or (name.name, name.scope) in body.labels or name.name == "WARP_SZ":
            return None
        return f"nothing declares '{name.name}'"

    def _register_complaint(self, register: Register) -> str | None:
        name, scope = register.name, register.scope
        if (name, scope) in self._singles:
            return None
        short: tuple[str, int] | None = None
        for stem, number in _splits(name):
            count = self._ranges.get((stem, scope))
            if count is not None and number < count:
                return None
            short = (stem, count) if count is not None else short
        if scope == 0 and is_special(name.partition(".")[0]):
            return None
        if short is not None:
            stem, count = short
            return f"'{stem}<{count}>' declares '{stem}0' to '{stem}{count - 1}', not '{name}'"
        return f"nothing declares '{name}'"

    def type_of(self, register: Register) -> str | None:
        """Return the declared type of a register; None for special registers and what nothing declares."""
        body = self.function.body
        found = None if body is None else body.register_types.get(register)
        return found or self._parameter_types.get((register.name, register.scope))

    def space_of(self, symbol: Symbol) -> str | None:
        """Return the state space of a variable or parameter; None for any other name."""
        return self._spaces.get((symbol.name, symbol.scope)) or self._global_spaces.get(symbol.name)

    @cached_property
    def _parameter_types(self) -> Mapping[tuple[str, int], str]:
        given = (*self.function.parameters, *self.function.returns)
        return {(v.name, 0): v.type for v in given if v.space == ".reg"}

    @cached_property
    def _spaces(self) -> Mapping[tuple[str, int], str]:
        return {(v.name, v.scope): v.space for v in self._variables if v.space != ".reg"}

    @cached_property
    def _global_spaces(self) -> Mapping[str, str]:
        return {name: variable.space for name, variable in self.module.variables.items()}

    def duplicates(self) -> Iterator[Duplicate]:
        """Yield each declaration of a name that its block has declared before."""
        body = self.function.body
        frames: defaultdict[int, _Frame] = defaultdict(_Frame)
        for parameter in (*self.function.returns, *self.function.parameters):
            if parameter.name != "_" and frames[0].add(parameter.name, parameter.count):
                yield Duplicate(parameter.name, parameter.span, 0)
        point, scopes = 0, [0]
        for statement in body.statements if body else ():
            match statement:
                case Instruction():
                    point += 1
                case ScopeBegin(scope=scope):
                    scopes.append(scope)
                case ScopeEnd():
                    scopes.pop()
                case Variable(name=name, count=count, scope=scope) if frames[scope].add(name, count):
                    yield Duplicate(name, statement.span, point)
                case Label(name=name, scope=scope) if frames[scope].add(name, None):
                    yield Duplicate(name, statement.span, point)
                case Directive(label=str(name)) if frames[scopes[-1]].add(name, None):
                    yield Duplicate(name, statement.span, point)
                case _:
                    pass


class _Frame:
    """Names declared so far in one block."""

    def __init__(self) -> None:
        self._singles: set[str] = set()
        self._ranges: dict[str, int] = {}

    def add(self, name: str, count: int | None) -> bool:
        """Declare a name; tell whether it was there already."""
        if count is not None:
            taken = name in self._ranges
            self._ranges[name] = max(count, self._ranges.get(name, 0))
            return taken
        taken = name in self._singles or any(n < self._ranges.get(stem, 0) for stem, n in _splits(name))
        self._singles.add(name)
        return taken


_MOST_DIGITS = 10
"""Digits of the numbers of registers, at most: there are not as many registers."""


def _splits(name: str) -> Iterator[tuple[str, int]]:
    """Yield the ways to read a name as a stem and a number: `%r12` is `%r`, 12 and `%r1`, 2."""
    stem = len(name.rstrip("0123456789"))
    for at in range(max(stem, len(name) - _MOST_DIGITS), len(name)):
        if name[at] != "0" or at == len(name) - 1:
            yield name[:at], int(name[at:])


def _named(operand: Operand) -> Iterator[Register | Symbol]:
    """Yield the names in an operand, registers first."""
    if isinstance(operand, (Register, Symbol)):
        yield operand
        return
    yield from registers_of(operand)
    yield from _symbols_of(operand)


def _symbols_of(operand: Operand) -> Iterator[Symbol]:
    match operand:
        case Symbol():
            yield operand
        case SymbolOffset(symbol=symbol):
            yield symbol
        case Address(base=base, extra=extra):
            if isinstance(base, Symbol):
                yield base
            for item in extra:
                yield from _symbols_of(item)
        case Vector(elements=items) | Arguments(items=items):
            for item in items:
                yield from _symbols_of(item)
        case _:
            return


def duplicate_items(module: Module) -> Iterator[Function | Variable]:
    """Yield each function or variable of a module whose name an earlier one has defined."""
    defined: set[str] = set()
    for item in module.items:
        if not isinstance(item, (Function, Variable)):
            continue
        is_definition = item.body is not None if isinstance(item, Function) else ".extern" not in item.linkage
        if is_definition and item.name in defined:
            yield item
        if is_definition:
            defined.add(item.name)


def directive_span(module: Module, function: Function, keyword: str) -> Span:
    """Return the place of a directive in a function's header, or of the function's name without it."""
    text, (start, end) = module.source.text, function.span
    header_end = min((at for at in (text.find("{", start, end),) if at >= 0), default=end)
    for word in (keyword, function.name):
        at = text.find(word, start, header_end)
        if at >= 0:
            return Span(at, at + len(word))
    return Span(start, min(start + 1, end))


__all__ = ["DeclaredNames", "Duplicate", "Undeclared", "directive_span", "duplicate_items"]
