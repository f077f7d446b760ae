"""Calls in C++ and CUDA sources as text: who is called with what, and where statements may follow in the same block."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ptxcheck.hostcode.cpp_nodes import Node, all_below, root_of

_BLOCK = "compound_statement"
_ARRIVAL = re.compile(r"\bmbarrier\.arrive(?!\S*expect_tx)|\bmbarrier_arrive\s*\(")


@dataclass(frozen=True, slots=True)
class Call:
    """A call, in the text of its file."""

    callee: str
    arguments: tuple[str, ...]
    ends: tuple[int, ...]
    """Where statements may be inserted: behind its own in the block around it, and behind each one that follows."""


def calls_at(text: str, line: int) -> Iterator[Call]:
    """Yield the calls that begin in a line, from 1 on, the outermost first. Never raises for bad text."""
    source = _Text(text)
    nodes = [node for node in all_below(source.root) if node.type == "call_expression"]
    for node in sorted(nodes, key=lambda each: (each.start_byte, -each.end_byte)):
        function, arguments = (node.child_by_field_name(name) for name in ("function", "arguments"))
        if node.start_point[0] != line - 1 or function is None or arguments is None:
            continue
        statement = _statement_of(node)
        if statement is not None:
            yield Call(
                source.of(function),
                tuple(source.of(each) for each in arguments.named_children),
                tuple(source.offset(each.end_byte) for each in _from(statement)),
            )


def arriving_functions(text: str) -> tuple[str, ...]:
    """Return the functions of one parameter that arrive at an mbarrier, by their text, in the order of the file."""
    source = _Text(text)
    found = []
    for node in sorted(all_below(source.root), key=lambda each: each.start_byte):
        if node.type != "function_definition":
            continue
        body = node.child_by_field_name("body")
        declarator = next((each for each in all_below(node) if each.type == "function_declarator"), None)
        if body is None or declarator is None or not _ARRIVAL.search(source.of(body)):
            continue
        name, parameters = (declarator.child_by_field_name(each) for each in ("declarator", "parameters"))
        taken = () if parameters is None else parameters.named_children
        if name is not None and name.type == "identifier" and len(taken) == 1:
            found.append(source.of(name))
    return tuple(dict.fromkeys(found))


class _Text:
    """A text with its tree, whose offsets are bytes."""

    def __init__(self, text: str) -> None:
        self._data = text.encode("utf-8", errors="replace")
        self.root = root_of(self._data)

    def of(self, node: Node) -> str:
        return self._data[node.start_byte : node.end_byte].decode("utf-8", errors="replace")

    def offset(self, byte: int) -> int:
        """Return the offset in characters."""
        return len(self._data[:byte].decode("utf-8", errors="replace"))


def _statement_of(node: Node) -> Node | None:
    """Return the statement around an expression that stands in a block; None for one that does not."""
    while node.parent is not None:
        if node.parent.type == _BLOCK:
            return node
        node = node.parent
    return None


def _from(statement: Node) -> Sequence[Node]:
    block = statement.parent
    children = [] if block is None else block.named_children
    return [each for each in children if each.start_byte >= statement.start_byte and each.type != "comment"]
