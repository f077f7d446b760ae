"""Bitwise operations on abstract values.

Property: for all numbers in the operands, the machine result is in the result. Masks that only remove known
bits, and disjoint `or`, keep the linear expression: they are a subtraction and an addition.
"""

from __future__ import annotations

from .arithmetic import (
    add,
    mul,
    shift_right,
    sub,
    truncate,
    zero_extend,
)
from .values import (
    Value,
    exactly,
    reduced,
    top,
)

AND_TABLE, OR_TABLE, XOR_TABLE = 0xC0, 0xFC, 0x3C
"""Truth tables of two-input operations, as `lop3` writes them (third input ignored)."""


def bit_and(a: Value, b: Value) -> Value:
    if a.constant is not None:
        a, b = b, a
    mask = b.constant
    removed = a.maybe & ~mask if mask is not None else -1
    if removed == 0:
        return a
    if mask is not None and (a.ones ^ a.maybe) & ~mask == 0:
        return sub(a, exactly(a.ones & ~mask, a.width))
    return _make(a.width, a.ones & b.ones, a.maybe & b.maybe, 0, min(a.high, b.high))


def bit_or(a: Value, b: Value) -> Value:
    if a.maybe & b.maybe == 0:
        return add(a, b)
    return _make(a.width, a.ones | b.ones, a.maybe | b.maybe, max(a.low, b.low), (1 << a.width) - 1)


def bit_xor(a: Value, b: Value) -> Value:
    if a.maybe & b.maybe == 0:
        return add(a, b)
    if a.constant is not None:
        a, b = b, a
    flipped = b.constant
    if flipped == (1 << a.width) - 1:
        return sub(b, a)
    if flipped is not None and flipped & (a.ones ^ a.maybe) == 0:
        kept = sub(a, exactly(a.ones & flipped, a.width))
        return add(kept, exactly(flipped & ~a.ones, a.width))
    ones = a.ones & ~b.maybe | b.ones & ~a.maybe
    return _make(a.width, ones, (a.maybe | b.maybe) & ~(a.ones & b.ones), 0, (1 << a.width) - 1)


def bit_not(a: Value) -> Value:
    return bit_xor(a, exactly(-1, a.width))


def lop3(a: Value, b: Value, c: Value, table: int) -> Value:
    """Return the bitwise function of three inputs that `table` gives, bit `abc` for inputs a, b, c."""
    mask = (1 << a.width) - 1
    match table:
        case 0xC0:
            return bit_and(a, b)
        case 0xFC:
            return bit_or(a, b)
        case 0x3C:
            return bit_xor(a, b)
    possible = [0, 0]
    for row in range(8):
        here = mask
        for value, bit in ((a, row >> 2), (b, row >> 1), (c, row)):
            here &= value.maybe if bit & 1 else ~value.ones
        possible[table >> row & 1] |= here
    return _make(a.width, possible[1] & ~possible[0], possible[1], 0, mask)


def extract(a: Value, start: int, length: int, signed: bool) -> Value:
    """Return `length` bits from bit `start` (`bfe`)."""
    width = a.width
    if length == 0:
        return exactly(0, width)
    if start >= width or start + length > width:
        return _beyond(a, start, signed)
    field = shift_right(a, start, signed=False)
    low = bit_and(field, exactly((1 << length) - 1, width))
    if not signed or length == width:
        return low
    sign = 1 << (length - 1)
    return sub(bit_xor(low, exactly(sign, width)), exactly(sign, width))


def _beyond(a: Value, start: int, signed: bool) -> Value:
    if signed:
        return top(a.width)
    return shift_right(a, start, signed=False)


def insert(field: Value, base: Value, start: int, length: int) -> Value:
    """Return `base` with `length` bits from bit `start` replaced by the low bits of `field` (`bfi`)."""
    width = base.width
    if start >= width or length == 0:
        return base
    mask = (1 << min(length, width - start)) - 1
    low = bit_and(field, exactly(mask, width))
    moved = _make(width, low.ones << start, low.maybe << start, low.low << start, low.high << start)
    return bit_or(bit_and(base, exactly(~(mask << start), width)), moved)


def concatenate(parts: tuple[Value, ...], width: int) -> Value:
    """Return the number whose low part is `parts[0]`, then `parts[1]`, …"""
    total = exactly(0, width)
    at = 0
    for part in parts:
        wide = zero_extend(part, width)
        total = bit_or(total, mul(wide, exactly(1 << at, width)))
        at += part.width
    return total


def slice_of(whole: Value, index: int, width: int) -> Value:
    """Return part number `index` of `width` bits, counted from the low end."""
    return truncate(shift_right(whole, index * width, signed=False), width)


def permute(a: Value, b: Value, selector: int) -> Value:
    """Return `prmt` in its default mode with a known selector."""
    ones = maybe = 0
    source_ones, source_maybe = a.ones | b.ones << 32, a.maybe | b.maybe << 32
    for position in range(4):
        pick = selector >> 4 * position & 0xF
        byte_ones = source_ones >> 8 * (pick & 7) & 0xFF
        byte_maybe = source_maybe >> 8 * (pick & 7) & 0xFF
        if pick & 8:
            byte_ones, byte_maybe = (0xFF if byte_ones & 0x80 else 0), (0xFF if byte_maybe & 0x80 else 0)
        ones |= byte_ones << 8 * position
        maybe |= byte_maybe << 8 * position
    identity = {0x3210: a, 0x7654: b}.get(selector)
    return identity or _make(32, ones, maybe, 0, 0xFFFFFFFF)


def population(a: Value, width: int = 32) -> Value:
    """Return the number of set bits."""
    return _make(width, 0, (1 << width) - 1, a.ones.bit_count(), a.maybe.bit_count())


def _make(width: int, ones: int, maybe: int, low: int, high: int) -> Value:
    return reduced(width, low, high, ones, maybe, 1, 0) or top(width)
