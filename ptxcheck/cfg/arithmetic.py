"""Integer arithmetic on abstract values, sound for wrap-around at the width of the operands.

Property: for all numbers x in `a` and y in `b`, the machine result is in `f(a, b)`.
"""

from __future__ import annotations

from math import gcd

from . import linear
from .values import (
    Value,
    between,
    exactly,
    join,
    reduced,
    top,
)

_SHIFT_CASES = 64


def add(a: Value, b: Value) -> Value:
    """a + b modulo 2^width."""
    width = a.width
    mask = (1 << width) - 1
    low, high = a.low + b.low, a.high + b.high
    exact = high <= mask
    modulus, residue = gcd(a.modulus, b.modulus), a.residue + b.residue
    if low > mask:
        low, high = low - mask - 1, high - mask - 1
        modulus = gcd(modulus, mask + 1)
    elif not exact:
        low, high = 0, mask
        modulus = gcd(modulus, mask + 1)
    ones, maybe = _sum_bits(a.ones, a.maybe, b.ones, b.maybe, 0, mask)
    value = _value(width, low, high, ones, maybe, modulus, residue)
    negative = b.constant is not None and b.high > mask >> 1 and a.low >= mask + 1 - b.high
    no_wrap = a.exact and ((exact and b.exact) or negative) and _are_small(a, b)
    return value.with_linear(linear.plus(a.linear, b.linear, width), exact=no_wrap)


def sub(a: Value, b: Value) -> Value:
    """a - b modulo 2^width."""
    width = a.width
    mask = (1 << width) - 1
    low, high = a.low - b.high, a.high - b.low
    modulus, residue = gcd(a.modulus, b.modulus), a.residue - b.residue
    exact = low >= 0
    if high < 0:
        low, high = low + mask + 1, high + mask + 1
        modulus, residue = gcd(modulus, mask + 1), residue + mask + 1
    elif not exact:
        low, high = 0, mask
        modulus = gcd(modulus, mask + 1)
    ones, maybe = _sum_bits(a.ones, a.maybe, mask & ~b.maybe, mask & ~b.ones, 1, mask)
    value = _value(width, low, high, ones, maybe, modulus, residue)
    difference = linear.plus(a.linear, b.linear, width, -1)
    if difference is not None and difference.is_constant:
        return exactly(difference.constant, width)
    return value.with_linear(difference, exact=exact and a.exact and b.exact and _are_small(a, b))


def _are_small(a: Value, b: Value) -> bool:
    return linear.is_small(a.linear, a.width) and linear.is_small(b.linear, b.width)


def _sum_bits(a_ones: int, a_maybe: int, b_ones: int, b_maybe: int, carry: int, mask: int) -> tuple[int, int]:
    """Known bits of a sum: a bit is known where both addends and the carry into it are."""
    most = a_maybe + b_maybe + carry
    least = a_ones + b_ones + carry
    carry_zero = ~(most ^ a_maybe ^ b_maybe)
    carry_one = least ^ a_ones ^ b_ones
    known = ~(a_ones ^ a_maybe) & ~(b_ones ^ b_maybe) & (carry_zero | carry_one)
    return least & known & mask, (most | ~known) & mask


def mul(a: Value, b: Value) -> Value:
    """a * b modulo 2^width."""
    if a.constant is not None:
        a, b = b, a
    width = a.width
    mask = (1 << width) - 1
    factor = b.constant
    if factor == 1:
        return a
    exact = a.high * b.high <= mask
    low, high = (a.low * b.low, a.high * b.high) if exact else (0, mask)
    modulus = gcd(a.modulus * b.modulus, a.modulus * b.residue, b.modulus * a.residue)
    if not exact:
        modulus = gcd(modulus, mask + 1)
    ones, maybe = 0, mask
    if factor is not None and factor & (factor - 1) == 0:
        ones, maybe = a.ones * factor & mask, a.maybe * factor & mask
    value = _value(width, low, high, ones, maybe, modulus, a.residue * b.residue)
    if factor is None:
        return value
    scaled = linear.times(a.linear, linear.centred(factor, width), width)
    room = width - factor.bit_length()
    no_wrap = exact and a.exact and b.exact and room > 1 and linear.is_small(a.linear, room)
    return value.with_linear(scaled, exact=no_wrap)


