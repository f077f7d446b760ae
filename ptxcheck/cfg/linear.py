"""Linear expressions over atoms, modulo a power of two: the symbolic half of an abstract value.

Property: the machine value is congruent to the expression modulo 2^width. Atoms stand for what does not
change while a thread looks at it: special registers, parameters, addresses of variables, and results of
definitions that have no linear form (the latest execution of that definition).
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

MAX_TERMS = 8
"""Longer sums become opaque."""


class AtomKind(IntEnum):
    __hash__ = int.__hash__

    SPECIAL = 0
    """Special register such as `%tid.x`."""
    PARAMETER = 1
    """`at` bytes into kernel parameter `name`, `width` bits."""
    ADDRESS = 2
    """Address of variable `name` in `space`."""
    DEFINITION = 3
    """Result number `part` of the instruction at point `at`."""
    PHI = 4
    """What register `name` holds on entry to block `at`."""


class Atom(NamedTuple):
    """One symbol of a linear expression."""

    kind: AtomKind
    name: str
    at: int = -1
    width: int = 32
    space: str = ""
    """State space of an address; the bytes are the same whatever `window`."""
    window: str = ""
    """How an address of `space` is written: "" within its space, `generic`, or `cluster:…` after `mapa`."""
    part: int = 0
    scope: int = 0
    """Scope of the register or symbol `name`."""

    def __str__(self) -> str:
        match self.kind:
            case AtomKind.DEFINITION:
                return f"{self.name}@{self.at}"
            case AtomKind.PHI:
                return f"{self.name}@block{self.at}"
            case AtomKind.PARAMETER:
                return f"{self.name}+{self.at}" if self.at else self.name
            case _:
                return f"{self.window}({self.name})" if self.window else self.name


class Linear(NamedTuple):
    """`sum(coefficient * atom) + constant`, coefficients and constant in signed form, terms sorted."""

    terms: tuple[tuple[Atom, int], ...]
    constant: int

    def __str__(self) -> str:
        parts = [str(atom) if factor == 1 else f"{factor}*{atom}" for atom, factor in self.terms]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts)

    @property
    def is_constant(self) -> bool:
        return not self.terms

    @property
    def addresses(self) -> tuple[tuple[Atom, int], ...]:
        """The terms that are addresses of variables."""
        return tuple(term for term in self.terms if term[0].kind is AtomKind.ADDRESS)

    def without(self, atom: Atom) -> Linear:
        return Linear(tuple(term for term in self.terms if term[0] != atom), self.constant)


def centred(number: int, width: int) -> int:
    """Return the signed number of `width` bits that is congruent to `number`."""
    number &= (1 << width) - 1
    return number - (1 << width) if number >> (width - 1) else number


def constant(number: int, width: int) -> Linear:
    return Linear((), centred(number, width))


def atom(symbol: Atom) -> Linear:
    return Linear(((symbol, 1),), 0)


def plus(a: Linear | None, b: Linear | None, width: int, factor: int = 1) -> Linear | None:
    """Return `a + factor * b` modulo 2^width, or None when that is too long."""
    if a is None or b is None:
        return None
    total = centred(a.constant + factor * b.constant, width)
    if not b.terms:
        return Linear(a.terms, total)
    sums = dict(a.terms)
    for symbol, count in b.terms:
        sums[symbol] = sums.get(symbol, 0) + factor * count
    terms = [(symbol, centred(count, width)) for symbol, count in sums.items()]
    kept = sorted(term for term in terms if term[1])
    return Linear(tuple(kept), total) if len(kept) <= MAX_TERMS else None


def times(a: Linear | None, factor: int, width: int) -> Linear | None:
    """Return `factor * a` modulo 2^width."""
    if a is None:
        return None
    terms = ((symbol, centred(count * factor, width)) for symbol, count in a.terms)
    return Linear(tuple(term for term in terms if term[1]), centred(a.constant * factor, width))


def divided(a: Linear | None, divisor: int) -> Linear | None:
    """Return `a / divisor` when every coefficient and the constant are multiples of it."""
    if a is None or a.constant % divisor or any(count % divisor for _, count in a.terms):
        return None
    return Linear(tuple((symbol, count // divisor) for symbol, count in a.terms), a.constant // divisor)


def is_small(a: Linear | None, width: int) -> bool:
    """Tell whether the sum of this and another small form has the same coefficients over the integers."""
    bound = 1 << (width - 2) if width > 1 else 1
    if a is None or not -bound < a.constant < bound:
        return False
    return all(-bound < count < bound for _, count in a.terms)


def resized(a: Linear | None, width: int) -> Linear | None:
    """Return `a` modulo 2^width, for truncation (always right) or an extension that is known not to wrap."""
    return times(a, 1, width)
