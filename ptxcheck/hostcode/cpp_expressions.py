"""Expressions of C++, and the types that they name."""

from __future__ import annotations

import re
from abc import abstractmethod

from ptxcheck.hostcode import code as c
from ptxcheck.hostcode.cpp_nodes import Node, NodeReader
from ptxcheck.hostcode.names import EXTENTS, MAKERS, UNDERSCORE
from ptxcheck.hostcode.types import (
    INT,
    STATIC,
    UNKNOWN,
    UNSIGNED,
    UNSIGNED_LONG,
    Type,
    named,
)
from ptxcheck.source import Span

_NUMBER = re.compile(r"([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uUlLzZ]*)$")
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
_STATIC = re.compile(r"_(\d+)$")


class ExpressionReader(NodeReader):
    """Reads expressions; lambdas have statements in them."""

    @abstractmethod
    def _statements(self, node: Node) -> tuple[c.Stmt, ...]:
        """Return the statements of a body."""

    @abstractmethod
    def _parameters(self, node: Node | None) -> tuple[c.Parameter, ...]:
        """Return the parameters of a function or lambda."""

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
        scopes: list[str] = []
        inner: Node | None = node
        while inner is not None and inner.type == "qualified_identifier":
            scopes.append(self._text(inner.child_by_field_name("scope")).split("<")[0])
            inner = inner.child_by_field_name("name")
        plain = self._text(inner).split("<")[0].rsplit("::", 1)[-1].strip()
        types = self._type_arguments(inner) if inner is not None and inner.type == "template_function" else ()
        return c.Name(plain, span, "::".join(filter(None, scopes)), types)

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
            fields = [self._field(child) for child in children]
            known = tuple(field for field in fields if field is not None)
            return c.Sequence(known, span) if len(known) == len(fields) else self._opaque(node)
        return c.Sequence(tuple(self._expr(child) for child in children), span)

    def _field(self, node: Node) -> c.Expr | None:
        """Return `.name = value` of an initializer."""
        designators, value = node.children_by_field_name("designator"), node.child_by_field_name("value")
        if node.type != "initializer_pair" or value is None or len(designators) != 1:
            return None
        if designators[0].type != "field_designator":
            return None
        return c.Keyword(self._text(designators[0]).lstrip(". "), self._expr(value), self._span(node))

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
        if type_.name in EXTENTS:
            return c.Cast(type_, items, span)
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
        launch = next((child for child in node.named_children if child.type == "kernel_call_syntax"), None)
        if launch is not None:
            return c.Call(
                self._expr(function),
                self._type_arguments(_template_of(function)),
                tuple(arguments),
                span,
                tuple(self._arguments(launch)),
            )
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
        if type_.name in EXTENTS and function.type != "field_expression":
            return c.Cast(type_, c.Sequence(tuple(arguments), span), span)
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