def mul_wide(a: Value, b: Value, signed: bool) -> Value:
    """The whole product, of twice the width."""
    width = a.width * 2
    if signed:
        return mul(sign_extend(a, width), sign_extend(b, width))
    return mul(zero_extend(a, width), zero_extend(b, width))


def mul_high(a: Value, b: Value, signed: bool) -> Value:
    """The upper half of the product."""
    return truncate(shift_right(mul_wide(a, b, signed), a.width, signed), a.width)


def negate(a: Value) -> Value:
    return sub(exactly(0, a.width), a)


def shift_left(a: Value, amount: Value) -> Value:
    """a << amount; zero when the amount is the width or more."""
    shift = amount.constant
    if shift is not None:
        return exactly(0, a.width) if shift >= a.width else mul(a, exactly(1 << shift, a.width))
    if amount.low >= a.width:
        return exactly(0, a.width)
    cases = range(amount.low, min(amount.high, a.width) + 1)
    if len(cases) <= _SHIFT_CASES and a.constant is not None:
        return _union(
            tuple(
                shift_left(a, exactly(case, 32)) for case in cases if amount.may_be(case) or case == a.width
            )
        )
    zeros = (a.maybe & -a.maybe).bit_length() - 1 + amount.low if a.maybe else a.width
    if zeros >= a.width:
        return exactly(0, a.width)
    return _value(a.width, 0, (1 << a.width) - 1, 0, (1 << a.width) - 1, 1 << zeros, 0)


