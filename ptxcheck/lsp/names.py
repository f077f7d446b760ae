"""Names in a module: what each one in the text stands for, where it is declared, and where else it is used.

The IR has no places of operands, so names are found in the text; scopes and declarations are those of the IR.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from ..ir import (
    Directive,
    Function,
    Instruction,
    Label,
    Module,
    ScopeBegin,
    ScopeEnd,
    Variable,
)
from ..parser.text import blank_comments
from ..source import Span

_NAME = re.compile(r"(?<![\w$%.])[A-Za-z_$%][\w$]*")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"?')
_HEAD = re.compile(r"(?:@!?[ \t]*[\w$%]+\s+)?(?P<opcode>[a-z]\w*(?:\.[\w:]+)*)")
_HEADER = re.compile(r"\.(?:entry|func)\b")
_PARAMETERS = -1
"""Scope of a function's parameters: around that of its body, which is 0."""


class Kind(Enum):
    """What a name stands for."""

    KERNEL = "kernel"
    FUNCTION = "function"
    PARAMETER = "parameter"
    VARIABLE = "variable"
    REGISTER = "register"
    LABEL = "label"


@dataclass(frozen=True, slots=True, eq=False)
class Declaration:
    """Where a name gets its meaning. `span` is that of the name, `whole` that of its declaration.

    A place of the program: compared by identity.
    """

    name: str
    kind: Kind
    span: Span
    whole: Span
    function: Function | None = None
    """The function that the name is local to, or the one that it names."""
    scope: int = 0
    count: int | None = None
    """N of `%r<N>`."""
    variable: Variable | None = None

    @property
    def is_local(self) -> bool:
        """Tell whether the name is known in one function only."""
        return self.kind in (Kind.PARAMETER, Kind.REGISTER, Kind.LABEL) or (
            self.kind is Kind.VARIABLE and self.function is not None
        )


@dataclass(frozen=True, slots=True)
class Token:
    """A name in the text."""

    name: str
    span: Span


class Names:
    """The names of one module."""

    def __init__(self, module: Module) -> None:
        self.module = module
        text = blank_comments(module.source.text)
        self._text = _STRING.sub(lambda found: " " * len(found[0]), text) if '"' in text else text
        self._known: dict[int, _Local] = {}

    def token(self, offset: int) -> Token | None:
        """Return the name at an offset, or the one that ends there."""
        start = offset
        while start > 0 and re.match(r"[\w$%]", self._text[start - 1]):
            start -= 1
        found = _NAME.match(self._text, start)
        if found is None or found.end() < offset or self.opcode(found.start()) is not None:
            return None
        return Token(found[0], Span(*found.span()))

    def opcode(self, offset: int) -> tuple[Instruction, Span] | None:
        """Return the instruction whose opcode is at an offset, and the opcode's place; None elsewhere."""
        function = self.function(offset)
        if function is None:
            return None
        return self._local(function).opcode(offset)

    def function(self, offset: int) -> Function | None:
        """Return the function that an offset lies in."""
        at = bisect_right(self._function_starts, offset) - 1
        if at < 0 or self.module.functions[at].span.end < offset:
            return None
        return self.module.functions[at]

    @cached_property
    def _function_starts(self) -> list[int]:
        return [function.span.start for function in self.module.functions]

    def declaration(self, token: Token) -> Declaration | None:
        """Return what a name stands for where it is."""
        function = self.function(token.span.start)
        if function is not None:
            found = self._local(function).resolve(token)
            if found is not None:
                return found
        return self._module_level.get(token.name)

    def uses(self, declaration: Declaration, name: str) -> Iterator[Span]:
        """Yield each place of a name that means the declaration, in order, its declaration included.

        For the registers of `%r<4>` the name is that of one of them, or `%r` for all.
        """
        place = declaration.function.span if declaration.is_local and declaration.function else None
        start, end = place or Span(0, len(self._text))
        more = r"\d*" if name == declaration.name and declaration.count is not None else ""
        pattern = re.compile(rf"(?<![\w$%.]){re.escape(name)}{more}(?![\w$])")
        for found in pattern.finditer(self._text, start, end):
            token = Token(found[0], Span(*found.span()))
            if self.opcode(found.start()) is None and self.declaration(token) is declaration:
                yield token.span

    def local(self, function: Function) -> tuple[Declaration, ...]:
        """Return what a function declares, in order of the text."""
        return tuple(sorted(self._local(function).declarations, key=lambda d: d.span))

    @cached_property
    def outside(self) -> tuple[Declaration, ...]:
        """Functions and variables of the module, in order of the text."""
        return tuple(self._outside())

    def _outside(self) -> Iterator[Declaration]:
        for item in self.module.items:
            if isinstance(item, Variable):
                span = self._find(item.name, item.span)
                yield Declaration(item.name, Kind.VARIABLE, span, item.span, variable=item)
            elif isinstance(item, Function):
                kind = Kind.KERNEL if item.is_entry else Kind.FUNCTION
                header = _HEADER.search(self._text, *item.span)
                start = item.span.start if header is None else header.end()
                span = self._find(item.name, Span(start, item.span.end))
                yield Declaration(item.name, kind, span, item.span, item)

    @cached_property
    def _module_level(self) -> dict[str, Declaration]:
        """Declarations by name; a function with a body wins over its prototypes."""
        found: dict[str, Declaration] = {}
        for declaration in self.outside:
            known = found.get(declaration.name)
            if known is None or (known.function is not None and known.function.body is None):
                found[declaration.name] = declaration
        return found

    def _local(self, function: Function) -> _Local:
        key = id(function)
        if key not in self._known:
            self._known[key] = _Local(self._text, function, self._find)
        return self._known[key]

    def _find(self, name: str, span: Span) -> Span:
        """Return the first place of a name in a part of the text; the start of the part when it is not there."""
        pattern = re.compile(rf"(?<![\w$%.]){re.escape(name)}(?![\w$])")
        found = pattern.search(self._text, *span)
        return Span(span.start, span.start) if found is None else Span(*found.span())


