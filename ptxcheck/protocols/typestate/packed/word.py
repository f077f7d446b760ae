"""A packed word: bits of sums at known places, and constant bits everywhere else.

Property: the machine word is `constant` plus each segment's sum, shifted to its place. A segment's sum fits into
its length; of sums with an address of shared memory this is *taken for granted*: an address of shared memory, and
an address plus an offset, is below 2^18 (the largest shared memory is 227 KiB), whatever rank bits a cluster puts
from bit 24 up. `Segment.top` keeps track of these bits, so that code that forgets to mask them is still seen. Of other
sums it is taken for granted where `Segment.carries` says so: a constant was added that the field may have no room for.

Not represented: products of unknowns, bits that depend on several sums, rotated words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from ....cfg.linear import Atom

SHARED_BITS = 18
MAX_TERMS = 10


class Piece(NamedTuple):
    """Bits `low` to `low + length - 1` of a sum, as a number."""

    source: Sum
    low: int
    length: int

    def __str__(self) -> str:
        return f"({self.source})[{self.low}:{self.low + self.length}]"


Symbol: TypeAlias = Atom | Piece


class Sum(NamedTuple):
    """`sum(factor * symbol) + constant`, terms in a fixed order."""

    terms: tuple[tuple[Symbol, int], ...]
    constant: int = 0

    def __str__(self) -> str:
        parts = [str(symbol) if factor == 1 else f"{factor}*{symbol}" for symbol, factor in self.terms]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts)

    def plus(self, other: Sum) -> Sum | None:
        """Return the sum of both, None when it is too long."""
        found = dict(self.terms)
        for symbol, factor in other.terms:
            found[symbol] = found.get(symbol, 0) + factor
        terms = sorted(((s, f) for s, f in found.items() if f), key=_order)
        if len(terms) > MAX_TERMS:
            return None
        return Sum(tuple(terms), self.constant + other.constant)

    def times(self, factor: int) -> Sum:
        return Sum(tuple((symbol, count * factor) for symbol, count in self.terms), self.constant * factor)

    def divided(self, divisor: int) -> Sum | None:
        """Return the sum divided by a number that divides all of it, else None."""
        if self.constant % divisor or any(factor % divisor for _, factor in self.terms):
            return None
        return Sum(
            tuple((symbol, factor // divisor) for symbol, factor in self.terms), self.constant // divisor
        )


def _order(term: tuple[Symbol, int]) -> tuple[str, int]:
    return str(term[0]), term[1]


@dataclass(frozen=True, slots=True)
class Segment:
    """Bits `shift` to `shift + length - 1` of a word, which hold a sum."""

    shift: int
    length: int
    sum: Sum
    dropped: int | None = None
    """How many low bits of a shared-memory address are missing at the segment's bit 0; None for no address."""
    top: int = 0
    """First bit of the address' register that is surely cut off; 0 for no address."""
    generic: bool = False
    """The address is a generic one: the bits from 18 up are those of the shared window."""
    room: int = 0
    """What can be added at least with the sum still in its length; 0 for an address."""
    carries: bool = False
    """Nothing shows that the sum is in its length: the bits behind it may differ by what it carries there."""

    @property
    def end(self) -> int:
        return self.shift + self.length

    @property
    def mask(self) -> int:
        return (1 << self.length) - 1 << self.shift

    @property
    def is_address(self) -> bool:
        return self.dropped is not None

    def moved(self, by: int) -> Segment:
        return replace(self, shift=self.shift + by)


