"""Abstract values of integer registers: linear expression × interval × known bits × congruence.

Property: a `Value` of width w stands for the numbers v, 0 ≤ v < 2^w, with `low` ≤ v ≤ `high`, every bit of
`ones` set, no bit outside `maybe` set, v ≡ `residue` modulo `modulus`, and v congruent to `linear` modulo
2^w. `exact` says that v equals `linear` evaluated over the integers with unsigned atoms: nothing wrapped
around. Lattice order is inclusion of these sets; `join` is an upper bound, and `widen` has no infinite
ascending chain (bounds jump to thresholds, known bits and congruence only lose). Modulus 0 means the constant
`residue`.

Not represented: floating-point values, sets of separate numbers, relations between two registers other than
through common atoms.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from math import gcd
from typing import NamedTuple

from .linear import (
    Atom,
    Linear,
    atom,
    centred,
)
from .linear import constant as linear_constant


class Value(NamedTuple):
    """What is known of one register, as an unsigned number."""

    width: int
    low: int
    high: int
    ones: int
    maybe: int
    modulus: int
    residue: int
    linear: Linear | None = None
    exact: bool = False

    @property
    def constant(self) -> int | None:
        """The only possible number, unsigned, or None."""
        return self.low if self.low == self.high else None

    @property
    def signed(self) -> int | None:
        """The only possible number, read as signed, or None."""
        return centred(self.low, self.width) if self.low == self.high else None

    @property
    def signed_range(self) -> tuple[int, int]:
        """Bounds of the number read as signed."""
        half = 1 << (self.width - 1)
        if self.high < half:
            return self.low, self.high
        if self.low >= half:
            return self.low - 2 * half, self.high - 2 * half
        return -half, half - 1

    def divisible(self, divisor: int) -> bool | None:
        """Tell whether the number is a multiple of `divisor`: yes, never, or not known (None)."""
        common = gcd(self.modulus, divisor)
        if self.residue % common if common else self.residue:
            return False
        return True if common == divisor else None

    def may_be(self, number: int) -> bool:
        """Tell whether the number is in the set."""
        within = (
            self.low <= number <= self.high and number & self.ones == self.ones and not number & ~self.maybe
        )
        return within and (
            (number - self.residue) % self.modulus == 0 if self.modulus else number == self.residue
        )

    def field(self, shift: int, length: int) -> int | None:
        """Return bits `shift` to `shift + length - 1` when all of them are known."""
        mask = (1 << length) - 1 << shift
        return (self.ones & mask) >> shift if (self.ones ^ self.maybe) & mask == 0 else None

    def with_linear(self, linear: Linear | None, *, exact: bool = False) -> Value:
        """Return the same numbers with another symbolic form; a constant keeps its own."""
        if self.low == self.high:
            return self
        return Value(*self[:7], linear, exact and linear is not None)

    def __str__(self) -> str:
        if self.low == self.high:
            return str(self.low)
        parts = [] if self.linear is None else [str(self.linear)]
        if self.low or self.high != (1 << self.width) - 1:
            parts.append(f"in [{self.low}, {self.high}]")
        if self.modulus > 1:
            parts.append(f"≡ {self.residue} mod {self.modulus}")
        return " ".join(parts) or "anything"


def top(width: int) -> Value:
    mask = (1 << width) - 1
    return Value(width, 0, mask, 0, mask, 1, 0)


def exactly(number: int, width: int) -> Value:
    """Return the value of one number, wrapped to `width` bits."""
    number &= (1 << width) - 1
    return Value(
        width,
        number,
        number,
        number,
        number,
        0,
        number,
        linear_constant(number, width),
        not number >> (width - 1),
    )


def between(low: int, high: int, width: int) -> Value:
    """Return the interval of unsigned numbers; the whole range where it does not fit."""
    if low < 0 or high >> width or low > high:
        return top(width)
    return reduced(width, low, high, 0, (1 << width) - 1, 1, 0) or top(width)


def of_atom(symbol: Atom, numbers: Value) -> Value:
    """Return the value of an atom that is one of `numbers`."""
    return numbers.with_linear(atom(symbol), exact=True)


def reduced(
    width: int, low: int, high: int, ones: int, maybe: int, modulus: int, residue: int
) -> Value | None:
    """Return the value of these constraints, each sharpened by the others; None when they contradict."""
    low = max(low, ones)
    high = min(high, maybe)
    if low > high:
        return None
    if modulus:
        spread = (1 << (low ^ high).bit_length()) - 1
        ones |= low & ~spread
        maybe &= low | spread
        modulus, residue, ones, maybe = _bits_and_congruence(modulus, residue, ones, maybe, width)
        if modulus < 0:
            return None
        low = max(low, ones)
        high = min(high, maybe)
        if modulus:
            low += (residue - low) % modulus
            high -= (high - residue) % modulus
    if not modulus:
        low, high = max(low, residue), min(high, residue)
    if low > high:
        return None
    if low == high:
        return exactly(low, width) if low & ones == ones and not low & ~maybe else None
    return Value(width, low, high, ones, maybe, modulus, residue % modulus)


def _bits_and_congruence(
    modulus: int, residue: int, ones: int, maybe: int, width: int
) -> tuple[int, int, int, int]:
    """Exchange what low known bits and the modulus say of each other; modulus -1 = contradiction."""
    residue %= modulus
    even = modulus & -modulus
    low_bits = even - 1
    ones |= residue & low_bits
    maybe &= ~low_bits | residue
    if ones & ~maybe:
        return -1, 0, 0, 0
    unknown = ones ^ maybe
    known = unknown & -unknown if unknown else 1 << width
    if known > even:
        odd = modulus // even
        target = ones & (known - 1)
        if odd == 1:
            return known, target, ones, maybe
        step = (target - residue) // even * pow(odd, -1, known // even) % (known // even)
        return odd * known, residue + modulus * step, ones, maybe
    return modulus, residue, ones, maybe


def join(a: Value, b: Value) -> Value:
    """Return a value that contains both (of one width)."""
    if a == b:
        return a
    modulus = gcd(a.modulus, b.modulus, abs(a.residue - b.residue))
    same = a.linear is not None and a.linear == b.linear
    value = reduced(
        a.width,
        min(a.low, b.low),
        max(a.high, b.high),
        a.ones & b.ones,
        a.maybe | b.maybe,
        modulus,
        a.residue,
    )
    assert value is not None, "a union of non-empty sets is not empty"
    return value.with_linear(a.linear, exact=a.exact and b.exact) if same else value


def meet(a: Value, b: Value) -> Value | None:
    """Return the numbers in both, with the symbolic form of `a`; None when there are none."""
    modulus, residue = a.modulus, a.residue
    if b.modulus == 0 or (modulus and b.modulus > modulus):
        modulus, residue = b.modulus, b.residue
    value = reduced(
        a.width, max(a.low, b.low), min(a.high, b.high), a.ones | b.ones, a.maybe & b.maybe, modulus, residue
    )
    return None if value is None else value.with_linear(a.linear, exact=a.exact)


def widen(old: Value, new: Value, thresholds: Sequence[int] = ()) -> Value:
    """Return an upper bound of both whose bounds are old ones, sorted `thresholds`, or extreme."""
    joined = join(old, new)
    mask = (1 << old.width) - 1
    low, high = joined.low, joined.high
    if low < old.low:
        at = bisect_right(thresholds, low)
        low = thresholds[at - 1] if at else 0
    if high > old.high:
        at = bisect_left(thresholds, high)
        high = thresholds[at] if at < len(thresholds) else mask
    value = reduced(
        old.width, max(low, 0), min(high, mask), joined.ones, joined.maybe, joined.modulus, joined.residue
    )
    assert value is not None, "a superset of a non-empty set is not empty"
    return value.with_linear(joined.linear, exact=False)
