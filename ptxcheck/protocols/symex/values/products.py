"""Products of symbols, each with one name however a compiler has written it.

Property: `expanded` gives the low bits of a product of two sums: of numbers that are equal modulo 2^w, equal ones.

Argument: a product of sums is the sum of the products of their terms. `x & -2^k` is `2^k * (x >> k)`, as the shift
of a number with a sign loses just the bits that the mask clears. `x / y * y` is x without the rest, by what a rest is
(PTX ISA, `div` and `rem`): so that `x - x / y * y` has the name of `x % y`. Of a division by zero PTX leaves both
open; `lane_arithmetic` takes all ones and x, for which it holds.

Not covered: products of more terms than are multiplied out, and quotients that are computed by a reciprocal.
"""

from __future__ import annotations

from .kinds import Kind
from .recurrent_arithmetic import form_of
from .symbol import Atom, Form, atom, plus


def expanded(a: Form, b: Form, width: int) -> Form | int:
    """Return the low `width` bits of a product as a sum of products of atoms."""
    a, b = _shifted_out(a, width), _shifted_out(b, width)
    total: Form | int = a.constant * b.constant
    if b.constant:
        total = plus(total, Form(a.terms), b.constant)
    if a.constant:
        total = plus(total, Form(b.terms), a.constant)
    for one, factor in a.terms:
        for other, second in b.terms:
            total = plus(total, _product(one, other, width), factor * second)
    return total


def _product(one: Atom, other: Atom, width: int) -> Form | int:
    without_rest = _without_rest(one, other, width) or _without_rest(other, one, width)
    if without_rest is not None:
        return without_rest
    first, last = sorted((one, other), key=lambda each: each.digest)
    return atom(Kind.MUL, first, last)


def _without_rest(quotient: Atom, factor: Atom, width: int) -> Form | int | None:
    """Return the product of a quotient and what was divided by: what was divided, without the rest; else None."""
    match quotient.inner:
        case (Kind.DIV, dividend, Atom() as divisor, int(divided), is_signed) if (
            divided == width and divisor == factor
        ):
            whole = dividend if isinstance(dividend, int) else form_of(dividend)
            rest = atom(Kind.REM, dividend, divisor, width, is_signed)
            return None if whole is None else plus(whole, rest, -1)
        case _:
            return None


def _shifted_out(value: Form, width: int) -> Form:
    """Return a form with 2^k * (x >> k) in place of x & -2^k: a compiler writes either for the same factor."""
    total: Form | int = value.constant
    for name, factor in value.terms:
        kind, *parts = name
        low = -int(parts[0]) & (1 << width) - 1 if kind == Kind.AND and isinstance(parts[0], int) else 0
        if low.bit_count() == 1 and len(parts) == 2:
            total = plus(total, atom(Kind.SAR, parts[1], low.bit_length() - 1, width), factor * low)
        else:
            total = plus(total, Form(((name, factor),)))
    assert isinstance(total, Form)
    return total


__all__ = ["expanded"]