@dataclass(frozen=True, slots=True)
class Word:
    """Segments in order, disjoint; constant bits are zero where segments are."""

    width: int
    segments: tuple[Segment, ...] = ()
    constant: int = 0

    @property
    def occupied(self) -> int:
        """Return the bits that segments fill."""
        mask = 0
        for segment in self.segments:
            mask |= segment.mask
        return mask

    @property
    def number(self) -> int | None:
        """Return the only number that the word can be, or None."""
        return None if self.segments else self.constant

    def overlapping(self, low: int, length: int) -> Iterator[Segment]:
        """Yield the segments with bits in a range."""
        yield from (s for s in self.segments if s.shift < low + length and low < s.end)

    # ---- bits

    def masked(self, mask: int) -> Word | None:
        """Return the word with only the bits of a mask, None when a segment is cut into several parts."""
        found: list[Segment] = []
        for segment in self.segments:
            kept = mask >> segment.shift & ((1 << segment.length) - 1)
            # Bits of the address that were assumed to be zero may be kept, too.
            part = _cut(segment, kept, mask >> segment.shift)
            if part is None:
                return None
            carries = segment.carries and self._keeps_carry(segment.end, mask)
            if carries and not part:
                return None
            found += (replace(each, carries=carries) for each in part)
        return Word(self.width, tuple(found), self.constant & mask)

    def _keeps_carry(self, bit: int, mask: int) -> bool:
        """Tell whether what a segment carries into the bit behind it may get past a mask."""
        is_free = not (self.occupied | self.constant) >> bit & 1
        return bit < self.width and not (is_free and not mask >> bit & 1)

    def right(self, amount: int) -> Word | None:
        """Return the word shifted right, zeros from the left."""
        kept = self.masked(~((1 << amount) - 1) & ((1 << self.width) - 1))
        if kept is None:
            return None
        return Word(self.width, tuple(s.moved(-amount) for s in kept.segments), kept.constant >> amount)

    def left(self, amount: int) -> Word | None:
        """Return the word shifted left."""
        if amount >= self.width:
            return Word(self.width)
        kept = self.masked((1 << self.width - amount) - 1)
        if kept is None:
            return None
        return Word(self.width, tuple(s.moved(amount) for s in kept.segments), kept.constant << amount)

    def resized(self, width: int) -> Word | None:
        """Return the low bits, or the same number in a wider word."""
        if width >= self.width:
            return replace(self, width=width)
        kept = self.masked((1 << width) - 1)
        return None if kept is None else replace(kept, width=width)

    # ---- sums

    def plus_constant(self, number: int) -> Word | None:
        """Return the word plus a number, which falls into segments or between them."""
        full = (1 << self.width) - 1
        number &= full
        if not self.segments:
            return Word(self.width, (), self.constant + number & full)
        reach = max(segment.end for segment in self.segments)
        if full + 1 - number < 1 << reach and reach < self.width:
            return self._minus(full + 1 - number)
        total = self.constant + number
        if total > full:
            return None
        segments = tuple(_raised(s, (total & s.mask) >> s.shift) for s in self.segments)
        return Word(self.width, segments, total & ~self.occupied)

    def _minus(self, number: int) -> Word | None:
        """Return the word less a number that one segment alone takes."""
        for index, segment in enumerate(self.segments):
            low, left_over = divmod(number, 1 << segment.shift)
            if left_over == 0 and number < 1 << segment.end:
                lowered = _raised(segment, -low)
                return replace(self, segments=(*self.segments[:index], lowered, *self.segments[index + 1 :]))
        return None

    def plus(self, other: Word) -> Word | None:
        """Return the sum of two words: disjoint parts side by side, overlapping ones as one sum."""
        merged = list(self.segments)
        for segment in other.segments:
            touching = [s for s in merged if s.shift < segment.end and segment.shift < s.end]
            for one in touching:
                merged.remove(one)
                both = _together(one, segment)
                if both is None:
                    return None
                segment = both
            merged.append(segment)
        merged.sort(key=lambda s: s.shift)
        if any(a.end > b.shift for a, b in pairwise(merged)):
            return None
        constant = self.constant + other.constant
        sum_of_both = Word(self.width, tuple(merged))
        return sum_of_both.plus_constant(constant) if constant >> self.width == 0 else None

    def minus(self, other: Word) -> Word | None:
        """Return an address less another word; None for any other difference."""
        if other.number is not None:
            return self.plus_constant(-other.number)
        if self.constant or other.constant or len(self.segments) != 1 or len(other.segments) != 1:
            return None
        whole, part = self.segments[0], other.segments[0]
        if not whole.is_address or part.is_address:
            return None
        both = _together(whole, replace(part, sum=part.sum.times(-1)))
        return None if both is None else Word(self.width, (both,))

    def times(self, factor: int) -> Word | None:
        """Return the word times a small positive number."""
        if factor <= 0:
            return Word(self.width) if factor == 0 else None
        if factor & (factor - 1) == 0:
            return self.left(factor.bit_length() - 1)
        if len(self.segments) != 1 or self.segments[0].is_address:
            return None
        one = self.segments[0]
        length = min(one.length + factor.bit_length(), self.width - one.shift)
        constant = self.constant * factor
        return Word(
            self.width, (replace(one, length=length, sum=one.sum.times(factor), room=0),)
        ).plus_constant(constant)

    def either(self, other: Word, opaque: Sum) -> Word | None:
        """Return a word that stands for both, with an opaque sum where they differ; None for another shape."""
        if self == other:
            return self
        if self.constant != other.constant or len(self.segments) != len(other.segments):
            return None
        found: list[Segment] = []
        for a, b in zip(self.segments, other.segments, strict=True):
            if a == b:
                found.append(a)
                continue
            if (a.shift, a.dropped) != (b.shift, b.dropped) or (a.length != b.length and not a.is_address):
                return None
            unknown = Sum(((Piece(opaque, a.shift, max(a.length, b.length)), 1),))
            found.append(
                Segment(
                    a.shift,
                    max(a.length, b.length),
                    unknown,
                    a.dropped,
                    max(a.top, b.top),
                    a.generic or b.generic,
                    carries=a.carries or b.carries,
                )
            )
        return Word(self.width, tuple(found), self.constant)


