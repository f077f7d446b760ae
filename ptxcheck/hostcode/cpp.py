"""C++ and CUDA sources to the form of `code.py`, by tree-sitter's CUDA grammar, which is C++ and more.

Bodies of functions are translated when they are first asked for. What cannot be parsed, and what has no form,
becomes opaque with all the names in it. Of the branches of the preprocessor each may be the one that is
compiled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ptxcheck.hostcode import code as c
from ptxcheck.hostcode.cpp_nodes import Node, root_of
from ptxcheck.hostcode.cpp_statements import StatementReader
from ptxcheck.hostcode.includes import Includes
from ptxcheck.hostcode.types import (
    INT,
    UNKNOWN,
    Type,
    named,
)
from ptxcheck.source import Span

DEEPEST = 200


def program(text: str, includes: Includes | None = None) -> c.Program:
    """Return the functions, constants and type names of a C++ or CUDA source. Never raises for bad text."""
    data = text.encode("utf-8", errors="replace")
    return _Reader(data, text, includes).program(root_of(data))


class _Reader(StatementReader):
    """Reads one file: what stands outside of functions."""

    def __init__(self, data: bytes, text: str, includes: Includes | None = None) -> None:
        super().__init__(data, text)
        self._includes = includes
        self._path: str | None = None
        self._depth = 0
        self._constants: dict[str, tuple[Type, c.Expr | None, c.Declare | None]] = {}
        self._functions: list[c.Function] = []
        self._kernels: set[str] = set()
        self._conditions = 0
        """Branches of the preprocessor around what is read."""
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
        inner._kernels, inner._conditions = self._kernels, self._conditions
        inner._top(root_of(data), DEEPEST)

    def program(self, root: Node) -> c.Program:
        self._top(root, DEEPEST)
        for name in self._hidden:
            for hidden in (name, name + "{}"):
                if hidden in self._constants:
                    self._constants[hidden] = (self._constants[hidden][0], None, None)
        return c.Program(
            tuple(self._functions), self._constants, self._aliases, True, frozenset(self._kernels)
        )

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
                    self._note_kernel(child, child.child_by_field_name("declarator"))
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
                case "preproc_if" | "preproc_ifdef" | "preproc_else" | "preproc_elif":
                    decides = not self._is_guard(child)
                    self._conditions += decides
                    self._top(child, depth - 1)
                    self._conditions -= decides
                case "namespace_definition" | "linkage_specification" | "declaration_list" | "ERROR":
                    self._top(child, depth - 1)
                case _:
                    pass

    def _is_guard(self, node: Node) -> bool:
        """Tell whether this only keeps a file from being read twice."""
        name = self._text(node.child_by_field_name("name"))
        inner = [child for child in node.named_children if child.type not in ("comment", "identifier")]
        first = inner[0] if inner else None
        is_negative = bool(node.children) and self._text(node.children[0]) == "#ifndef"
        return (
            is_negative
            and first is not None
            and first.type == "preproc_def"
            and self._text(first.child_by_field_name("name")) == name
        )

    def _note_kernel(self, node: Node, declarator: Node | None) -> bool:
        """Note the name of a function that is declared `__global__`."""
        while declarator is not None and declarator.type != "function_declarator":
            declarator = declarator.child_by_field_name("declarator")
        if declarator is None or "__global__" not in self._head(node, declarator):
            return False
        self._kernels.add(_plain_name(self._text(declarator.child_by_field_name("declarator"))))
        return True

    def _head(self, node: Node, declarator: Node) -> str:
        """Return what stands before the name of a function."""
        return self._data[node.start_byte : declarator.start_byte].decode("utf-8", "replace")

    def _template(self, node: Node, depth: int) -> None:
        parameters = tuple(self._template_parameters(node.child_by_field_name("parameters")))
        if any(child.type in ("class_specifier", "struct_specifier") for child in node.named_children):
            self._hidden.update(name for name, _ in parameters)
        for child in node.named_children:
            if child.type == "function_definition":
                self._function(child, parameters)
            elif child.type == "declaration":
                self._note_kernel(child, child.child_by_field_name("declarator"))
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
        name = _plain_name(self._text(name_node))
        is_kernel = self._note_kernel(node, declarator)
        result = named(self._head(node, declarator), self._aliases)
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
                is_kernel,
                self._conditions > 0,
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


def _plain_name(text: str) -> str:
    """Return a name without qualifiers and template arguments."""
    return text.rsplit("::", 1)[-1].split("<")[0].strip()


def _parsed(text: str) -> c.Expr | None:
    """Return the body of a macro as an expression, or None where it is none."""
    data = f"auto macro_value = {text};".encode()
    root = root_of(data)
    if root.has_error or len(root.named_children) != 1:
        return None
    reader = _Reader(data, data.decode("utf-8", errors="replace"))
    declared = list(reader._declarations(root.named_children[0]))
    return declared[0].value if len(declared) == 1 else None


def _moved(expr: c.Expr, span: Span) -> c.Expr:
    """Return an expression of a macro at the place of its definition."""
    from dataclasses import fields

    updates: dict[str, object] = {"span": span}
    for field in fields(expr):
        value = getattr(expr, field.name)
        if isinstance(value, c.Expr.__args__):
            updates[field.name] = _moved(value, span)
        elif isinstance(value, tuple) and any(isinstance(one, c.Expr.__args__) for one in value):
            updates[field.name] = tuple(
                _moved(one, span) if isinstance(one, c.Expr.__args__) else one for one in value
            )
    return replace(expr, **updates)  # type: ignore[arg-type]
