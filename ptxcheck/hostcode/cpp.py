"""C++ and CUDA sources to the form of `code.py`, by tree-sitter's CUDA grammar, which is C++ and more.

Bodies of functions are translated when they are first asked for. What cannot be parsed, and what has no form,
becomes opaque with all the names in it. Of the branches of the preprocessor each may be the one that is
compiled.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias

import tree_sitter
import tree_sitter_cuda

from ptxcheck.hostcode import code as c
from ptxcheck.hostcode.changes import changed
from ptxcheck.hostcode.includes import Includes
from ptxcheck.hostcode.names import MAKERS, UNDERSCORE
from ptxcheck.hostcode.types import INT, STATIC, UNKNOWN, UNSIGNED, UNSIGNED_LONG, Type, named
from ptxcheck.source import Span

Node: TypeAlias = tree_sitter.Node

_NUMBER = re.compile(r"([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uUlLzZ]*)$")
_ASSERTION = re.compile(
    r"(?i)[a-z_:]*(?:check|assert|require|enforce|expects|ensure)[a-z_]*?(_eq|_ne|_lt|_le|_gt|_ge)?$"
)
_COMPARED = {"_eq": "==", "_ne": "!=", "_lt": "<", "_le": "<=", "_gt": ">", "_ge": ">="}
_CASTS = frozenset(
    ("static_cast", "reinterpret_cast", "const_cast", "dynamic_cast", "bit_cast", "narrow_cast")
)
_TYPE_NODES = (
    "primitive_type",
    "sized_type_specifier",
    "type_identifier",
    "type_descriptor",
    "template_type",
)
_DEVICE_VECTORS = frozenset(("device_vector", "DeviceAllocation"))
"""Owners of device memory: a variable of one is taken for the pointer to its elements."""
_STATIC = re.compile(r"_(\d+)$")
DEEPEST = 200


@lru_cache(maxsize=1)
def _language() -> tree_sitter.Language:
    return tree_sitter.Language(tree_sitter_cuda.language())


def program(text: str, includes: Includes | None = None) -> c.Program:
    """Return the functions, constants and type names of a C++ or CUDA source. Never raises for bad text."""
    data = text.encode("utf-8", errors="replace")
    tree = tree_sitter.Parser(_language()).parse(data)
    return _Reader(data, text, includes).program(tree.root_node)


class _Reader:
    """Reads one file; offsets of tree-sitter are bytes, those of spans are characters."""

    def __init__(self, data: bytes, text: str, includes: Includes | None = None) -> None:
        self._includes = includes
        self._path: str | None = None
        self._at: Span | None = None
        """The `#include` of the source through which this file is read."""
        self._depth = 0
        self._data = data
        self._is_plain = len(data) == len(text)
        self._starts: list[int] = [] if self._is_plain else _character_starts(text)
        self._aliases: dict[str, Type] = {}
        self._constants: dict[str, tuple[Type, c.Expr | None, c.Declare | None]] = {}
        self._functions: list[c.Function] = []
        self._hidden: set[str] = set()
        """Template parameters of classes: within these a constant of the same name is another."""

    def _include(self, node: Node) -> None:
        """Read what a file beside the source defines, as if all of it stood at the `#include`."""
        path = node.child_by_field_name("path")
        if self._includes is None or path is None or path.type != "string_literal":
            return
        found = self._includes.open(self._text(path).strip('"'), self._path, self._depth + 1)
        if found is None:
            return
        data = found[1].encode("utf-8", errors="replace")
        inner = _Reader(data, found[1], self._includes)
        inner._path, inner._at, inner._depth = found[0], self._span(node), self._depth + 1
        inner._aliases, inner._constants = self._aliases, self._constants
        inner._functions, inner._hidden = self._functions, self._hidden
        inner._top(tree_sitter.Parser(_language()).parse(data).root_node, DEEPEST)

    def program(self, root: Node) -> c.Program:
        self._top(root, DEEPEST)
        for name in self._hidden:
            for hidden in (name, name + "{}"):
                if hidden in self._constants:
                    self._constants[hidden] = (self._constants[hidden][0], None, None)
        return c.Program(tuple(self._functions), self._constants, self._aliases, True)

    # ------------------------------------------------------------------------------------------ places and text

    def _offset(self, byte: int) -> int:
        return byte if self._is_plain else bisect_right(self._starts, byte) - 1

    def _span(self, node: Node) -> Span:
        return self._at or Span(self._offset(node.start_byte), self._offset(node.end_byte))

    def _text(self, node: Node | None) -> str:
        if node is None:
            return ""
        return self._data[node.start_byte : node.end_byte].decode("utf-8", errors="replace")

    def _names(self, node: Node) -> frozenset[str]:
        """Return all names in a node."""
        return frozenset(self._text(one) for one in _all(node) if one.type == "identifier")

    def _opaque(self, node: Node) -> c.Opaque:
        return c.Opaque(self._names(node), self._span(node))

    # ------------------------------------------------------------------------------------------ top level

    def _top(self, node: Node, depth: int) -> None:  # noqa: C901 one case a form
        if depth == 0:
            return
        for child in node.named_children:
            match child.type:
                case "function_definition":
                    self._function(child, ())
                case "template_declaration":
                    self._template(child, depth)
                case "declaration" | "field_declaration":
                    self._constant(child)
                case "enum_specifier":
                    self._enumeration(child)
                case "preproc_def":
                    self._macro(child)
                case "preproc_include":
                    self._include(child)
                case "alias_declaration" | "type_definition":
                    for alias in self._alias(child):
                        self._define(alias.name, UNKNOWN, alias.value, None)
                case "class_specifier" | "struct_specifier" | "union_specifier":
                    body = child.child_by_field_name("body")
                    if body is not None:
                        self._top(body, depth - 1)
                case (
                    "namespace_definition"
                    | "linkage_specification"
                    | "declaration_list"
                    | "preproc_if"
                    | "preproc_ifdef"
                    | "preproc_else"
                    | "preproc_elif"
                    | "ERROR"
                ):
                    self._top(child, depth - 1)
                case _:
                    pass

    def _template(self, node: Node, depth: int) -> None:
        parameters = tuple(self._template_parameters(node.child_by_field_name("parameters")))
        if any(child.type in ("class_specifier", "struct_specifier") for child in node.named_children):
            self._hidden.update(name for name, _ in parameters)
        for child in node.named_children:
            if child.type == "function_definition":
                self._function(child, parameters)
            elif child.type in ("class_specifier", "struct_specifier"):
                body = child.child_by_field_name("body")
                if body is not None:
                    self._top(body, depth - 1)
            elif child.type == "template_declaration":
                self._template(child, depth - 1)

    def _template_parameters(self, node: Node | None) -> Iterator[tuple[str, bool]]:
        for child in node.named_children if node is not None else ():
            is_value = child.type in ("parameter_declaration", "optional_parameter_declaration")
            named_node = child.child_by_field_name("declarator") if is_value else None
            if named_node is None:
                named_node = child.child_by_field_name("name")
            if named_node is None:
                identifiers = [
                    one for one in child.named_children if one.type in ("type_identifier", "identifier")
                ]
                named_node = identifiers[-1] if identifiers else None
            yield (self._text(named_node), is_value)

    def _function(self, node: Node, type_parameters: tuple[tuple[str, bool], ...]) -> None:
        body, declarator = node.child_by_field_name("body"), node.child_by_field_name("declarator")
        while declarator is not None and declarator.type in ("pointer_declarator", "reference_declarator"):
            inner = declarator.child_by_field_name("declarator")
            declarator = inner if inner is not None else next(iter(declarator.named_children), None)
        if body is None or body.type != "compound_statement" or declarator is None:
            return
        if declarator.type != "function_declarator":
            return
        name_node = declarator.child_by_field_name("declarator")
        name = self._text(name_node).rsplit("::", 1)[-1].split("<")[0].strip()
        result = named(
            self._data[node.start_byte : declarator.start_byte].decode("utf-8", "replace"), self._aliases
        )
        parameters = declarator.child_by_field_name("parameters")
        self._functions.append(
            c.Function(
                name,
                self._parameters(parameters),
                type_parameters,
                result,
                self._text(body),
                self._span(name_node if name_node is not None else node),
                self._translation(body, [name for name, _ in type_parameters]),
                self._at is not None,
            )
        )

    def _translation(self, body: Node, hidden: Sequence[str]) -> Callable[[], tuple[c.Stmt, ...]]:
        """Return what translates a body; names of types in it, and template parameters, are its own."""

        def translate() -> tuple[c.Stmt, ...]:
            outer = self._aliases
            self._aliases = {name: type_ for name, type_ in outer.items() if name not in hidden}
            try:
                return self._statements(body)
            finally:
                self._aliases = outer

        return translate

    def _parameters(self, node: Node | None) -> tuple[c.Parameter, ...]:
        found = []
        for child in node.named_children if node is not None else ():
            if child.type not in ("parameter_declaration", "optional_parameter_declaration"):
                continue
            declarator = child.child_by_field_name("declarator")
            end = declarator.start_byte if declarator is not None else child.end_byte
            text = self._data[child.start_byte : end].decode("utf-8", "replace")
            name, marks, lengths = self._declarator(declarator)
            type_ = named(text + marks, self._aliases)
            default = child.child_by_field_name("default_value")
            changes = (type_.is_reference or type_.is_pointer or bool(lengths)) and not type_.is_const
            value = None if default is None else self._expr(default)
            found.append(c.Parameter(name, type_, value, changes, bool(lengths) or type_.is_pointer))
        return tuple(found)

    def _declarator(self, node: Node | None) -> tuple[str, str, tuple[c.Expr | None, ...]]:
        """Return a declared name, its `*` and `&`, and the lengths of an array."""
        marks, lengths = "", []
        while node is not None:
            if node.type in ("pointer_declarator", "abstract_pointer_declarator"):
                marks += "*"
            elif node.type in ("reference_declarator", "abstract_reference_declarator"):
                marks += "&"
            elif node.type == "array_declarator":
                size = node.child_by_field_name("size")
                lengths.append(None if size is None else self._expr(size))
            elif node.type in ("identifier", "field_identifier"):
                return self._text(node), marks, tuple(lengths)
            elif node.type not in ("parenthesized_declarator", "attributed_declarator"):
                break
            inner = node.child_by_field_name("declarator")
            if inner is None:
                kinds = ("identifier", "field_identifier")
                inner = next(
                    (one for one in node.named_children if one.type in kinds or "declarator" in one.type),
                    None,
                )
            node = inner
        return "", marks, tuple(lengths)

    def _constant(self, node: Node) -> None:
        """Note a constant of a namespace or class; a name that is defined twice has no value."""
        for one in self._declarations(node):
            if one.type.is_constant or one.type.is_const or one.lengths:
                is_fixed = one.type.is_constant or one.type.is_const
                self._define(one.name, one.type, None, one if is_fixed and one.value is not None else None)

    def _define(self, name: str, type_: Type, value: c.Expr | None, declare: c.Declare | None) -> None:
        if name in self._constants:
            self._constants[name] = (type_, None, None)
        else:
            self._constants[name] = (type_, value, declare)

    def _enumeration(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        name = self._text(node.child_by_field_name("name"))
        if name:
            self._aliases[name] = INT
        previous: c.Expr | None = None
        for child in body.named_children if body is not None else ():
            if child.type != "enumerator":
                continue
            span = self._span(child)
            written = child.child_by_field_name("value")
            if written is not None:
                value: c.Expr = self._expr(written)
            elif previous is None:
                value = c.Number(0, INT, span)
            else:
                value = c.Binary("+", previous, c.Number(1, INT, span), span)
            previous = value
            self._define(self._text(child.child_by_field_name("name")), INT, value, None)

    def _macro(self, node: Node) -> None:
        """Note a macro that is an expression; one that a build may set otherwise has no value."""
        name = self._text(node.child_by_field_name("name"))
        body = self._text(node.child_by_field_name("value"))
        parent = node.parent
        guarded = False
        while parent is not None and parent.type in (
            "preproc_ifdef",
            "preproc_if",
            "preproc_else",
            "preproc_elif",
        ):
            guarded = guarded or name in self._text(parent).split("\n", 1)[0]
            parent = parent.parent
        body = re.sub(r"/\*.*?\*/|//.*", "", body, flags=re.DOTALL).replace("\\\n", " ").strip()
        if not body:
            return
        value = None if guarded else _parsed(body)
        if value is not None:
            value = _moved(value, self._span(node))
        self._define(name, UNKNOWN, value, None)

    def _alias(self, node: Node) -> Iterator[c.Declare]:
        """Note a name for a type; yield the name under which `X{}` of `using X = …` is known, and what it is."""
        named_node, type_node = node.child_by_field_name("name"), node.child_by_field_name("type")
        self._note_alias(node)
        if node.type == "alias_declaration" and named_node is not None and type_node is not None:
            value = self._type_value(type_node)
            yield c.Declare(self._text(named_node) + "{}", UNKNOWN, (), value, self._span(node))

    def _note_alias(self, node: Node) -> None:
        name = self._text(node.child_by_field_name("name")) or self._text(
            node.child_by_field_name("declarator")
        )
        written = self._text(node.child_by_field_name("type"))
        type_ = named(written, self._aliases)
        if name in self._aliases and self._aliases[name] != type_:
            type_ = Type(name)
        self._aliases[name] = type_

    # ------------------------------------------------------------------------------------------ statements

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
            for id_ in _ids(node.child_by_field_name(name))
        }
        body = [
            one for child in node.named_children if child.id not in fields for one in self._statement(child)
        ]
        alternative = node.child_by_field_name("alternative")
        if node.type == "preproc_else":
            return c.If(None, tuple(body), tuple(body), self._span(node))
        other = () if alternative is None else self._alternative(alternative)
        return c.If(None, tuple(body), other, self._span(node))

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

    # ------------------------------------------------------------------------------------------ expressions

    def _arguments(self, node: Node | None) -> list[c.Expr]:
        return (
            [self._expr(child) for child in node.named_children if child.type != "comment"]
            if node is not None
            else []
        )

    def _expr(self, node: Node) -> c.Expr:  # noqa: C901 one case a form
        span = self._span(node)
        if node.has_error and node.type == "ERROR":
            return self._opaque(node)
        match node.type:
            case "number_literal":
                return _number(self._text(node), span)
            case "true" | "false":
                return c.Number(int(node.type == "true"), INT, span)
            case "null" | "nullptr":
                return c.Null(span)
            case "string_literal" | "concatenated_string" | "raw_string_literal":
                return c.Text(self._text(node).strip('"'), span)
            case "identifier" | "field_identifier" | "type_identifier" | "primitive_type":
                return self._identifier(node, span)
            case "qualified_identifier" | "template_function" | "dependent_name" | "template_method":
                return self._qualified(node, span)
            case "parenthesized_expression" | "condition_clause":
                inner = [one for one in node.named_children if one.type != "comment"]
                return self._expr(inner[0]) if len(inner) == 1 else self._opaque(node)
            case "unary_expression":
                operand = node.child_by_field_name("argument")
                operator = self._text(node.child_by_field_name("operator"))
                if operand is None or operator not in ("-", "+", "!", "~", "not"):
                    return self._opaque(node)
                return c.Unary("!" if operator == "not" else operator, self._expr(operand), span)
            case "binary_expression":
                return self._binary(node, span)
            case "conditional_expression":
                parts = [
                    node.child_by_field_name(name) for name in ("condition", "consequence", "alternative")
                ]
                test, body, other = (None if part is None else self._expr(part) for part in parts)
                if test is None or body is None or other is None:
                    return self._opaque(node)
                return c.Choice(test, body, other, span)
            case "cast_expression":
                type_, value = node.child_by_field_name("type"), node.child_by_field_name("value")
                if type_ is None or value is None:
                    return self._opaque(node)
                return c.Cast(named(self._text(type_), self._aliases), self._expr(value), span)
            case "sizeof_expression":
                return self._size_of(node, span)
            case "field_expression":
                owner, field = node.child_by_field_name("argument"), node.child_by_field_name("field")
                if owner is None or field is None:
                    return self._opaque(node)
                return c.Member(self._expr(owner), self._text(field).split("<")[0], span)
            case "this":
                return c.Name("this", span)
            case "subscript_expression":
                return self._subscript(node, span)
            case "initializer_list":
                return self._initializer(node, span)
            case "compound_literal_expression":
                return self._literal(node, span)
            case "pointer_expression":
                operand = node.child_by_field_name("argument")
                if operand is None or not self._text(node).startswith("&"):
                    return self._opaque(node)
                return c.AddressOf(self._expr(operand), span)
            case "lambda_expression":
                return self._lambda(node, span)
            case "call_expression":
                return self._call(node, span)
            case _:
                return self._opaque(node)

    def _identifier(self, node: Node, span: Span) -> c.Expr:
        text = self._text(node)
        return c.Null(span) if text == "NULL" else c.Name(text, span)

    def _qualified(self, node: Node, span: Span) -> c.Expr:
        name = self._text(node)
        plain = (
            name.split("<", 1)[0]
            if node.type == "template_function"
            else name.rsplit("::", 1)[-1].split("<")[0]
        )
        return c.Name(plain.rsplit("::", 1)[-1].strip(), span)

    def _binary(self, node: Node, span: Span) -> c.Expr:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = self._text(node.child_by_field_name("operator"))
        operator = {"and": "&&", "or": "||"}.get(operator, operator)
        if left is None or right is None or operator in ("<=>", ",", "xor", "bitand", "bitor", "not_eq"):
            return self._opaque(node)
        return c.Binary(operator, self._expr(left), self._expr(right), span)

    def _size_of(self, node: Node, span: Span) -> c.Expr:
        type_, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        if type_ is not None:
            return c.SizeOf(named(self._text(type_), self._aliases), None, span)
        text = self._text(value).strip("() \n")
        if re.fullmatch(r"[\w:]+", text):
            return c.SizeOf(named(text, self._aliases), None, span)
        return c.SizeOf(None, None, span)

    def _subscript(self, node: Node, span: Span) -> c.Expr:
        owner, indices = node.child_by_field_name("argument"), node.child_by_field_name("indices")
        index = indices.named_children if indices is not None else []
        if owner is None or len(index) != 1:
            return self._opaque(node)
        return c.Item(self._expr(owner), self._expr(index[0]), span)

    def _initializer(self, node: Node, span: Span) -> c.Expr:
        children = [child for child in node.named_children if child.type != "comment"]
        if any(child.type == "initializer_pair" for child in children):
            return self._opaque(node)
        return c.Sequence(tuple(self._expr(child) for child in children), span)

    def _literal(self, node: Node, span: Span) -> c.Expr:
        """Return `uint64_t{x}`, `std::array<int, 2>{…}`, `_64{}`, `Int<64>{}`."""
        type_node, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        if type_node is None or value is None:
            return self._opaque(node)
        type_ = named(self._text(type_node), self._aliases)
        static = _STATIC.match(type_.name)
        if static is not None:
            return c.Number(int(static[1]), STATIC, span)
        items = self._initializer(value, span)
        if type_.is_integer:
            return c.Cast(type_, items, span)
        if type_.is_container:
            return items
        return self._opaque(node) if value.named_children else self._type_value(type_node)

    def _type_value(self, node: Node) -> c.Expr:
        """Return the value `T{}` of a type of CuTe: `Int<4>`, `Shape<_64, _64>`, `decltype(f())`, a name for one."""
        span = self._span(node)
        if node.type in ("qualified_identifier", "type_descriptor", "dependent_type"):
            inner = node.child_by_field_name("name" if node.type == "qualified_identifier" else "type")
            inner = inner if inner is not None else next(iter(node.named_children), None)
            return self._opaque(node) if inner is None else self._type_value(inner)
        if node.type == "decltype":
            inner = next(iter(node.named_children), None)
            is_plain = inner is not None and not any(name in self._text(node) for name in MAKERS)
            return self._expr(inner) if inner is not None and is_plain else self._opaque(node)
        if node.type == "type_identifier":
            name = self._text(node)
            static = _STATIC.fullmatch(name)
            if static is not None:
                return c.Number(int(static[1]), STATIC, span)
            if name in ("LayoutLeft", "LayoutRight", "GenColMajor", "GenRowMajor", "Underscore"):
                return (
                    c.Name(UNDERSCORE, span)
                    if name == "Underscore"
                    else c.Call(c.Name(name, span), (), (), span)
                )
            return c.Call(c.Name(name + "{}", span), (), (), span)
        listed = node.child_by_field_name("arguments")
        if node.type != "template_type" or listed is None:
            return self._opaque(node)
        name = self._text(node.child_by_field_name("name"))
        children = [child for child in listed.named_children if child.type != "comment"]
        if name in ("Int", "C", "constant"):
            return c.Call(
                c.Name(STATIC.name + "<>", span), (), tuple(map(self._template_value, children[-1:])), span
            )
        if name.startswith("Layout_"):
            return c.Call(c.Name(name, span), self._type_arguments(node), (), span)
        maker = {"Shape": "make_shape", "Stride": "make_stride", "Step": "make_step", "Layout": "make_layout"}
        if name not in maker:
            return self._opaque(node)
        parts = tuple(
            self._type_value(child) if child.type in _TYPE_NODES else self._opaque(child)
            for child in children
        )
        return c.Call(c.Name(maker[name], span), (), parts, span)

    def _template_value(self, node: Node) -> c.Expr:
        """Return a template argument that is a value; a plain name reads like a type."""
        if node.type == "type_descriptor":
            inner = next(iter(node.named_children), None)
            is_name = inner is not None and inner.type in ("type_identifier", "qualified_identifier")
            text = self._text(node).rsplit("::", 1)[-1]
            is_name = is_name and re.fullmatch(r"\w+", text) is not None
            return c.Name(text, self._span(node)) if is_name else self._opaque(node)
        return self._expr(node)

    def _lambda(self, node: Node, span: Span) -> c.Expr:
        body, declarator = node.child_by_field_name("body"), node.child_by_field_name("declarator")
        if body is None:
            return self._opaque(node)
        parameters = declarator.child_by_field_name("parameters") if declarator is not None else None
        function = c.Function(
            "lambda",
            self._parameters(parameters),
            (),
            UNKNOWN,
            self._text(body),
            span,
            lambda: self._statements(body),
        )
        return c.Lambda(function, span)

    def _call(self, node: Node, span: Span) -> c.Expr:
        function, arguments = (
            node.child_by_field_name("function"),
            self._arguments(node.child_by_field_name("arguments")),
        )
        if function is None:
            return self._opaque(node)
        written = self._text(function).strip("() ") if function.type == "parenthesized_expression" else ""
        if written and len(arguments) == 1 and re.fullmatch(r"[\w:]+", written):
            target = named(written, self._aliases)  # `(type)(value)` reads like a call
            if target.is_integer or target.values:
                return c.Cast(target, arguments[0], span)
        template = _template_of(function)
        name = (
            self._text(template.child_by_field_name("name")) if template is not None else self._text(function)
        )
        name = name.rsplit("::", 1)[-1]
        types = self._type_arguments(template)
        if name in _CASTS and len(types) == 1 and isinstance(types[0], Type) and len(arguments) == 1:
            return c.Cast(types[0], arguments[0], span)
        type_ = named(name, self._aliases)
        if (
            type_.is_integer
            and template is None
            and len(arguments) <= 1
            and function.type != "field_expression"
        ):
            return c.Cast(type_, arguments[0] if arguments else c.Number(0, INT, span), span)
        if type_.is_container and template is not None:
            return self._opaque(node)
        return c.Call(self._expr(function), types, tuple(arguments), span)

    def _type_arguments(self, template: Node | None) -> tuple[Type | c.Expr, ...]:
        listed = template.child_by_field_name("arguments") if template is not None else None
        found: list[Type | c.Expr] = []
        for child in listed.named_children if listed is not None else ():
            if child.type == "comment":
                continue
            is_type = child.type in _TYPE_NODES
            found.append(named(self._text(child), self._aliases) if is_type else self._expr(child))
        return tuple(found)


def _template_of(function: Node) -> Node | None:
    """Return the part of a callee that has template arguments."""
    node: Node | None = function
    while node is not None:
        if node.type in ("template_function", "template_method"):
            return node
        if node.type == "qualified_identifier":
            node = node.child_by_field_name("name")
        elif node.type == "field_expression":
            node = node.child_by_field_name("field")
        elif node.type == "dependent_name":
            node = next(iter(node.named_children), None)
        else:
            return None
    return None


def _ids(node: Node | None) -> tuple[int, ...]:
    return () if node is None else (node.id,)


def _all(node: Node) -> Iterator[Node]:
    pending = [node]
    while pending:
        one = pending.pop()
        yield one
        pending.extend(one.children)


def _number(text: str, span: Span) -> c.Expr:
    match = _NUMBER.fullmatch(text.replace("'", ""))
    if match is None:
        return c.Opaque(frozenset(), span)
    digits, suffix = match[2], match[3].lower()
    is_octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
    value = (
        int(digits, 8)
        if is_octal and set(digits) <= set("01234567")
        else int(digits, 0 if not is_octal else 10)
    )
    if "u" in suffix or "z" in suffix:
        type_ = UNSIGNED_LONG if "l" in suffix or "z" in suffix or value >> 32 else UNSIGNED
    else:
        type_ = named("int64_t") if "l" in suffix or value >> 31 else INT
    return c.Number(-value if match[1] == "-" else value, type_, span)


def _parsed(text: str) -> c.Expr | None:
    """Return the body of a macro as an expression, or None where it is none."""
    data = f"auto macro_value = {text};".encode()
    tree = tree_sitter.Parser(_language()).parse(data)
    if tree.root_node.has_error or len(tree.root_node.named_children) != 1:
        return None
    reader = _Reader(data, data.decode("utf-8", errors="replace"))
    declared = list(reader._declarations(tree.root_node.named_children[0]))
    return declared[0].value if len(declared) == 1 else None


def _moved(expr: c.Expr, span: Span) -> c.Expr:
    """Return an expression of a macro at the place of its definition."""
    from dataclasses import fields, replace

    updates: dict[str, object] = {"span": span}
    for field in fields(expr):
        value = getattr(expr, field.name)
        if isinstance(value, c.Expr.__args__):
            updates[field.name] = _moved(value, span)
        elif isinstance(value, tuple) and value and isinstance(value[0], c.Expr.__args__):
            updates[field.name] = tuple(_moved(one, span) for one in value)
    return replace(expr, **updates)  # type: ignore[arg-type]


def _character_starts(text: str) -> list[int]:
    """Return the byte offset of each character, and of the end."""
    starts, at = [], 0
    for character in text:
        starts.append(at)
        at += len(character.encode("utf-8", errors="replace"))
    return [*starts, at]
