"""Statements of C++; of the branches of the preprocessor each may be the one that is compiled."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace

from ptxcheck.hostcode import code as c
from ptxcheck.hostcode.changes import changed
from ptxcheck.hostcode.cpp_expressions import ExpressionReader
from ptxcheck.hostcode.cpp_nodes import Node, ids_of
from ptxcheck.hostcode.types import (
    INT,
    UNKNOWN,
    Type,
    named,
)
from ptxcheck.source import Span

_ASSERTION = re.compile(
    r"(?i)[a-z_:]*(?:check|assert|require|enforce|expects|ensure)[a-z_]*?(_eq|_ne|_lt|_le|_gt|_ge)?$"
)
_COMPARED = {"_eq": "==", "_ne": "!=", "_lt": "<", "_le": "<=", "_gt": ">", "_ge": ">="}
_DEVICE_VECTORS = frozenset(("device_vector", "DeviceAllocation"))
"""Owners of device memory: a variable of one is taken for the pointer to its elements."""


class StatementReader(ExpressionReader):
    """Reads the bodies of functions."""

    @abstractmethod
    def _declarator(self, node: Node | None) -> tuple[str, str, tuple[c.Expr | None, ...]]:
        """Return the name that a declarator declares, its form, and the extents of arrays."""

    @abstractmethod
    def _alias(self, node: Node) -> Iterator[c.Declare]:
        """Yield what a name for a type declares."""

    def _statements(self, node: Node) -> tuple[c.Stmt, ...]:
        found: list[c.Stmt] = []
        for child in node.named_children:
            found.extend(self._statement(child))
        return tuple(found)

    def _body(self, node: Node | None) -> tuple[c.Stmt, ...]:
        """Return the statements of a branch: of a block, or the one statement."""
        if node is None:
            return ()
        return self._statements(node) if node.type == "compound_statement" else tuple(self._statement(node))

    def _statement(self, node: Node) -> list[c.Stmt]:  # noqa: C901 one case a form
        span = self._span(node)
        match node.type:
            case "declaration":
                return list(self._declarations(node))
            case "expression_statement":
                return [one for child in node.named_children for one in self._effect(child)]
            case "compound_statement":
                return [c.Block(self._statements(node), span)]
            case "if_statement":
                return [self._if(node)]
            case "for_statement" | "while_statement" | "do_statement" | "for_range_loop":
                return [self._loop(node)]
            case "switch_statement":
                return [self._switch(node)]
            case "return_statement" | "co_return_statement":
                value = next(iter(node.named_children), None)
                return [c.Return(None if value is None else self._expr(value), span)]
            case "throw_statement" | "goto_statement":
                return [c.Leave(span)]
            case "break_statement" | "continue_statement":
                return [c.Jump(node.type == "break_statement", span)]
            case "try_statement":
                return [self._try(node)]
            case "static_assert_declaration":
                test = node.child_by_field_name("condition")
                return [] if test is None else [c.Require(self._expr(test), span)]
            case "preproc_if" | "preproc_ifdef" | "preproc_elif" | "preproc_else":
                return [self._preprocessor(node)]
            case "alias_declaration" | "type_definition":
                return list(self._alias(node))
            case (
                "comment"
                | "using_declaration"
                | "preproc_def"
                | "preproc_call"
                | "empty_statement"
                | "preproc_include"
            ):
                return []
            case "labeled_statement":
                return [c.Evaluate(self._opaque(node), span), *self._statements(node)]
            case "case_statement":
                return list(self._statements(node))
        if node.type.endswith("_expression"):
            return self._effect(node)
        return [c.Evaluate(self._opaque(node), span)]

    def _effect(self, node: Node) -> list[c.Stmt]:
        """Return an expression that stands as a statement."""
        span = self._span(node)
        plain = node
        while plain.type == "parenthesized_expression" and plain.named_children:
            plain = plain.named_children[0]
        if plain.type == "assignment_expression":
            return self._assignments(plain, span)
        if plain.type == "update_expression":
            argument = plain.child_by_field_name("argument")
            sign = "-" if "--" in self._text(plain) else "+"
            if argument is not None:
                return [c.Assign(self._expr(argument), sign, c.Number(1, INT, span), span)]
        if plain.type == "comma_expression":
            return [one for child in plain.named_children for one in self._effect(child)]
        required = self._required(plain)
        return [
            c.Evaluate(self._expr(plain), span),
            *([] if required is None else [c.Require(required, span)]),
        ]

    def _assignments(self, node: Node, span: Span) -> list[c.Stmt]:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return [c.Evaluate(self._opaque(node), span)]
        before: list[c.Stmt] = []
        value = self._expr(right)
        if right.type == "assignment_expression":
            before = self._assignments(right, span)
            inner = right.child_by_field_name("left")
            value = value if inner is None else self._expr(inner)
        operator = self._text(node.child_by_field_name("operator")).rstrip("=")
        target = self._expr(left)
        return [*before, c.Assign(target, operator, value, span)]

    def _required(self, node: Node) -> c.Expr | None:
        """Return what an assertion requires: `CHECK(a > 0)`, `CHECK_EQ(a, b) << …`."""
        while node.type == "binary_expression" and self._text(node.child_by_field_name("operator")) == "<<":
            left = node.child_by_field_name("left")
            if left is None:
                return None
            node = left
        if node.type != "call_expression":
            return None
        match = _ASSERTION.fullmatch(self._text(node.child_by_field_name("function")))
        arguments = self._arguments(node.child_by_field_name("arguments"))
        if match is None or not arguments:
            return None
        relation = _COMPARED.get((match[1] or "").lower())
        if relation is not None and len(arguments) >= 2:
            return c.Binary(relation, arguments[0], arguments[1], self._span(node))
        first = arguments[0]
        is_condition = isinstance(first, c.Unary) or (
            isinstance(first, c.Binary) and first.op in ("==", "!=", "<", "<=", ">", ">=", "&&", "||")
        )
        return first if is_condition and relation is None else None

    def _if(self, node: Node) -> c.Stmt:
        condition = node.child_by_field_name("condition")
        first: list[c.Stmt] = []
        test: c.Expr = c.Opaque(frozenset(), self._span(node))
        if condition is not None:
            parts = [child for child in condition.named_children if child.type != "comment"]
            for part in parts[:-1]:
                first += self._statement(part.named_children[0] if part.type == "init_statement" else part)
            if parts and parts[-1].type == "declaration":
                first += self._statement(parts[-1])
            elif parts:
                test = self._expr(parts[-1])
        alternative = node.child_by_field_name("alternative")
        other: tuple[c.Stmt, ...] = ()
        if alternative is not None:
            inner = [one for one in alternative.named_children if one.type != "comment"]
            other = self._body(inner[0]) if inner else ()
        branch = c.If(test, self._body(node.child_by_field_name("consequence")), other, self._span(node))
        return c.Block((*first, branch), branch.span) if first else branch

    def _loop(self, node: Node) -> c.Stmt:
        span = self._span(node)
        body = self._body(node.child_by_field_name("body"))
        if node.type == "for_range_loop":
            name, _, _ = self._declarator(node.child_by_field_name("declarator"))
            declare = c.Declare(name, UNKNOWN, (), c.Opaque(frozenset(), span), span)
            return c.Loop((), None, (declare, *body), (), span)
        if node.type == "do_statement":
            return c.Loop((), None, body, (), span)
        first: list[c.Stmt] = []
        initializer = node.child_by_field_name("initializer")
        if initializer is not None:
            first = (
                self._statement(initializer)
                if initializer.type == "declaration"
                else self._effect(initializer)
            )
        condition, update = node.child_by_field_name("condition"), node.child_by_field_name("update")
        if condition is not None and condition.type == "condition_clause":
            value = condition.child_by_field_name("value")
            condition = value if value is not None else None
        test = None if condition is None or condition.type == "declaration" else self._expr(condition)
        step = [] if update is None else self._effect(update)
        return c.Loop(tuple(first), test, body, tuple(step), span)

    def _switch(self, node: Node) -> c.Stmt:
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        cases: list[tuple[c.Expr | None, tuple[c.Stmt, ...]]] = []
        for child in body.named_children if body is not None else ():
            if child.type != "case_statement":
                continue
            label = child.child_by_field_name("value")
            rest = [one for one in child.named_children if label is None or one.id != label.id]
            statements = tuple(one for part in rest for one in self._statement(part))
            cases.append((None if label is None else self._expr(label), statements))
        subject = condition.child_by_field_name("value") if condition is not None else None
        return c.Switch(
            self._opaque(node) if subject is None else self._expr(subject), tuple(cases), self._span(node)
        )

    def _try(self, node: Node) -> c.Stmt:
        span = self._span(node)
        body = self._body(node.child_by_field_name("body"))
        handlers: tuple[c.Stmt, ...] = ()
        for child in node.named_children:
            if child.type == "catch_clause":
                handlers = (c.If(None, self._body(child.child_by_field_name("body")), handlers, span),)
        forgotten = c.Evaluate(c.Opaque(frozenset(changed(body, True)), span), span)
        return c.If(None, body, (forgotten, *handlers), span)

    def _preprocessor(self, node: Node) -> c.Stmt:
        fields = {
            id_
            for name in ("condition", "name", "alternative")
            for id_ in ids_of(node.child_by_field_name(name))
        }
        body = [
            one for child in node.named_children if child.id not in fields for one in self._statement(child)
        ]
        alternative = node.child_by_field_name("alternative")
        if node.type == "preproc_else":
            return c.If(None, tuple(body), tuple(body), self._span(node), is_preprocessed=True)
        other = () if alternative is None else self._alternative(alternative)
        return c.If(None, tuple(body), other, self._span(node), is_preprocessed=True)

    def _alternative(self, node: Node) -> tuple[c.Stmt, ...]:
        if node.type == "preproc_else":
            return tuple(one for child in node.named_children for one in self._statement(child))
        return (self._preprocessor(node),)

    def _declarations(self, node: Node) -> Iterator[c.Declare]:
        declarators = node.children_by_field_name("declarator")
        if not declarators:
            return
        head = self._data[node.start_byte : declarators[0].start_byte].decode("utf-8", "replace")
        default = node.child_by_field_name("default_value")
        for declarator in declarators:
            target = declarator
            value = default
            if declarator.type == "init_declarator":
                inner = declarator.child_by_field_name("declarator")
                value = declarator.child_by_field_name("value")
                if inner is None:
                    continue
                target = inner
            yield from self._declared(target, head, value, self._span(declarator))

    def _declared(self, target: Node, head: str, value: Node | None, span: Span) -> Iterator[c.Declare]:
        if target.type == "structured_binding_declarator":
            for child in target.named_children:
                yield c.Declare(self._text(child), UNKNOWN, (), c.Opaque(frozenset(), span), span)
            return
        name, marks, lengths = self._declarator(target)
        is_function = not name and target.type == "function_declarator"
        if is_function:
            inner = target.child_by_field_name("declarator")
            name = self._text(inner) if inner is not None and inner.type == "identifier" else ""
        if not name:
            return
        type_ = named(head + marks, self._aliases)
        if type_.name in _DEVICE_VECTORS and len(type_.arguments) == 1 and not type_.is_pointer:
            element = replace(named(type_.arguments[0], self._aliases), is_pointer=True)
            yield c.Declare(name, element, (), c.Opaque(frozenset(), span), span)
            return
        if is_function:
            yield c.Declare(name, Type(type_.name), (), c.Opaque(frozenset(), span), span)
            return
        if value is None:
            yield c.Declare(name, type_, lengths, None, span, is_list=True)
            return
        if value.type == "argument_list":
            items = self._arguments(value)
            single = len(items) == 1 and not type_.is_container
            whole: c.Expr = items[0] if single else c.Sequence(tuple(items), self._span(value))
            yield c.Declare(name, type_, lengths, whole, span)
            return
        expr = self._expr(value)
        yield c.Declare(name, type_, lengths, expr, span, is_list=isinstance(expr, c.Sequence))
