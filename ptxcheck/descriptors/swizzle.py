"""How a swizzle moves the bytes of a box in shared memory.

A swizzle exchanges atoms within a span by an exclusive or of address bits (PTX ISA, tensor swizzling
modes; CuTe's Swizzle<bits, base, shift>). Addresses are those of shared memory, so a box that does not
start on a multiple of the repeat sees the pattern shifted.
"""

from __future__ import annotations

from dataclasses import dataclass

from ptxcheck.descriptors.fields import Swizzle

BANKS = 32
BANK_BYTES = 4
ROW_BYTES = BANKS * BANK_BYTES
COPY_ALIGNMENT = 128
"""Bytes: a tensor copy's shared-memory address is a multiple of this, swizzled or not."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """An exclusive or of `bits` address bits from `base + shift` up into those from `base` up."""

    bits: int
    base: int
    shift: int

    @property
    def atom(self) -> int:
        """Return the bytes that stay together."""
        return 1 << self.base

    @property
    def span(self) -> int:
        """Return the bytes within which atoms move."""
        return 1 << (self.base + self.bits)

    @property
    def repeat(self) -> int:
        """Return after how many bytes the pattern starts again."""
        return 1 << (self.base + self.shift + self.bits)

    def place(self, address: int) -> int:
        """Return where the byte that an unswizzled copy puts at `address` goes; its own inverse."""
        return address ^ (((address >> (self.base + self.shift)) & ((1 << self.bits) - 1)) << self.base)


PATTERNS: dict[int, Pattern] = {
    Swizzle.SWIZZLE_NONE: Pattern(0, 4, 3),
    Swizzle.SWIZZLE_32B: Pattern(1, 4, 3),
    Swizzle.SWIZZLE_64B: Pattern(2, 4, 3),
    Swizzle.SWIZZLE_128B: Pattern(3, 4, 3),
    Swizzle.SWIZZLE_128B_ATOM_32B: Pattern(2, 5, 2),
}
"""Known patterns. Not modelled: the exchange of 8-byte halves and the atom of 64 bytes (capability 10.0)."""


def pattern(swizzle: int) -> Pattern | None:
    """Return the pattern of a swizzle mode, or None where it is not modelled."""
    return PATTERNS.get(swizzle)


def alignment(swizzle: int) -> int:
    """Return the bytes to which a stage must be aligned for its pattern to start at its first byte."""
    if swizzle > Swizzle.SWIZZLE_128B:
        return 1024
    known = PATTERNS.get(swizzle)
    if known is None or swizzle == Swizzle.SWIZZLE_NONE:
        return COPY_ALIGNMENT
    return max(COPY_ALIGNMENT, known.repeat)
