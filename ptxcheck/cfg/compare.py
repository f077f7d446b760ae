"""Comparisons of abstract values: deciding them, and learning from their outcome."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum

from .arithmetic import from_signed
from .values import Value, meet, reduced


class Relation(Enum):
    """A comparison of integers; signedness is kept beside it."""

    EQ = "=="
    NE = "!="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="

    @property
    def inverse(self) -> Relation:
        """What holds exactly when this does not."""
        return _INVERSE[self]

    @property
    def swapped(self) -> Relation:
        """The relation of b to a when this one is of a to b."""
        return _SWAPPED.get(self, self)


_INVERSE = {
    Relation.EQ: Relation.NE,
    Relation.NE: Relation.EQ,
    Relation.LT: Relation.GE,
    Relation.GE: Relation.LT,
    Relation.LE: Relation.GT,
    Relation.GT: Relation.LE,
}
_SWAPPED = {
    Relation.LT: Relation.GT,
    Relation.GT: Relation.LT,
    Relation.LE: Relation.GE,
    Relation.GE: Relation.LE,
}
_MODIFIERS = {
    ".eq": Relation.EQ,
    ".ne": Relation.NE,
    ".lt": Relation.LT,
    ".lo": Relation.LT,
    ".le": Relation.LE,
    ".ls": Relation.LE,
    ".gt": Relation.GT,
    ".hi": Relation.GT,
    ".ge": Relation.GE,
    ".hs": Relation.GE,
}


def relation_of(modifiers: Collection[str]) -> Relation | None:
    """Return the integer relation among the modifiers of a comparison."""
    return next((relation for text, relation in _MODIFIERS.items() if text in modifiers), None)


def decide(relation: Relation, a: Value, b: Value, signed: bool) -> bool | None:
    """Tell whether the relation always holds, never holds, or is not known (None)."""
    match relation:
        case Relation.EQ | Relation.NE:
            equal = _equal(a, b)
            return equal if equal is None or relation is Relation.EQ else not equal
        case Relation.GT | Relation.GE:
            return decide(relation.swapped, b, a, signed)
        case _:
            (a_low, a_high) = a.signed_range if signed else (a.low, a.high)
            (b_low, b_high) = b.signed_range if signed else (b.low, b.high)
            strict = relation is Relation.LT
            if a_high < b_low or (a_high == b_low and not strict):
                return True
            return False if a_low > b_high or (a_low == b_high and strict) else None


def _equal(a: Value, b: Value) -> bool | None:
    if a.constant is not None and a.constant == b.constant:
        return True
    if a.linear is not None and b.linear is not None and a.linear.terms == b.linear.terms:
        return a.linear.constant == b.linear.constant
    return False if meet(a, b) is None else None


def constrain(value: Value, relation: Relation, number: int, signed: bool) -> Value | None:
    """Return the numbers of `value` that stand in the relation to a number; None when there are none."""
    width = value.width
    mask = (1 << width) - 1
    number &= mask
    if relation is Relation.EQ:
        return _within(value, number, number)
    if relation is Relation.NE:
        return _except(value, number)
    if signed:
        return _signed_constrain(value, relation, number)
    match relation:
        case Relation.LT:
            return _within(value, 0, number - 1)
        case Relation.LE:
            return _within(value, 0, number)
        case Relation.GT:
            return _within(value, number + 1, mask)
        case _:
            return _within(value, number, mask)


def _signed_constrain(value: Value, relation: Relation, number: int) -> Value | None:
    half = 1 << (value.width - 1)
    bound = number - 2 * half if number >= half else number
    low, high = value.signed_range
    match relation:
        case Relation.LT:
            high = min(high, bound - 1)
        case Relation.LE:
            high = min(high, bound)
        case Relation.GT:
            low = max(low, bound + 1)
        case _:
            low = max(low, bound)
    if low > high:
        return None
    numbers = from_signed(low, high, value.width)
    return _within(value, numbers.low, numbers.high)


def _within(value: Value, low: int, high: int) -> Value | None:
    low, high = max(low, value.low), min(high, value.high)
    if low > high:
        return None
    if (low, high) == (value.low, value.high):
        return value
    sharper = reduced(value.width, low, high, value.ones, value.maybe, value.modulus, value.residue)
    return None if sharper is None else sharper.with_linear(value.linear, exact=value.exact)


def _except(value: Value, number: int) -> Value | None:
    if value.constant == number:
        return None
    step = max(value.modulus, 1)
    if value.low == number:
        return _within(value, number + step, value.high)
    return _within(value, value.low, number - step) if value.high == number else value
