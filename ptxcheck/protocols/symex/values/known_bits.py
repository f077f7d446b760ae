"""Bits of a symbol that are the same whatever its parts are: fields of words that are packed out of symbols.

Property: each bit that is known is the same in every run.

Argument: bits of masks, packed words and sums of one term follow from those of their parts.

Not covered: carries: of a sum of several terms nothing is known.
"""

from __future__ import annotations

from .kinds import Kind
from .symbol import Atom, Form, Value

_DEEPEST = 12


def known_bits(value: Value | object, depth: int = _DEEPEST) -> tuple[int, int]:
    """Return (ones, known): the bits of a value that are certain, and which ones those are. Nothing for lanes."""
    if isinstance(value, int):
        return value & _ALL, _ALL
    if isinstance(value, Form):
        (name, factor), *others = value.terms
        if others or value.constant or factor <= 0 or factor & factor - 1:
            return 0, 0
        shift = factor.bit_length() - 1
        ones, known = known_bits(name, depth)
        return ones << shift & _ALL, (known << shift | factor - 1) & _ALL
    return _of_atom(value, depth - 1) if isinstance(value, Atom) and depth else (0, 0)


_ALL = (1 << 64) - 1


def _of_atom(atom: Atom, depth: int) -> tuple[int, int]:
    kind, *parts = atom
    if kind in (Kind.AND, Kind.OR) and len(parts) == 2:
        (a, a_known), (b, b_known) = (known_bits(part, depth) for part in parts)
        if kind == Kind.AND:
            return a & b, (a_known & b_known) | (a_known & ~a) | (b_known & ~b)
        return a | b, (a_known & b_known) | a | b
    if kind == Kind.PACK and isinstance(parts[0], int):
        return _packed(parts[0], parts[1:], depth)
    if kind == Kind.SUM:
        terms, constant = parts
        return known_bits(Form(terms, constant), depth)  # type: ignore[arg-type]
    return 0, 0


def _packed(width: int, parts: list[object], depth: int) -> tuple[int, int]:
    ones = known = 0
    mask = (1 << width) - 1
    for position, part in enumerate(parts):
        own, own_known = known_bits(part, depth)
        ones |= (own & mask) << position * width
        known |= (own_known & mask) << position * width
    return ones, known
