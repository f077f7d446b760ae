"""Function bodies: a scanner that cuts statements and reads the commonest shapes itself.

Everything it does not recognise goes to the Lark grammar. Operands and operations are interned (`operands`), so a
statement of a shape seen before costs a few dictionary look-ups.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..ir import (
    Address,
    Arguments,
    Body,
    Directive,
    Instruction,
    Label,
    Loc,
    Operand,
    ScopeBegin,
    ScopeEnd,
    SourceLine,
    Statement,
    Symbol,
    Variable,
)
from ..isa.lookup import of_call
from ..opcodes.spec import Operation, Trait
from ..source import Span, SyntaxProblem
from .declarations import variables_of
from .grammar import (
    GrammarError,
    RawLoc,
    RawStatement,
    parse,
)
from .operands import NAME, OperandReader
from .scope import Names
from .text import blank_comments, statement_end

_MAX_DEPTH = 128

_STATEMENT = re.compile(
    r"""[ \t\r\n]*(?:
    (?:@(?P<negated>!?)[ \t]*(?P<guard>[\w$%]+)[ \t\r\n]+)?
        (?P<opcode>[a-z][a-z0-9_]*(?:\.[\w:]+)*)
        (?:(?:[ \t\r\n]+(?![ \t\r\n]*:)|(?=[\[{]))(?P<operands>[^;{}/"]*(?:\{[^;{}/"]*\}[^;{}/"]*)*))?;
    |\.loc[ \t]+(?P<loc>\d+[ \t]+\d+[ \t]+\d+[^\n;/"]*)(?://[^\n]*)?(?=\n)
    |(?P<comment>//[^\n]*)
    |(?P<label>[\w$%]+)[ \t\r\n]*:(?!:)
    |(?P<open>\{)
    |(?P<close>\})
    |(?P<directive>\.[a-z_]\w*)
    )""",
    re.VERBOSE,
)
_SPACE = re.compile(r"[ \t\r\n]*")
_LOC = re.compile(
    r"(\d{1,20})[ \t]+(\d{1,20})[ \t]+(\d{1,20})[ \t]*"
    r"(?:,[ \t]*function_name[ \t]+([\w$]+)(?:\+(\d{1,20}))?[ \t]*"
    r",[ \t]*inlined_at[ \t]+(\d{1,20})[ \t]+(\d{1,20})[ \t]+(\d{1,20})[ \t]*)?\Z"
)
_LISTINGS = frozenset({".branchtargets", ".calltargets"})
_DECLARATIONS = frozenset(
    {".reg", ".shared", ".local", ".param", ".global", ".const", ".align", ".extern", ".sreg"}
)


class BodyReader:
    """Reads one body: the text strictly between its outer braces."""

    def __init__(
        self,
        text: str,
        start: int,
        end: int,
        parameters: tuple[Variable, ...] = (),
        names: Names | None = None,
    ) -> None:
        self._text = text
        self._at = start
        self._end = end
        self._names = names or Names()
        self._names.declare_arrays(parameters)
        for parameter in parameters:
            self._names.declare(parameter.name, register=parameter.space == ".reg", count=parameter.count)
        self._statements: list[Statement] = []
        self._problems: list[SyntaxProblem] = []
        self._operands = OperandReader(self._names)
        self._locs: dict[str, Loc] = {}
        self._call_parameters: set[Operand | None] = set()
        """Variables of the body for what is passed to functions, and what they return."""
        self._opened: list[tuple[int, set[str]]] = []

    def read(self) -> Body:
        """Return the body; syntax errors are collected in it, one for each bad statement."""
        text, end = self._text, self._end
        match = _STATEMENT.match
        readers: dict[str, Callable[[re.Match[str]], None]] = {
            "loc": self._read_loc,
            "label": self._read_label,
            "open": self._read_open,
            "close": self._read_close,
            "directive": self._read_directive,
            "comment": self._skip,
        }
        while True:
            found = match(text, self._at, end)
            if found is None:
                if not self._read_odd():
                    break
                continue
            self._at = found.end()
            opcode = found["opcode"]
            if opcode is None:
                readers[found.lastgroup or ""](found)
            else:
                self._read_instruction(found, opcode)
        while self._names.depth:
            self._problem("missing '}' of a block", end, end)
            self._close_scope(Span(end, end))
        return Body(tuple(self._statements), tuple(self._problems))

    # -- instructions

    def _read_instruction(self, found: re.Match[str], opcode: str) -> None:
        negated, guard_name, _, text = found.group("negated", "guard", "opcode", "operands")
        start = found.start("opcode") if guard_name is None else found.start("negated") - 1
        try:
            operands = self._operands.read(text) if text else ()
        except GrammarError:
            self._read_slowly(start, found.end())
            return
        guard = None if guard_name is None else self._operands.guard(guard_name, bool(negated))
        operation = self._operands.operation(opcode, operands)
        unexpected_list = text and "(" in text and Trait.CALL not in operation.traits
        if unexpected_list or (guard_name is not None and guard is None):
            self._read_slowly(start, found.end())
            return
        if self._call_parameters:
            operation = self._in_its_space(operation, operands)
        self._statements.append(Instruction(operation, guard, operands, start, found.end()))

    def _read_slowly(self, start: int, end: int) -> None:
        """Read one instruction through the grammar, or report it."""
        text = self._text[start:end]
        try:
            raw: RawStatement = parse("statement", text, self._names)
        except GrammarError as error:
            self._problem(error.message, start + error.offset, end, statement=start)
            return
        guard = None if raw.guard is None else self._operands.guard(raw.guard, raw.negated)
        if raw.guard is not None and guard is None:
            self._problem(f"guard '{raw.guard}' is not a predicate register", start, end, statement=start)
            return
        operands = self._operands.with_elements(raw.opcode, raw.operands)
        operation = self._operands.operation(raw.opcode, operands)
        if Trait.CALL not in operation.traits:
            operands = tuple(_without_parentheses(operand) for operand in operands)
            operation = self._operands.operation(raw.opcode, operands)
        if self._call_parameters:
            operation = self._in_its_space(operation, operands)
        self._statements.append(Instruction(operation, guard, operands, start, end))

    def _in_its_space(self, operation: Operation, operands: tuple[Operand, ...]) -> Operation:
        """Return an access of a parameter of a call as one of its space, which `.param` alone does not say."""
        if operation.slots.get("space") != ".param":
            return operation
        bases = (operand.base for operand in operands if isinstance(operand, Address))
        return of_call(operation) if any(base in self._call_parameters for base in bases) else operation

    # -- everything else

    def _skip(self, _: re.Match[str]) -> None:
        return

    def _read_loc(self, found: re.Match[str]) -> None:
        text = found["loc"]
        loc = self._locs.get(text)
        if loc is None:
            span = Span(found.start("loc") - 5, found.end())
            parsed = self._parse_loc(text.rstrip(), span)
            if parsed is None:
                return
            loc = self._locs[text] = parsed
        self._statements.append(loc)

    def _parse_loc(self, text: str, span: Span) -> Loc | None:
        match = _LOC.match(text)
        if match is not None:
            file, line, column, function, offset, *call = match.groups()
            inlined = None if function is None else SourceLine(int(call[0]), int(call[1]), int(call[2]))
            return Loc(
                SourceLine(int(file), int(line), int(column)), function, int(offset or 0), inlined, span
            )
        try:
            raw: RawLoc = parse("loc", ".loc " + text, self._names)
        except GrammarError as error:
            self._problem(error.message, span.start + error.offset, span.end, statement=span.start)
            return None
        name, at = raw.function or (None, 0)
        return Loc(
            SourceLine(*raw.place),
            name,
            at,
            None if raw.inlined_at is None else SourceLine(*raw.inlined_at),
            span,
        )

    def _read_label(self, found: re.Match[str]) -> None:
        name = found["label"]
        start = found.start("label")
        after = _STATEMENT.match(self._text, self._at, self._end)
        if after is not None and after["directive"] in (".branchtargets", ".calltargets", ".callprototype"):
            self._read_labelled_directive(start, after["directive"])
            return
        if not NAME.match(name):
            self._problem(f"'{name}' is not a label", start, found.end())
            return
        labels = self._opened[-1][1] if self._opened else None
        if labels is not None:
            labels.add(name)
        self._statements.append(Label(name, self._names.scope, Span(start, found.end())))

    def _read_open(self, found: re.Match[str]) -> None:
        span = Span(found.end() - 1, found.end())
        if self._names.depth >= _MAX_DEPTH:
            self._problem(f"blocks are nested more than {_MAX_DEPTH} deep", *span)
            self._at = self._end
            return
        scope = self._names.open()
        self._opened.append((len(self._statements), set()))
        self._operands.open_block()
        self._statements.append(ScopeBegin(scope, span))

    def _read_close(self, found: re.Match[str]) -> None:
        span = Span(found.end() - 1, found.end())
        if not self._names.depth:
            self._problem("'}' without '{'", *span)
            return
        self._close_scope(span)

    def _close_scope(self, span: Span) -> None:
        scope, _ = self._names.close()
        begin, labels = self._opened.pop()
        self._operands.close_block()
        if labels:
            self._bind_labels(begin, labels, scope)
        self._statements.append(ScopeEnd(scope, span))

    def _bind_labels(self, begin: int, labels: set[str], scope: int) -> None:
        """Give branch targets inside a block the scope of the block's own labels (forward ones too)."""
        statements = self._statements
        for index in range(begin, len(statements)):
            statement = statements[index]
            if type(statement) is Instruction and any(type(o) is Symbol for o in statement.operands):
                operands = tuple(
                    Symbol(o.name, scope) if type(o) is Symbol and o.scope == 0 and o.name in labels else o
                    for o in statement.operands
                )
                statements[index] = Instruction(
                    statement.operation, statement.guard, operands, statement.start, statement.end
                )

    def _read_directive(self, found: re.Match[str]) -> None:
        start = found.start("directive")
        keyword = found["directive"]
        if keyword == ".loc":
            self._read_odd_loc(start)
            return
        end = statement_end(self._text, start, self._end)
        self._at = end
        text = self._text[start:end]
        try:
            if keyword in _DECLARATIONS:
                self._declare(text, Span(start, end))
            elif keyword in _LISTINGS:
                self._list(text, Span(start, end))
            else:
                values = parse("directive", text, self._names).values
                self._statements.append(
                    Directive(keyword, " ".join([keyword, ", ".join(values)]).strip(), span=Span(start, end))
                )
        except GrammarError as error:
            self._problem(error.message, start + error.offset, end, statement=start)

    def _declare(self, text: str, span: Span) -> None:
        variables = variables_of(text, span, self._names)
        self._operands.forget(variables)
        self._names.declare_arrays(variables)
        for variable in variables:
            self._names.declare(variable.name, register=variable.space == ".reg", count=variable.count)
            if variable.space == ".param":
                self._call_parameters.add(Symbol(variable.name, variable.scope))
        self._statements.extend(variables)

    def _list(self, text: str, span: Span) -> None:
        label, keyword, names = parse("listing", text, self._names)
        shown = f"{keyword} {', '.join(names)}"
        self._statements.append(Directive(keyword, shown, label, names, span))

    def _read_labelled_directive(self, start: int, keyword: str) -> None:
        end = statement_end(self._text, start, self._end)
        self._at = end
        text = self._text[start:end]
        try:
            if keyword in _LISTINGS:
                self._list(text, Span(start, end))
            else:
                label, _ = parse("prototype", text, self._names)
                shown = " ".join(blank_comments(text).partition(":")[2].rstrip("; \n\r\t").split())
                self._statements.append(Directive(keyword, shown, label, (), Span(start, end)))
        except GrammarError as error:
            self._problem(error.message, start + error.offset, end, statement=start)

    def _read_odd_loc(self, start: int) -> None:
        """Read a `.loc` that spans lines or carries a comment: it ends where its numbers and options do."""
        match = _ODD_LOC.match(self._text, start, self._end)
        end = match.end() if match else min(self._end, start + 4)
        self._at = max(end, start + 4)
        loc = self._parse_loc(blank_comments(self._text[start + 4 : end]).strip(), Span(start, end))
        if loc is not None:
            self._statements.append(loc)

    def _read_odd(self) -> bool:
        """Read what the scanner does not recognise (comments inside statements, errors). False at the end."""
        text = self._text
        space = _SPACE.match(text, self._at, self._end)
        start = space.end() if space else self._at
        if start >= self._end:
            return False
        if text.startswith("/*", start):
            close = text.find("*/", start + 2, self._end)
            if close < 0:
                self._problem("comment is not closed", start, self._end)
                self._at = self._end
                return False
            self._at = close + 2
            return True
        end = statement_end(text, start, self._end)
        self._at = max(end, start + 1)
        self._read_slowly(start, self._at)
        return True

    def _problem(self, message: str, start: int, end: int, statement: int | None = None) -> None:
        if statement is not None:
            shown = " ".join(self._text[statement:end].split())
            message = f"{message} in '{shown[:77] + '...' if len(shown) > 80 else shown}'"
        self._problems.append(SyntaxProblem(message, Span(start, max(start, end))))


_ODD_LOC = re.compile(
    r"\.loc(?:[ \t\r\n]|//[^\n]*\n|/\*.*?\*/)+\d+(?:[ \t\r\n]|/\*.*?\*/)+\d+(?:[ \t\r\n]|/\*.*?\*/)+\d+"
    r"(?:\s*,\s*(?:function_name\s+[\w$]+(?:\s*\+\s*\d+)?|inlined_at\s+\d+\s+\d+\s+\d+))*",
    re.DOTALL,
)


def _without_parentheses(operand: Operand) -> Operand:
    if isinstance(operand, Arguments) and len(operand.items) == 1:
        return operand.items[0]
    return operand
