"""Claims about registers decided without a solver, by trying all numbers of the variables that have few.

Property: `enumerated` gives NEVER only where no numbers of the variables, within their bounds, make all claims true,
and numbers only where those do. Otherwise it gives None.

Argument: each variable with few numbers is an axis of an array, and each term an array of its numbers: all combinations
are tried. A variable with many is not known: terms carry a mask of what is known of them, and truth values whether they
may be true and whether they surely are (Kleene's logic). Where no combination may make all claims true, none does.
Numbers are found by setting all that is not known to different numbers, to the least ones, or to the largest.

Not covered: terms wider than 64 bits, and signed division, which are not known; more combinations than `_MOST`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from .bitvectors import Bits, Kind, Numbers, in_order

_MOST = 1 << 18
"""Combinations of numbers."""
_MOST_WORK = 6_000_000
"""Numbers that are computed for one question."""
_FEW = 1 << 11
"""Numbers of a variable that is tried."""
_Truth = npt.NDArray[np.bool_]


class Never(Enum):
    """The answer that claims cannot hold together."""

    NEVER = auto()


@dataclass(frozen=True, slots=True)
class _Value:
    """Numbers of a term, and where they are known. For truth values: where it may be true, and where it surely is."""

    numbers: Any
    known: Any


_UNKNOWN = _Value(np.zeros(1, np.uint64), np.zeros(1, np.bool_))
_MAYBE = _Value(np.ones(1, np.bool_), np.zeros(1, np.bool_))


def enumerated(claims: Sequence[Bits], wanted: Sequence[Bits]) -> Numbers | Never | None:
    """Return numbers that make all claims true, NEVER where none do; None where that is not known."""
    terms = [*in_order(*claims)]
    axes = _axes(terms)
    if not axes or _work(terms, axes) > _MOST_WORK:
        return None
    values = _computed(terms, axes)
    may = reduce(np.logical_and, (values[claim].numbers for claim in claims))
    if not may.any():
        return Never.NEVER
    others = [term for term in terms if term.kind is Kind.VARIABLE and term not in axes]
    for given in _guesses(others):
        values = _supposed(terms, values, given)
        sure = reduce(np.logical_and, (values[claim].known for claim in claims))
        if sure.any():
            sizes = [_span(variable) for variable in axes]
            place = np.unravel_index(int(np.broadcast_to(sure, sizes).argmax()), sizes)
            found = {variable: variable.low + int(at) for variable, at in zip(axes, place, strict=True)}
            return _completed(found | given, wanted)
    return None


def _guesses(variables: Sequence[Bits]) -> Iterator[dict[Bits, int]]:
    """Yield numbers for variables that are not tried: all different, all at their least, or all at their most."""
    yield {each: each.low + min(place, _span(each) - 1) for place, each in enumerate(variables)}
    if variables:
        yield {variable: variable.low for variable in variables}
        yield {variable: variable.high for variable in variables}


def _supposed(
    terms: Sequence[Bits], before: Mapping[Bits, _Value], given: Mapping[Bits, int]
) -> dict[Bits, _Value]:
    """Return terms again, some variables being known."""
    values = dict(before)
    changed = set(given)
    with np.errstate(all="ignore"):
        for term in terms:
            if term in given:
                values[term] = _number(np.full(1, given[term], np.uint64), term)
            elif not changed.isdisjoint(term.parts):
                changed.add(term)
                values[term] = _of(term, [values[part] for part in term.parts])
    return values


def _completed(found: dict[Bits, int], wanted: Sequence[Bits]) -> Numbers | None:
    """Return numbers of further terms, too."""
    terms = [*in_order(*wanted)]
    variables = {each: found.get(each, each.low) for each in terms if each.kind is Kind.VARIABLE}
    values = _supposed(terms, _computed(terms, {}), variables)
    for term in wanted:
        value = values[term]
        if term.width == 1:
            found[term] = int(bool(value.known.all()))
        elif value.known.all():
            found[term] = int(value.numbers.reshape(-1)[0])
        else:
            return None
    return found


def _span(variable: Bits) -> int:
    return variable.high - variable.low + 1


def _axes(terms: Sequence[Bits]) -> dict[Bits, int]:
    """Return the variables whose numbers are tried, those that most terms use first, and their axes."""
    uses = Counter(part for term in terms for part in term.parts)
    variables = (each for each in terms if each.kind is Kind.VARIABLE and _span(each) <= _FEW)
    found: list[Bits] = []
    total = 1
    for variable in sorted(variables, key=lambda each: (-uses[each], each.serial)):
        if total * _span(variable) <= _MOST:
            total *= _span(variable)
            found.append(variable)
    return {variable: axis for axis, variable in enumerate(sorted(found, key=lambda each: each.serial))}


def _work(terms: Sequence[Bits], axes: Mapping[Bits, int]) -> int:
    """Return how many numbers there are to compute."""
    spans = [_span(variable) for variable in axes]
    uses: dict[Bits, int] = {}
    total = 0
    for term in terms:
        axis = axes.get(term)
        uses[term] = reduce(
            lambda a, b: a | b, (uses[part] for part in term.parts), 0 if axis is None else 1 << axis
        )
        size = 1
        for place, span in enumerate(spans):
            size *= span if uses[term] >> place & 1 else 1
        total += size
    return total


def _computed(terms: Sequence[Bits], axes: Mapping[Bits, int]) -> dict[Bits, _Value]:
    values: dict[Bits, _Value] = {}
    with np.errstate(all="ignore"):
        for term in terms:
            if term in axes:
                shape = [1] * len(axes)
                shape[axes[term]] = _span(term)
                values[term] = _number(
                    np.arange(term.low, term.high + 1, dtype=np.uint64).reshape(shape), term
                )
            elif term.kind in (Kind.VARIABLE, Kind.APPLY):
                values[term] = _MAYBE if term.width == 1 else _UNKNOWN
            else:
                values[term] = _of(term, [values[part] for part in term.parts])
    return values


def _number(numbers: Any, term: Bits) -> _Value:
    if term.width == 1:
        return _Value(numbers != 0, numbers != 0)
    return _Value(numbers, np.ones(1, np.bool_))


def _of(term: Bits, parts: Sequence[_Value]) -> _Value:
    if term.width > 64 or any(part.width > 64 for part in term.parts):
        return _MAYBE if term.width == 1 else _UNKNOWN
    if term.kind is Kind.NUMBER:
        return _number(np.full(1, term.number, np.uint64), term)
    if term.width == 1 and (not parts or term.parts[0].width == 1):
        return _truth(term.kind, parts)
    if term.kind in _RELATIONS:
        return _related(term, parts)
    if term.kind is Kind.CHOICE:
        return _chosen(parts)
    function = _FUNCTIONS.get(term.kind)
    if function is None:
        return _MAYBE if term.width == 1 else _UNKNOWN
    known = reduce(np.logical_and, (part.known for part in parts))
    if not known.any():
        return _MAYBE if term.width == 1 else _UNKNOWN
    numbers = function(term, [part.numbers for part in parts])
    return _Value(_cut(numbers, term.width), known)


def _truth(kind: Kind, parts: Sequence[_Value]) -> _Value:
    one, two = parts[0], parts[1]
    match kind:
        case Kind.AND:
            return _Value(one.numbers & two.numbers, one.known & two.known)
        case Kind.OR:
            return _Value(one.numbers | two.numbers, one.known | two.known)
        case Kind.XOR | Kind.EQ:
            may = (one.numbers & ~two.known) | (two.numbers & ~one.known)
            sure = (one.known & ~two.numbers) | (two.known & ~one.numbers)
            return _Value(may, sure) if kind is Kind.XOR else _Value(~sure, ~may)
        case _:
            return _MAYBE


def _related(term: Bits, parts: Sequence[_Value]) -> _Value:
    one, two = parts
    known = one.known & two.known
    if not known.any():
        return _MAYBE
    a, b = one.numbers, two.numbers
    if term.kind is Kind.SLT:
        top = np.uint64(1 << term.parts[0].width - 1)
        a, b = a ^ top, b ^ top
    holds = a == b if term.kind is Kind.EQ else a < b
    return _Value(holds | ~known, holds & known)


def _chosen(parts: Sequence[_Value]) -> _Value:
    test, one, two = parts
    numbers = np.where(test.known, one.numbers, two.numbers)
    either = one.known & two.known & (one.numbers == two.numbers)
    known = np.where(test.known, one.known, np.where(test.numbers, either, two.known))
    return _Value(numbers, known)


def _cut(numbers: Any, width: int) -> Any:
    return numbers if width >= 64 else numbers & np.uint64((1 << width) - 1)


def _sum(term: Bits, parts: Sequence[Any]) -> Any:
    mask = (1 << 64) - 1
    total = np.full(1, term.number & mask, np.uint64)
    for factor, part in zip(term.factors, parts, strict=True):
        total = total + part * np.uint64(factor & mask)
    return total


def _shifted(term: Bits, parts: Sequence[Any]) -> Any:
    a, by = parts
    within = np.minimum(by, np.uint64(63))
    moved = a << within if term.kind is Kind.SHL else a >> within
    return np.where(by >= np.uint64(64), np.uint64(0), moved)


def _arithmetic_shift(term: Bits, parts: Sequence[Any]) -> Any:
    by = np.minimum(parts[1], np.uint64(63))
    return (_extended(term, parts).view(np.int64) >> by.view(np.int64)).view(np.uint64)


def _divided(term: Bits, parts: Sequence[Any]) -> Any:
    a, b = parts
    some = np.where(b == 0, np.uint64(1), b)
    if term.kind is Kind.UREM:
        return np.where(b == 0, a, a % some)
    return np.where(b == 0, np.uint64((1 << 64) - 1), a // some)


def _extended(term: Bits, parts: Sequence[Any]) -> Any:
    rest = np.uint64(64 - term.parts[0].width)
    return ((np.ascontiguousarray(parts[0]) << rest).view(np.int64) >> rest.view(np.int64)).view(np.uint64)


_RELATIONS = frozenset({Kind.EQ, Kind.ULT, Kind.SLT})
_FUNCTIONS: Mapping[Kind, Any] = {
    Kind.SUM: _sum,
    Kind.PRODUCT: lambda term, parts: parts[0] * parts[1],
    Kind.UDIV: _divided,
    Kind.UREM: _divided,
    Kind.AND: lambda term, parts: parts[0] & parts[1],
    Kind.OR: lambda term, parts: parts[0] | parts[1],
    Kind.XOR: lambda term, parts: parts[0] ^ parts[1],
    Kind.SHL: _shifted,
    Kind.LSHR: _shifted,
    Kind.ASHR: _arithmetic_shift,
    Kind.EXTRACT: lambda term, parts: parts[0] >> np.uint64(term.number),
    Kind.ZEXT: lambda term, parts: parts[0],
    Kind.SEXT: _extended,
}

__all__ = ["Never", "enumerated"]
