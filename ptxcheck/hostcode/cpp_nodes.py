"""Nodes of tree-sitter's CUDA grammar, which is C++ and more: their text and their places.

The only module that knows tree-sitter. Its offsets are bytes, those of spans are characters.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias

import tree_sitter
import tree_sitter_cuda

from ptxcheck.hostcode import code as c
from ptxcheck.hostcode.types import Type
from ptxcheck.source import Span

Node: TypeAlias = tree_sitter.Node


def root_of(data: bytes) -> Node:
    """Return the root of a source. Never raises for bad text."""
    return tree_sitter.Parser(_language()).parse(data).root_node


@lru_cache(maxsize=1)
def _language() -> tree_sitter.Language:
    return tree_sitter.Language(tree_sitter_cuda.language())


class NodeReader:
    """What all readers of one file know: its text, and the names of types so far."""

    def __init__(self, data: bytes, text: str) -> None:
        self._at: Span | None = None
        """The `#include` of the source through which this file is read."""
        self._data = data
        self._is_plain = len(data) == len(text)
        self._starts: list[int] = [] if self._is_plain else _character_starts(text)
        self._aliases: dict[str, Type] = {}

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
        return frozenset(self._text(one) for one in all_below(node) if one.type == "identifier")

    def _opaque(self, node: Node) -> c.Opaque:
        return c.Opaque(self._names(node), self._span(node))


def all_below(node: Node) -> Iterator[Node]:
    pending = [node]
    while pending:
        one = pending.pop()
        yield one
        pending.extend(one.children)


def ids_of(node: Node | None) -> tuple[int, ...]:
    return () if node is None else (node.id,)


def _character_starts(text: str) -> list[int]:
    """Return the byte offset of each character, and of the end."""
    starts, at = [], 0
    for character in text:
        starts.append(at)
        at += len(character.encode("utf-8", errors="replace"))
    return [*starts, at]
