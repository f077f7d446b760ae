"""Python sources to the form of `code.py`, by Python's own parser."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence

from ptxcheck.hostcode import code as c
from ptxcheck.hostcode.changes import changed
from ptxcheck.hostcode.names import KERNEL_GETTERS
from ptxcheck.hostcode.types import UNKNOWN, Type, named
from ptxcheck.source import Span

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%%",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Not: "!", ast.Invert: "~"}
_CASTS = frozenset(("cuuint64_t", "cuuint32_t", "c_uint64", "c_uint32"))


def program(text: str) -> c.Program | None:
    """Return the functions and constants of a Python source, or None where it cannot be parsed."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return _Reader(text).program(tree)


class _Reader:
    """Reads one file; columns of `ast` are bytes, offsets of spans are characters."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines(keepends=True)
        self._text = text
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))
        self._functions: list[c.Function] = []
        self._kernels: set[str] = set()
        self._has_numba = "numba" in text

    def program(self, tree: ast.Module) -> c.Program:
        self._definitions(tree.body)
        top = tuple(tree.body)
        script = c.Function("<module>", (), (), UNKNOWN, self._text, Span(0, 0), self._translation(top))
        return c.Program(
            (*self._functions, script), self._constants(tree.body), {}, False, frozenset(self._kernels)
        )

    def _definitions(self, body: Sequence[ast.stmt]) -> None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._functions.append(self._function(node, skip_self=False))
            elif isinstance(node, ast.ClassDef):
                for one in node.body:
                    if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)):
                        self._functions.append(self._function(one, skip_self=True))
            elif isinstance(node, (ast.If, ast.Try, ast.With)):
                self._definitions(node.body)

    def _constants(self, body: Sequence[ast.stmt]) -> dict[str, tuple[Type, c.Expr | None, c.Declare | None]]:
        """Return module constants: names in capitals that are assigned once, at the top."""
        found: dict[str, tuple[Type, c.Expr | None, c.Declare | None]] = {}
        for node in body:
            target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
            if isinstance(target, ast.Name) and isinstance(node, ast.Assign):
                span = self._span(node)
                value = self._expr(node.value)
                declare = c.Declare(target.id, UNKNOWN, (), value, span)
                is_kept = target.id.isupper() or _called(node.value) in KERNEL_GETTERS
                is_new = target.id not in found and is_kept
                found[target.id] = (UNKNOWN, None, declare if is_new else None)
        return found

    def _span(self, node: ast.AST) -> Span:
        return Span(
            self._offset(node.lineno, node.col_offset),  # type: ignore[attr-defined]
            self._offset(node.end_lineno, node.end_col_offset),  # type: ignore[attr-defined]
        )

    def _offset(self, line: int, column: int) -> int:
        if line > len(self._lines):
            return self._starts[-1]
        before = self._lines[line - 1].encode("utf-8", errors="replace")[:column]
        return self._starts[line - 1] + len(before.decode("utf-8", errors="replace"))

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, *, skip_self: bool) -> c.Function:
        marks = (mark.func if isinstance(mark, ast.Call) else mark for mark in node.decorator_list)
        if self._has_numba and any(isinstance(mark, ast.Attribute) and mark.attr == "jit" for mark in marks):
            self._kernels.add(node.name)
        arguments = [*node.args.posonlyargs, *node.args.args]
        defaults: list[ast.expr | None] = [None] * (len(arguments) - len(node.args.defaults))
        defaults += node.args.defaults
        pairs = list(zip(arguments, defaults, strict=True))
        if skip_self and arguments and arguments[0].arg in ("self", "cls"):
            pairs = pairs[1:]
        parameters = tuple(
            c.Parameter(one.arg, UNKNOWN, None if default is None else self._expr(default), False, False)
            for one, default in pairs
        )
        text = "\n".join(self._lines[node.lineno - 1 : node.end_lineno])
        return c.Function(
            node.name, parameters, (), UNKNOWN, text, self._span(node), self._translation(tuple(node.body))
        )

    def _translation(self, body: tuple[ast.stmt, ...]) -> Callable[[], tuple[c.Stmt, ...]]:
        return lambda: self._statements(body)

    def _statements(self, body: Iterable[ast.stmt]) -> tuple[c.Stmt, ...]:
        return tuple(one for node in body for one in self._statement(node))

    def _statement(self, node: ast.stmt) -> list[c.Stmt]:  # noqa: C901 one case a form
        span = self._span(node)
        match node:
            case ast.Assign(targets=targets, value=value):
                return [c.Assign(self._expr(target), "", self._expr(value), span) for target in targets]
            case ast.AnnAssign(target=target, value=value) if value is not None:
                return [c.Assign(self._expr(target), "", self._expr(value), span)]
            case ast.AugAssign(target=target, op=op, value=value):
                sign = _OPERATORS.get(type(op))
                if sign is None:
                    return [c.Evaluate(self._opaque(node), span)]
                return [c.Assign(self._expr(target), sign, self._expr(value), span)]
            case ast.Expr(value=value):
                return [c.Evaluate(self._expr(value), span)]
            case ast.If(test=test, body=body, orelse=other):
                return [c.If(self._expr(test), self._statements(body), self._statements(other), span)]
            case ast.While(test=test, body=body):
                return [c.Loop((), self._expr(test), self._statements(body), (), span)]
            case ast.For(target=target, body=body):
                head = c.Assign(self._expr(target), "", c.Opaque(frozenset(), span), span)
                return [c.Loop((), None, (head, *self._statements(body)), (), span)]
            case ast.Return(value=value):
                return [c.Return(None if value is None else self._expr(value), span)]
            case ast.Raise():
                return [c.Leave(span)]
            case ast.Break() | ast.Continue():
                return [c.Jump(isinstance(node, ast.Break), span)]
            case ast.Assert(test=test):
                return [c.Require(self._expr(test), span)]
            case ast.With(items=items, body=body):
                entered: list[c.Stmt] = [c.Evaluate(self._expr(item.context_expr), span) for item in items]
                return [*entered, *self._statements(body)]
            case ast.Try(body=body, handlers=handlers, finalbody=last):
                return self._try(body, handlers, last, span)
            case ast.FunctionDef(name=name) if name in self._kernels:
                return []
            case ast.FunctionDef():
                return [c.Define(node.name, self._function(node, skip_self=False), span)]
            case (
                ast.Import() | ast.ImportFrom() | ast.Pass() | ast.Global() | ast.Nonlocal() | ast.ClassDef()
            ):
                return []
        return [c.Evaluate(self._opaque(node), span)]

    def _try(
        self, body: list[ast.stmt], handlers: list[ast.ExceptHandler], last: list[ast.stmt], span: Span
    ) -> list[c.Stmt]:
        inner = self._statements(body)
        caught: tuple[c.Stmt, ...] = ()
        for handler in handlers:
            caught = (c.If(None, self._statements(handler.body), caught, span),)
        forgotten = c.Evaluate(c.Opaque(frozenset(changed(inner, False)), span), span)
        return [c.If(None, inner, (forgotten, *caught), span), *self._statements(last)]

    def _opaque(self, node: ast.AST) -> c.Opaque:
        names = frozenset(one.id for one in ast.walk(node) if isinstance(one, ast.Name))
        return c.Opaque(names, self._span(node))

    def _expr(self, node: ast.expr) -> c.Expr:  # noqa: C901 one case a form
        span = self._span(node)
        match node:
            case ast.Constant(value=None):
                return c.Null(span)
            case ast.Constant(value=bool() | int() as value):
                return c.Number(int(value), None, span)
            case ast.Constant(value=str() as value):
                return c.Text(value, span)
            case ast.Constant(value=bytes() as data):
                return c.Text(data.decode("utf-8", errors="replace"), span)
            case ast.Name(id=name):
                return c.Name(name, span)
            case ast.Attribute(value=owner, attr=name):
                return c.Member(self._expr(owner), name, span)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return c.Binary(_OPERATORS[type(op)], self._expr(left), self._expr(right), span)
            case ast.UnaryOp(op=op, operand=operand):
                return c.Unary(_UNARY[type(op)], self._expr(operand), span)
            case ast.BoolOp(op=op, values=values):
                return self._logic("&&" if isinstance(op, ast.And) else "||", values, span)
            case ast.Compare(left=left, ops=ops, comparators=rest) if all(
                type(op) in _COMPARISONS for op in ops
            ):
                sides = [left, *rest]
                links: list[c.Expr] = [
                    c.Binary(_COMPARISONS[type(op)], self._expr(a), self._expr(b), span)
                    for op, a, b in zip(ops, sides, rest, strict=False)
                ]
                return _chained("&&", links, span)
            case ast.IfExp(test=test, body=body, orelse=other):
                return c.Choice(self._expr(test), self._expr(body), self._expr(other), span)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                if any(isinstance(item, ast.Starred) for item in items):
                    return c.Opaque(frozenset(), span)
                return c.Sequence(tuple(self._expr(item) for item in items), span)
            case ast.Subscript(value=owner, slice=index) if not isinstance(index, (ast.Slice, ast.Tuple)):
                return c.Item(self._expr(owner), self._expr(index), span)
            case ast.ListComp(elt=element, generators=[generator]):
                return self._comprehension(element, generator, span)
            case ast.Call():
                return self._call(node, span)
        return c.Opaque(frozenset(), span)

    def _logic(self, op: str, values: list[ast.expr], span: Span) -> c.Expr:
        return _chained(op, [self._expr(value) for value in values], span)

    def _comprehension(self, element: ast.expr, generator: ast.comprehension, span: Span) -> c.Expr:
        """Return `[f(x) for x in (a, b)]` with each element written out."""
        items = generator.iter.elts if isinstance(generator.iter, (ast.Tuple, ast.List)) else None
        if items is None or generator.ifs or not isinstance(generator.target, ast.Name):
            return c.Opaque(frozenset(), span)
        name = generator.target.id
        if any(isinstance(item, ast.Starred) for item in items):
            return c.Opaque(frozenset(), span)
        written = [
            _Replace(name, item).visit(ast.parse(ast.unparse(element), mode="eval").body) for item in items
        ]
        return c.Sequence(tuple(self._located(one, span) for one in written), span)

    def _located(self, node: ast.expr, span: Span) -> c.Expr:
        """Return a rewritten expression, all of it at the place that it was rewritten from."""
        line = next(i for i in range(len(self._starts) - 1, -1, -1) if self._starts[i] <= span.start)
        for one in ast.walk(node):
            if isinstance(one, ast.expr):
                one.lineno, one.col_offset = line + 1, span.start - self._starts[line]
                one.end_lineno, one.end_col_offset = line + 1, span.start - self._starts[line] + 1
        return self._expr(node)

    def _call(self, node: ast.Call, span: Span) -> c.Expr:
        unordered = c.Opaque(frozenset((c.UNORDERED,)), span)
        if any(isinstance(one, ast.Starred) for one in node.args):
            arguments: tuple[c.Expr, ...] = (unordered,)
        else:
            named_ones = (
                unordered
                if one.arg is None
                else c.Keyword(one.arg, self._expr(one.value), self._span(one.value))
                for one in node.keywords
            )
            arguments = (*(self._expr(one) for one in node.args), *named_ones)
        match node.func:
            case ast.Subscript(value=kernel, slice=ast.Tuple(elts=shapes)) if self._has_numba:
                launch = tuple(self._expr(shape) for shape in shapes)
                return c.Call(self._expr(kernel), (), arguments, span, launch)
        callee = self._expr(node.func)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in _CASTS and len(arguments) == 1:
            return c.Cast(named(name), arguments[0], span)
        return c.Call(callee, (), arguments, span)


def _called(node: ast.expr) -> str:
    """Return the last name of what an expression calls."""
    function = node.func if isinstance(node, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


class _Replace(ast.NodeTransformer):
    def __init__(self, name: str, value: ast.expr) -> None:
        self._name = name
        self._value = value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return the element in the place of its name."""
        if node.id != self._name:
            return node
        return ast.parse(ast.unparse(self._value), mode="eval").body


def _chained(op: str, parts: list[c.Expr], span: Span) -> c.Expr:
    whole = parts[0]
    for part in parts[1:]:
        whole = c.Binary(op, whole, part, span)
    return whole
