"""Swizzle modes of operands in shared memory, and the four ways in which they are numbered.

The same pattern has another number in a wgmma descriptor, in a tcgen05 descriptor, in a tensor map and in the
operand of `tensormap.replace`. Sources: PTX ISA §9.7.16.5.1 and 9.7.17.4.1 (matrix descriptors), 9.7.9.28
(tensormap.replace), and CUtensorMapSwizzle of cuda.h.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from ..fields import Swizzle
from ..swizzle import Pattern, pattern


class SwizzleMode(Enum):
    """A swizzling pattern, whatever its number; the value is its name in messages."""

    NONE = "no swizzle"
    BYTES_32 = "32-byte swizzle"
    BYTES_64 = "64-byte swizzle"
    BYTES_128 = "128-byte swizzle"
    BYTES_128_ATOM_32 = "128-byte swizzle of 32-byte atoms"
    BYTES_128_ATOM_32_FLIP_8 = "128-byte swizzle of 32-byte atoms with exchanged halves"
    BYTES_128_ATOM_64 = "128-byte swizzle of 64-byte atoms"

    @property
    def pattern(self) -> Pattern | None:
        """Return the exclusive or of address bits, None where it is not modelled."""
        return pattern(TENSOR_MAP[self])

    @property
    def span(self) -> int:
        """Return the bytes of one row of the pattern; 16, one row of a core matrix, without swizzle."""
        return _SPANS.get(self, 128)

    @property
    def repeat(self) -> int:
        """Return the alignment, in bytes, of a tile whose base offset is 0 (1024, 512 or 256; 16 without)."""
        return 16 if self is SwizzleMode.NONE else 8 * self.span


_SPANS = {SwizzleMode.NONE: 16, SwizzleMode.BYTES_32: 32, SwizzleMode.BYTES_64: 64}

WGMMA: Mapping[int, SwizzleMode] = {
    0: SwizzleMode.NONE,
    1: SwizzleMode.BYTES_128,
    2: SwizzleMode.BYTES_64,
    3: SwizzleMode.BYTES_32,
}
"""Bits 62 and 63 of the matrix descriptor of wgmma."""

TCGEN05: Mapping[int, SwizzleMode] = {
    0: SwizzleMode.NONE,
    1: SwizzleMode.BYTES_128_ATOM_32,
    2: SwizzleMode.BYTES_128,
    4: SwizzleMode.BYTES_64,
    6: SwizzleMode.BYTES_32,
}
"""Bits 61 to 63 of the matrix descriptor of tcgen05; 3, 5 and 7 are no modes."""

TENSOR_MAP: Mapping[SwizzleMode, int] = {
    SwizzleMode.NONE: Swizzle.SWIZZLE_NONE,
    SwizzleMode.BYTES_32: Swizzle.SWIZZLE_32B,
    SwizzleMode.BYTES_64: Swizzle.SWIZZLE_64B,
    SwizzleMode.BYTES_128: Swizzle.SWIZZLE_128B,
    SwizzleMode.BYTES_128_ATOM_32: Swizzle.SWIZZLE_128B_ATOM_32B,
    SwizzleMode.BYTES_128_ATOM_32_FLIP_8: Swizzle.SWIZZLE_128B_ATOM_32B_FLIP_8B,
    SwizzleMode.BYTES_128_ATOM_64: Swizzle.SWIZZLE_128B_ATOM_64B,
}
"""CUtensorMapSwizzle."""

REPLACE: Mapping[SwizzleMode, tuple[int, int]] = {
    SwizzleMode.NONE: (0, 0),
    SwizzleMode.BYTES_32: (1, 0),
    SwizzleMode.BYTES_64: (2, 0),
    SwizzleMode.BYTES_128: (3, 0),
    SwizzleMode.BYTES_128_ATOM_32: (3, 1),
    SwizzleMode.BYTES_128_ATOM_32_FLIP_8: (3, 2),
    SwizzleMode.BYTES_128_ATOM_64: (3, 3),
}
"""`.swizzle_mode` and `.swizzle_atomicity` of `tensormap.replace`."""
