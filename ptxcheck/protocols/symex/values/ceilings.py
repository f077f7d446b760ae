"""Quotients that are rounded towards zero, and up: what compilers make of them, as what is divided, and by what.

Property: `with_ceiling` gives a sum of the same number, in which `x / 2^k` rounded up is `x + 2^k - 1 >> k`, and
`without_correction` the number of which a shift gives the quotient that is rounded towards zero.

Argument: compilers divide a signed number by 2^k as `x + (x < 0 ? 2^k - 1 : 0) >> k`, which rounds towards zero, and
round up by `q + (x > -1 && x != q << k ? 1 : 0)` with that quotient q. Where x is negative that is q, which is rounded
up already; else one more than q just where something is left. `x + 2^k - 1 >> k` is the ceiling for all integers.

Not covered: other divisors than powers of two; and the 2^k - 1 largest x, where a number is put in for them: the sum
wraps around in a register, which no kernel that rounds up like this computes.
"""

from __future__ import annotations

from dataclasses import dataclass

from .kinds import Kind
from .lane_arithmetic import opaque
from .recurrent_arithmetic import form_of
from .symbol import Atom, Form, Value, plus

_WORD = 32


@dataclass(frozen=True, slots=True)
class _Ceiling:
    """A quotient by a power of two that something is added to where it is not exact."""

    quotient: Atom
    dividend: Form
    bits: int


def with_ceiling(value: Value) -> Value:
    """Return a sum of 32 bits with one symbol for a quotient that is rounded up, if it has one; else as it is."""
    if not isinstance(value, Form):
        return value
    for choice, factor in value.terms:
        ceiling = _ceiling(choice)
        if ceiling is None or (ceiling.quotient, factor) not in value.terms:
            continue
        above = plus(ceiling.dividend, (1 << ceiling.bits) - 1)
        rounded = opaque(Kind.SAR, above, ceiling.bits, _WORD)
        others = tuple(each for each in value.terms if each[0] not in (choice, ceiling.quotient))
        return plus(Form(others, value.constant) if others else value.constant, rounded, factor)
    return value


def without_correction(form: Form, bits: int) -> Form | None:
    """Return x of `x + (x < 0 ? 2^bits - 1 : 0)`, None for another form."""
    for place, (name, factor) in enumerate(form.terms):
        match name.inner:
            case (Kind.SHR, sign, int(amount), int(width)) if (
                factor == 1 and width == _WORD and amount == _WORD - bits and len(form.terms) > 1
            ):
                rest = Form((*form.terms[:place], *form.terms[place + 1 :]), form.constant)
                if _is_sign_of(sign, rest):
                    return rest
            case _:
                continue
    return None


def _is_sign_of(part: object, form: Form) -> bool:
    """Tell whether an atom is all ones where a number is negative, and 0 else."""
    if not isinstance(part, Atom):
        return False
    match part.inner:
        case (Kind.SAR, inner, int(bits), int(width)):
            return width == _WORD and bits == _WORD - 1 and form_of(inner) == form
        case _:
            return False


def _ceiling(choice: Atom) -> _Ceiling | None:
    """Return the quotient that a choice of 1 or 0 rounds up; None for another atom."""
    match choice.inner:
        case (Kind.SELP, Atom() as condition, 1, 0) if condition.inner_kind is Kind.AND:
            first, second = condition.inner[1:]
        case _:
            return None
    for sign, rest in ((first, second), (second, first)):
        found = _with_rest(rest)
        if found is not None and _is_natural(sign, found.dividend):
            return found
    return None


def _with_rest(predicate: object) -> _Ceiling | None:
    """Return the quotient that is not exact where a predicate holds; None for another predicate."""
    match predicate.inner if isinstance(predicate, Atom) else ():
        case (Kind.CMP, ".ne", tuple(terms), int(constant), *_):
            pass
        case _:
            return None
    for name, factor in terms:
        match name.inner:
            case (Kind.AND, int(mask), Atom() as rounded) | (Kind.AND, Atom() as rounded, int(mask)) if (
                factor in (1, -1)
            ):
                bits = (~mask & (1 << _WORD) - 1).bit_length()
            case _:
                continue
        total = form_of(rounded)
        dividend = None if total is None else without_correction(total, bits)
        is_whole = mask == (1 << _WORD) - (1 << bits) and 0 < bits < _WORD - 1
        others = tuple((each, -factor * k) for each, k in terms if each != name)
        if is_whole and dividend == Form(others, -factor * constant):
            return _Ceiling(Atom((Kind.SAR, rounded, bits, _WORD)), dividend, bits)
    return None


def _is_natural(predicate: object, number: Form) -> bool:
    """Tell whether a predicate is that a number is not negative, or more than 0."""
    match predicate.inner if isinstance(predicate, Atom) else ():
        case (Kind.CMP, ".gt", tuple(terms), int(constant), *_):
            return terms == number.terms and constant - number.constant in (0, 1)
        case (Kind.CMP, ".ge", tuple(terms), int(constant), *_):
            return terms == number.terms and constant - number.constant in (-1, 0)
        case _:
            return False


__all__ = ["with_ceiling", "without_correction"]
