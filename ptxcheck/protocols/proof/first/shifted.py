"""Comparisons of a run for one size, and whether they come out alike for all larger ones a period apart.

A size is one symbol that the host gives, such as the number of tiles. All runs of a kernel whose decisions are on one
size only form a family: a run for each interval of it. Where every comparison keeps its truth when the size grows by a
period, or when the size and the rounds done so far grow together, what the run does is done by all larger ones too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import numpy as np

from ....cfg.optypes import typing_of
from ....ir import Instruction
from ...symex.interpreter.observation import Comparison
from ...symex.values import lane_arithmetic as lanes
from ...symex.values.register_file import lanes_of
from ...symex.values.symbol import (
    Atom,
    Condition,
    Form,
    Value,
)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Numbers of a symbol, `low` to `high`; None: without end."""

    low: int | None = None
    high: int | None = None

    def moved(self, by: int) -> Sizes:
        """Return them with a number added."""
        return Sizes(
            None if self.low is None else self.low + by, None if self.high is None else self.high + by
        )

    def cut(self, condition: Condition, truth: bool, near: int) -> Sizes:
        """Return those for which a condition on `factor × size + constant` has a truth, in one piece around `near`."""
        ((_, factor),) = condition.form.terms
        low, high = self.low, self.high
        for limit in _limits(condition):
            offset = limit - condition.form.constant
            # factor × size < offset on one side, and >= on the other.
            first_above = -(-offset // factor) if factor > 0 else offset // factor + 1
            if near >= first_above:
                low = first_above if low is None else max(low, first_above)
            else:
                high = first_above - 1 if high is None else min(high, first_above - 1)
        found = Sizes(low, high)
        assert truth == condition.holds(factor * near + condition.form.constant)
        return found


def _limits(condition: Condition) -> tuple[int, ...]:
    """Return the numbers of the form below which, or from which on, a condition may change its truth."""
    match condition.relation:
        case "lt":
            return (condition.bound,)
        case "below":
            return (0, condition.bound)
        case _:
            return (condition.bound, condition.bound + 1)


class _Order(Enum):
    """Relations of a difference to zero."""

    LESS = "<"
    LESS_OR_EQUAL = "<="
    EQUAL = "=="


_WORD = 32
_ORDERS = {
    ".lt": _Order.LESS, ".lo": _Order.LESS, ".ge": _Order.LESS, ".hs": _Order.LESS,
    ".le": _Order.LESS_OR_EQUAL, ".ls": _Order.LESS_OR_EQUAL, ".gt": _Order.LESS_OR_EQUAL,
    ".hi": _Order.LESS_OR_EQUAL, ".eq": _Order.EQUAL, ".ne": _Order.EQUAL,
}  # fmt: skip
"""Each relation, or its negation."""


@dataclass(frozen=True, slots=True)
class _Side:
    """Numbers that one side of a comparison may be, and by how much they grow with the size."""

    low: int
    high: int
    factor: int
    is_open: bool = False
    """Other symbols are part of it: nothing is known but the factor."""


def reads_signed(instruction: Instruction, seen: Comparison, size: Atom) -> bool:
    """Tell whether a comparison orders numbers by their signs, or 64 bits, one of which is computed from the size."""
    relation = next((m for m in instruction.operation.modifiers if m in _ORDERS), None)
    if relation is not None and _ORDERS[relation] is _Order.EQUAL:
        return False
    sides = (each for each in (seen.left, seen.right) if isinstance(each, Form))
    is_of_size = any(name.marks & size.mark for side in sides for name, _ in side.terms)
    types = typing_of(instruction.operation)
    return is_of_size and (relation is None or types.signed or types.width > _WORD)


def keeps_truth(
    instruction: Instruction,
    seen: Comparison,
    size: Atom,
    sizes: Sizes,
    period: int,
    gaps: tuple[int | None, int | None],
    threads: int,
) -> bool:
    """Tell whether a comparison keeps its truth when the size grows by any number of periods.

    `gaps` tells by how much each side changes in every period, the growth of the size not counted.
    """
    types = typing_of(instruction.operation)
    relation = next((m for m in instruction.operation.modifiers if m in _ORDERS), None)
    if relation is None or not types.is_integer or None in gaps:
        return False
    order = _ORDERS[relation]
    is_signed = types.signed or (order is _Order.EQUAL)
    left = _side(seen.left, seen, size, sizes, types.width, threads, is_signed=is_signed)
    right = _side(seen.right, seen, size, sizes, types.width, threads, is_signed=is_signed)
    if left is None or right is None:
        return False
    left_shift = left.factor * period + (gaps[0] or 0)
    right_shift = right.factor * period + (gaps[1] or 0)
    if left_shift == 0 and right_shift == 0:
        return True
    if not is_signed and not (min(left.low, right.low) >= 0 and min(left_shift, right_shift) >= 0):
        return False
    if left_shift == right_shift:
        return not (left.is_open or right.is_open) or is_signed
    if left.is_open or right.is_open:
        return False
    low, high = _difference(seen, left, right, size, sizes, types.width, threads, is_signed=is_signed)
    return _stays(order, low, high, left_shift - right_shift)


def _stays(order: _Order, low: int, high: int, shift: int) -> bool:
    """Tell whether a difference keeps its relation to zero when a number is added again and again."""
    match order:
        case _Order.LESS:
            return low >= 0 if shift > 0 else high < 0
        case _Order.LESS_OR_EQUAL:
            return low > 0 if shift > 0 else high <= 0
        case _Order.EQUAL:
            return low > 0 if shift > 0 else high < 0


def _side(
    value: Value, seen: Comparison, size: Atom, sizes: Sizes, width: int, threads: int, *, is_signed: bool
) -> _Side | None:
    """Return what a side may be; None when the size is hidden in it."""
    if isinstance(value, Form):
        factor = 0
        others = False
        for name, k in value.terms:
            if name == size:
                factor = k
            elif name.marks & size.mark:
                return None
            else:
                others = True
        if others:
            return _Side(0, 0, factor, is_open=True)
        assert sizes.low is not None
        assert sizes.high is not None
        ends = (factor * sizes.low + value.constant, factor * sizes.high + value.constant)
        return _Side(min(ends), max(ends), factor)
    numbers = tuple(_numbers(value, seen, width, threads, is_signed=is_signed))
    return _Side(min(numbers), max(numbers), 0) if numbers else None


def _numbers(value: Value, seen: Comparison, width: int, threads: int, *, is_signed: bool) -> Iterator[int]:
    assert not isinstance(value, Form)
    raw = [value] if isinstance(value, int) else np.unique(value[lanes_of(seen.threads, threads)]).tolist()
    for each in raw:
        number = each & lanes.mask_of(width)
        yield int(lanes.signed(number, width)) if is_signed else number


def _difference(
    seen: Comparison,
    left: _Side,
    right: _Side,
    size: Atom,
    sizes: Sizes,
    width: int,
    threads: int,
    *,
    is_signed: bool,
) -> tuple[int, int]:
    """Return the least and the greatest left minus right; each thread has one number on each side."""
    if isinstance(seen.left, np.ndarray) and isinstance(seen.right, np.ndarray):
        held = lanes_of(seen.threads, threads)
        apart = [
            _single(a, width, is_signed=is_signed) - _single(b, width, is_signed=is_signed)
            for a, b in zip(seen.left[held].tolist(), seen.right[held].tolist(), strict=True)
        ]
        return min(apart), max(apart)
    if left.factor and right.factor:
        assert isinstance(seen.left, Form)
        assert isinstance(seen.right, Form)
        assert sizes.low is not None
        assert sizes.high is not None
        factor, constant = left.factor - right.factor, seen.left.constant - seen.right.constant
        ends = (factor * sizes.low + constant, factor * sizes.high + constant)
        return min(ends), max(ends)
    return left.low - right.high, left.high - right.low


def _single(number: int, width: int, *, is_signed: bool) -> int:
    masked = number & lanes.mask_of(width)
    return int(lanes.signed(masked, width)) if is_signed else masked