def shift_right(a: Value, amount: int, signed: bool) -> Value:
    """a >> amount for a known amount, which is clamped to the width."""
    width = a.width
    if signed and a.high >> (width - 1):
        return _arithmetic_shift(a, min(amount, width - 1))
    if amount >= width:
        return exactly(0, width)
    step = 1 << amount
    whole = a.modulus % step == 0
    modulus, residue = (a.modulus // step, a.residue // step) if whole else (1, 0)
    value = _value(
        width, a.low >> amount, a.high >> amount, a.ones >> amount, a.maybe >> amount, modulus, residue
    )
    if not a.exact or a.ones & (step - 1) or a.maybe & (step - 1):
        return value
    form = linear.divided(a.linear, step)
    return value.with_linear(form, exact=form is not None)


def _arithmetic_shift(a: Value, amount: int) -> Value:
    width = a.width
    mask = (1 << width) - 1
    sign = 1 << (width - 1)
    fill = mask & ~(mask >> amount)
    ones = a.ones >> amount | (fill if a.ones & sign else 0)
    maybe = a.maybe >> amount | (fill if a.maybe & sign else 0)
    low, high = a.signed_range
    value = from_signed(low >> amount, high >> amount, width)
    return _value(width, value.low, value.high, ones, maybe, 1, 0)


def shift_right_by(a: Value, amount: Value, signed: bool) -> Value:
    """a >> amount for any amount."""
    if amount.constant is not None:
        return shift_right(a, amount.constant, signed)
    if signed:
        low, high = a.signed_range
        return from_signed(min(low, 0), max(high, 0), a.width)
    return between(0, a.high >> min(amount.low, a.width), a.width)


def from_signed(low: int, high: int, width: int) -> Value:
    """Return the interval of signed numbers."""
    half = 1 << (width - 1)
    if low < -half or high >= half or low < 0 <= high:
        return top(width)
    return between(low, high, width) if low >= 0 else between(low + 2 * half, high + 2 * half, width)


def zero_extend(a: Value, width: int) -> Value:
    """The same number in a wider register."""
    if width <= a.width:
        return truncate(a, width)
    value = _value(width, a.low, a.high, a.ones, a.maybe, a.modulus, a.residue)
    return value.with_linear(linear.resized(a.linear, width), exact=True) if a.exact else value


def sign_extend(a: Value, width: int) -> Value:
    """The same signed number in a wider register."""
    half = 1 << (a.width - 1)
    if width <= a.width:
        return truncate(a, width)
    if a.high < half:
        return zero_extend(a, width)
    fill = (1 << width) - (1 << a.width)
    ones = a.ones | (fill if a.ones & half else 0)
    low, high = a.signed_range
    numbers = from_signed(low, high, width)
    modulus = gcd(a.modulus, 2 * half)
    return _value(width, numbers.low, numbers.high, ones, a.maybe | fill, modulus, a.residue)


def truncate(a: Value, width: int) -> Value:
    """The low bits of a number."""
    if width >= a.width:
        return a if width == a.width else zero_extend(a, width)
    mask = (1 << width) - 1
    form = linear.resized(a.linear, width)
    if a.high <= mask:
        return _value(width, a.low, a.high, a.ones, a.maybe, a.modulus, a.residue).with_linear(
            form, exact=a.exact and linear.is_small(a.linear, width)
        )
    if a.low >> width == a.high >> width:
        low, high = a.low & mask, a.high & mask
    else:
        low, high = 0, mask
    modulus = gcd(a.modulus, mask + 1)
    value = _value(width, low, high, a.ones & mask, a.maybe & mask, modulus, a.residue)
    return value.with_linear(form)


def divide(a: Value, b: Value) -> Value:
    """Unsigned a / b."""
    if b.low == 0:
        return top(a.width)
    if b.constant is not None and b.low & (b.low - 1) == 0:
        return shift_right(a, b.low.bit_length() - 1, signed=False)
    return between(a.low // b.high, a.high // b.low, a.width)


def remainder(a: Value, b: Value) -> Value:
    """Unsigned a mod b."""
    if b.low == 0:
        return top(a.width)
    if a.high < b.low:
        return a
    divisor = b.constant
    if divisor is None:
        return between(0, min(a.high, b.high - 1), a.width)
    modulus = gcd(a.modulus, divisor)
    return _value(a.width, 0, divisor - 1, 0, (1 << a.width) - 1, modulus, a.residue)


def minimum(a: Value, b: Value) -> Value:
    """Unsigned minimum."""
    if a.high <= b.low:
        return a
    if b.high <= a.low:
        return b
    return _clamped(join(a, b), min(a.low, b.low), min(a.high, b.high))


def maximum(a: Value, b: Value) -> Value:
    """Unsigned maximum."""
    if a.low >= b.high:
        return a
    if b.low >= a.high:
        return b
    return _clamped(join(a, b), max(a.low, b.low), max(a.high, b.high))


def signed_extreme(a: Value, b: Value, largest: bool) -> Value:
    """Signed minimum or maximum."""
    half = 1 << (a.width - 1)
    if a.high < half and b.high < half:
        return maximum(a, b) if largest else minimum(a, b)
    (a_low, a_high), (b_low, b_high) = a.signed_range, b.signed_range
    pick = max if largest else min
    numbers = from_signed(pick(a_low, b_low), pick(a_high, b_high), a.width)
    return _clamped(join(a, b), numbers.low, numbers.high)


def _clamped(value: Value, low: int, high: int) -> Value:
    return _value(
        value.width,
        max(low, value.low),
        min(high, value.high),
        value.ones,
        value.maybe,
        value.modulus,
        value.residue,
    ).with_linear(value.linear)


def _union(values: tuple[Value, ...]) -> Value:
    result = values[0]
    for value in values[1:]:
        result = join(result, value)
    return result


def _value(width: int, low: int, high: int, ones: int, maybe: int, modulus: int, residue: int) -> Value:
    """Return the value of facts that hold together, because some number meets all of them."""
    return reduced(width, low, high, ones, maybe, modulus, residue) or top(width)
