"""Between which numbers a value lies whatever its symbols are, because masks, shifts and choices bound them.

Property: a value lies in its interval, whatever its symbols are.

Argument: masks, shifts to the right and choices bound their results; sums add the intervals of their terms.

Not covered: values with a part that nothing bounds: they have no interval.

A place such as `row + (head & 12)` is not known, but which bytes it may be is.
"""

from __future__ import annotations

import re
from typing import TypeAlias

import numpy as np

from .kinds import Kind
from .register_file import lanes_of
from .symbol import Atom, Form, Value
from .trace import ThreadSet

Interval: TypeAlias = tuple[int, int]
_HALF = 1 << 31
_SIGNED = re.compile(r"\.([su])(8|16|32|64)")


def interval_of(value: Value | object, threads: ThreadSet, count: int) -> Interval | None:
    """Return the least and the greatest number that a value may be in some of `count` threads, None when open."""
    if isinstance(value, int):
        return value, value
    if isinstance(value, np.ndarray):
        held = value[lanes_of(threads, count)]
        return int(held.min()), int(held.max())
    if isinstance(value, Form):
        return _sum(value.terms, value.constant, threads, count)
    if not isinstance(value, tuple):
        return None
    match value:
        case (Kind.LANES, bytes(raw)):
            return interval_of(np.frombuffer(raw, dtype=np.uint64), threads, count)
        case (Kind.SUM, tuple(terms), int(constant)):
            return _sum(terms, constant, threads, count)
        case (Kind.ADD, one, other, int()):
            first, second = interval_of(one, threads, count), interval_of(other, threads, count)
            return None if first is None or second is None else (first[0] + second[0], first[1] + second[1])
        case (Kind.AND, one, other):
            masks = [each for each in (one, other) if isinstance(each, int) and 0 <= each < _HALF]
            return (0, min(masks)) if masks else None
        case (Kind.SELP, _, one, other):
            first, second = interval_of(one, threads, count), interval_of(other, threads, count)
            if first is None or second is None:
                return None
            return min(first[0], second[0]), max(first[1], second[1])
        case (Kind.CVT, str(target), str(source), _):
            return _converted(target, source)
        case _:
            return _shifted(value)


def _converted(target: str, source: str) -> Interval | None:
    """Return the interval of the low bits of a number, read with a sign; None for any other conversion."""
    types = [_SIGNED.fullmatch(each) for each in (target, source)]
    of_less = min((each for each in types if each), key=lambda each: int(each[2]), default=None)
    if None in types or of_less is None or of_less[1] != "s":
        return None
    half = 1 << int(of_less[2]) - 1
    return -half, half - 1


def _shifted(value: tuple[object, ...]) -> Interval | None:
    """Return the interval of what is shifted to the right, or left over from a division; None for anything else."""
    match value:
        case (Kind.SAR, _, int(bits), int(width)) if 0 <= bits < width:
            half = 1 << (width - 1 - bits)
            return -half, half - 1
        case (Kind.SHR, _, int(bits), int(width)) if 0 < bits < width:
            return 0, (1 << (width - bits)) - 1
        case (Kind.REM, _, int(divisor), _, 0) if divisor > 0:
            return 0, divisor - 1
        case _:
            return None


def fits(value: Form, width: int, count: int) -> bool:
    """Tell whether a symbol has no more bits than these: by what bounds it, or as it was read with as many."""
    (name, factor), *others = value.terms
    if factor == 1 and not others and not value.constant:
        match name.inner:
            case (Kind.PARAM, _, _, int(size)):
                return 8 * size <= width
            case (Kind.LOAD | Kind.SHARED | Kind.RECEIVED, _, int(bits), *_):
                return bits <= width
    ends = interval_of(value, (1 << count) - 1, count)
    return ends is not None and ends[0] >= 0 and ends[1] < 1 << width


def _sum(
    terms: tuple[tuple[Atom, int], ...], constant: int, threads: ThreadSet, count: int
) -> Interval | None:
    low = high = constant
    for name, factor in terms:
        ends = interval_of(name, threads, count)
        if ends is None:
            return None
        first, last = sorted(factor * end for end in ends)
        low, high = low + first, high + last
    return low, high


__all__ = ["Interval", "fits", "interval_of"]