class _Local:
    """Scopes and declarations of one function."""

    def __init__(self, text: str, function: Function, find: Callable[[str, Span], Span]) -> None:
        self._text = text
        self._function = function
        self._find = find
        self._changes: list[tuple[int, int]] = [(function.span.start, 0)]
        self._parents: dict[int, int] = {0: _PARAMETERS}
        self._instructions: list[Instruction] = []
        self.declarations: list[Declaration] = []
        for parameter in (*function.returns, *function.parameters):
            self._variable(parameter, Kind.PARAMETER, _PARAMETERS)
        self._read()
        self._by_name: dict[str, list[Declaration]] = {}
        for declaration in self.declarations:
            self._by_name.setdefault(declaration.name, []).append(declaration)
        self._starts = [instruction.start for instruction in self._instructions]
        self._change_starts = [start for start, _ in self._changes]

    def _read(self) -> None:
        scope = 0
        body = self._function.body
        for statement in () if body is None else body.statements:
            if isinstance(statement, Instruction):
                self._instructions.append(statement)
            elif isinstance(statement, Label):
                self._label(statement.name, statement.span, statement.scope)
            elif isinstance(statement, Variable):
                kind = Kind.REGISTER if statement.space == ".reg" else Kind.VARIABLE
                self._variable(statement, kind, scope)
            elif isinstance(statement, Directive) and statement.label is not None:
                self._label(statement.label, statement.span, scope)
            elif isinstance(statement, ScopeBegin):
                self._parents[statement.scope] = scope
                scope = statement.scope
                self._changes.append((statement.span.start, scope))
            elif isinstance(statement, ScopeEnd):
                scope = self._parents.get(scope, 0)
                self._changes.append((statement.span.end, scope))

    def _label(self, name: str, whole: Span, scope: int) -> None:
        span = self._find(name, whole)
        self.declarations.append(Declaration(name, Kind.LABEL, span, whole, self._function, scope))

    def _variable(self, variable: Variable, kind: Kind, scope: int) -> None:
        span = self._find(variable.name, variable.span)
        self.declarations.append(
            Declaration(
                variable.name, kind, span, variable.span, self._function, scope, variable.count, variable
            )
        )

    def resolve(self, token: Token) -> Declaration | None:
        """Return what a name stands for: the innermost declaration before it, or a label of an open block."""
        for declaration in self._by_name.get(token.name, ()):
            if declaration.span == token.span:
                return declaration
        scope = self._changes[bisect_right(self._change_starts, token.span.start) - 1][1]
        later = None
        while True:
            known = [each for each in self._named(token.name) if each.scope == scope]
            before = [
                each for each in known if each.kind is Kind.LABEL or each.span.start <= token.span.start
            ]
            if before:
                return before[-1]
            later = later or (known[0] if known else None)
            if scope == _PARAMETERS:
                return later
            scope = self._parents[scope]

    def _named(self, name: str) -> Iterator[Declaration]:
        yield from (each for each in self._by_name.get(name, ()) if each.count is None)
        digits = len(name) - len(name.rstrip("0123456789"))
        for length in range(1, min(digits, 9) + 1):
            number = name[-length:]
            if number == "0" or number[0] != "0":
                for each in self._by_name.get(name[:-length], ()):
                    if each.count is not None and int(number) < each.count:
                        yield each

    def opcode(self, offset: int) -> tuple[Instruction, Span] | None:
        at = bisect_right(self._starts, offset) - 1
        if at < 0:
            return None
        instruction = self._instructions[at]
        found = _HEAD.match(self._text, instruction.start, instruction.end)
        if found is None or not found.start("opcode") <= offset <= found.end("opcode"):
            return None
        return instruction, Span(*found.span("opcode"))
