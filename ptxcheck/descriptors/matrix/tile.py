"""Which bytes of shared memory one matrix instruction reads through a descriptor.

A tile is made of core matrices: 8 rows of 16 bytes. Along the dimension that is contiguous in memory they come
in rows of the swizzle's span; `leading` and `stride` say how far apart the repeats are:

                        contiguous dimension (beyond one span)    other dimension (every 8 rows)
    K-major, swizzled   not used                                  stride
    K-major, none       leading                                   stride
    MN-major, swizzled  leading                                   stride
    MN-major, none      stride                                    leading

Sources: PTX ISA §9.7.16.5.1 and 9.7.17.5 (canonical layouts); CUTLASS, comments of `make_gmma_desc` and
`make_umma_desc`.

Not modelled: swizzles of atoms larger than 16 bytes, and an absolute leading address.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from .swizzle_mode import SwizzleMode

CORE_ROWS = 8
CORE_BYTES = 16


@dataclass(frozen=True, slots=True)
class Tile:
    """One operand of one instruction: `contiguous` bytes times `others` rows of them.

    K-major: `contiguous` is K in bytes and `others` M or N. MN-major: M or N in bytes, and K in elements.
    """

    mode: SwizzleMode
    k_major: bool
    contiguous: int
    others: int

    @property
    def is_modelled(self) -> bool:
        """Tell whether `offsets` speaks of this layout."""
        return self.mode in (
            SwizzleMode.NONE, SwizzleMode.BYTES_32, SwizzleMode.BYTES_64, SwizzleMode.BYTES_128,
        )  # fmt: skip

    @property
    def repeats(self) -> int:
        """Return how many spans the contiguous dimension has; a K-major swizzled tile stays within one."""
        if self.k_major and self.mode is not SwizzleMode.NONE:
            return 1
        return -(-self.contiguous // self.mode.span)

    @property
    def groups(self) -> int:
        """Return how many groups of 8 rows there are."""
        return -(-self.others // CORE_ROWS)

    def steps(self, leading: int, stride: int) -> tuple[int, int]:
        """Return the bytes between repeats of the contiguous dimension, and between groups of 8 rows."""
        if not self.k_major and self.mode is SwizzleMode.NONE:
            return stride, leading
        return leading, stride

    @property
    def uses_leading(self) -> bool:
        """Tell whether the leading offset is read at all."""
        if not self.k_major and self.mode is SwizzleMode.NONE:
            return self.groups > 1
        return self.repeats > 1

    @property
    def uses_stride(self) -> bool:
        """Tell whether the stride offset is read at all."""
        if not self.k_major and self.mode is SwizzleMode.NONE:
            return self.repeats > 1
        return self.groups > 1

    @property
    def row_bytes(self) -> int:
        """Return the bytes of one row that are read within one span."""
        return min(self.contiguous, self.mode.span)

    def offsets(self, leading: int, stride: int, groups: range | None = None) -> Iterator[int]:
        """Yield where each block of 8 rows by one span starts, in bytes from the tile's own start; of some groups."""
        by_repeat, by_group = self.steps(leading, stride)
        for group in range(self.groups) if groups is None else groups:
            for repeat in range(self.repeats):
                yield group * by_group + repeat * by_repeat

    def has_blocks(self, start: int) -> bool:
        """Tell whether `blocks` speaks of a tile that starts there: its rows do not go on behind the pattern's span."""
        spills = start % self.mode.span + self.contiguous > self.mode.span
        return self.is_modelled and not (self.k_major and self.mode is not SwizzleMode.NONE and spills)

    def blocks(
        self, start: int, leading: int, stride: int, groups: range | None = None
    ) -> Iterator[tuple[int, int]]:
        """Yield where the blocks of some groups start and end that the tile reads from `start` on, those that touch
        joined: it reads no byte outside them, and not all bytes of a block that is wider than its rows."""
        span = self.mode.span
        size = min(self.others, CORE_ROWS) * span
        begin = end = -1
        for place in sorted(
            start // span * span + offset for offset in self.offsets(leading, stride, groups)
        ):
            if place > end:
                if end >= 0:
                    yield begin, end
                begin = place
            end = max(end, place + size)
        if end >= 0:
            yield begin, end

    def overlap(self, leading: int, stride: int) -> tuple[int, int] | None:
        """Return the starts of two blocks that share bytes, None when there are none."""
        starts = sorted(self.offsets(leading, stride))
        reach = CORE_ROWS * self.mode.span
        for index, before in enumerate(starts):
            for after in islice(starts, index + 1, None):
                if after - before >= reach:
                    break
                if self._share(after - before):
                    return before, after
        return None

    def _share(self, distance: int) -> bool:
        """Tell whether some row of a block and some row of one `distance` bytes behind share bytes."""
        rows, before = divmod(distance, self.mode.span)
        return before < self.row_bytes or (rows + 1 < CORE_ROWS and self.mode.span - before < self.row_bytes)

    def end(self, leading: int, stride: int) -> int:
        """Return a byte count that the tile surely reaches to, from the start of its first row's span."""
        last = max(self.offsets(leading, stride))
        return last + (CORE_ROWS - 1) * self.mode.span + min(self.row_bytes, self.mode.span)
