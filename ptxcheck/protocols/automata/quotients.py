"""Thresholds on a quotient as thresholds on what is divided.

Property: where `undivided` returns a number and a threshold, the quotient is below its own threshold exactly where the
number is below that one, for every threshold that is at least the given one. A quotient of a sum that does not wrap
around is at least `least_quotient`.

Argument: `floor(x / d) < t` is `x < d*t` for integers. Compilers divide a signed number by a power of two as
`(x + (x < 0 ? d - 1 : 0)) >> log2 d`, which rounds towards zero: that is the floor where `t >= 1`, as all negative
numbers are below `t` and below `d*t`. Where `t <= 0`, the quotient is at most `t - 1 < 0`, and x at most `d*(t - 1)`.

Not covered: quotients that are computed by a product.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..symex.values.ceilings import without_correction
from ..symex.values.kinds import Kind
from ..symex.values.recurrent_arithmetic import form_of
from ..symex.values.symbol import Atom, Form
from ..symex.values.wraparound import may_be_negative

_WORD = 32


@dataclass(frozen=True, slots=True)
class _Quotient:
    dividend: Form
    divisor: int
    is_floor: bool
    """Whether it is rounded down, and not towards zero."""


def undivided(name: Atom, least: int) -> tuple[Form, int] | None:
    """Return the number that an atom is a quotient of, and the divisor; None where thresholds do not carry over.

    `least` is the least threshold that is asked about.
    """
    found = _quotient(name)
    return None if found is None or not (found.is_floor or least >= 1) else (found.dividend, found.divisor)


def undivided_truncated(name: Atom) -> tuple[Form, int] | None:
    """Return the number that an atom is a quotient of, rounded towards zero, and the divisor d; None for others.

    The quotient is below a threshold t that is 0 or less exactly where the number is below `d * (t - 1) + 1`.
    """
    found = _quotient(name)
    return None if found is None or found.is_floor else (found.dividend, found.divisor)


def undivided_natural(name: Atom) -> tuple[Form, int] | None:
    """Return the number that an atom is a quotient of, as an unsigned number, and the divisor; None for others.

    Of a number that is not negative as a signed one all thresholds carry over; else the quotient is below none.
    """
    match name.inner:
        case (Kind.SHR, part, int(bits), int(width)) if width == _WORD and 0 < bits < _WORD - 1:
            dividend = form_of(part)
            return None if dividend is None else (dividend, 1 << bits)
        case _:
            return None


def least_quotient(name: Atom, least: Mapping[Atom, int]) -> int | None:
    """Return the least that a quotient of a sum is, unless that sum wraps around.

    Of places in the grid, which are not negative, and of numbers of which the least is known. None for other atoms.
    """
    found = undivided(name, 1) or undivided_natural(name)
    if found is None:
        return None
    dividend, divisor = found
    low = dividend.constant
    for part, factor in dividend.terms:
        if factor < 0 or (part not in least and may_be_negative(part)):
            return None
        low += factor * least.get(part, 0)
    return low // divisor if low >= 0 else None


def _quotient(name: Atom) -> _Quotient | None:
    match name.inner:
        case (Kind.SAR, part, int(bits), int(width)) if width == _WORD and 0 < bits < _WORD - 1:
            dividend = form_of(part)
            if dividend is None:
                return None
            corrected = without_correction(dividend, bits)
            return _Quotient(dividend if corrected is None else corrected, 1 << bits, corrected is None)
        case (Kind.DIV, part, int(divisor), int(width), signed) if width == _WORD and divisor > 0 and signed:
            dividend = form_of(part)
            return None if dividend is None else _Quotient(dividend, divisor, is_floor=False)
        case _:
            return None