def _cut(segment: Segment, kept: int, beyond: int) -> list[Segment] | None:
    """Return the part of a segment that a mask keeps; `beyond` is the mask from the segment's bit 0 up."""
    full = (1 << segment.length) - 1
    top = segment.top
    if segment.is_address:
        assert segment.dropped is not None
        # The first bit from the segment's end up that the mask clears ends the bits that are kept unseen.
        run = segment.length
        while beyond >> run & 1 and segment.dropped + run < top:
            run += 1
        if kept >> (segment.length - 1) & 1:
            top = min(top, segment.dropped + run)
        else:
            top = min(top, segment.dropped + kept.bit_length())
    if kept == full:
        return [replace(segment, top=top)]
    if kept == 0:
        return []
    low = (kept & -kept).bit_length() - 1
    length = kept.bit_length() - low
    if kept != (1 << length) - 1 << low:
        return None
    dropped = None if segment.dropped is None else segment.dropped + low
    divided = segment.sum.divided(1 << low) if low else None
    if divided is not None and low + length == segment.length:
        return [Segment(segment.shift + low, length, divided, dropped, top, segment.generic)]
    piece = _piece(segment.sum, low, length)
    return [Segment(segment.shift + low, length, Sum(((piece, 1),)), dropped, top, segment.generic)]


def _piece(total: Sum, low: int, length: int) -> Piece:
    """Return bits of a sum; bits of bits are bits of the first."""
    if len(total.terms) == 1 and not total.constant:
        symbol, factor = total.terms[0]
        if factor == 1 and isinstance(symbol, Piece):
            return Piece(symbol.source, symbol.low + low, min(length, symbol.length - low))
    return Piece(total, low, length)


def _raised(segment: Segment, by: int) -> Segment:
    if not by:
        return segment
    total = segment.sum._replace(constant=segment.sum.constant + by)
    fits = segment.is_address or 0 <= by <= segment.room
    room = max(segment.room - by, 0) if fits else 0
    return replace(segment, sum=total, room=room, carries=segment.carries or not fits)


def _together(a: Segment, b: Segment) -> Segment | None:
    """Return one segment for the sum of two: as long as the address among them, or one bit longer than both."""
    shift = min(a.shift, b.shift)
    total = a.sum.times(1 << a.shift - shift).plus(b.sum.times(1 << b.shift - shift))
    if total is None:
        return None
    address = a if a.is_address else b
    if not address.is_address:
        return Segment(shift, max(a.end, b.end) + 1 - shift, total, carries=a.carries or b.carries)
    if a.is_address and b.is_address:
        return None
    assert address.dropped is not None
    dropped = address.dropped - (address.shift - shift)
    if dropped < 0:
        return None
    carries = a.carries or b.carries or max(a.end, b.end) > address.end
    return Segment(shift, address.end - shift, total, dropped, address.top, address.generic, carries=carries)
