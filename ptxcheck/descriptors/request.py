"""What `ptxcheck tma solve` is asked and what it answers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from math import prod

from ptxcheck.descriptors.constraints import Constraint, Platform
from ptxcheck.descriptors.facts import Facts, element_bits, facts
from ptxcheck.descriptors.fields import Swizzle
from ptxcheck.descriptors.tensor_map import TiledMap

LARGEST_EXTENT = 1 << 24
MOST_DIMENSIONS = 8
"""Far beyond what shared memory holds and what a map can describe; they bound the search."""


class Use(IntEnum):
    """Who reads the tile in shared memory."""

    COPY = 0
    WGMMA = 1
    TCGEN05 = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A tile of a tensor that tensor copies must bring.

    `shape` and `tile` are in elements, innermost first; `strides` are bytes from dimension 1 on, packed
    where not given; with `may_pad` they may grow. `swizzle` fixes the mode.
    """

    data_type: int
    shape: tuple[int, ...]
    tile: tuple[int, ...]
    strides: tuple[int, ...] | None = None
    may_pad: bool = False
    swizzle: Swizzle | None = None
    use: Use = Use.COPY
    platform: Platform = field(default_factory=Platform)

    def __post_init__(self) -> None:
        """Require a tile of the tensor's rank, with at least one dimension and no empty extent."""
        if not self.shape or len(self.tile) != len(self.shape):
            raise ValueError(f"the tile has {len(self.tile)} dimensions, the tensor {len(self.shape)}")
        if self.strides is not None and len(self.strides) != len(self.shape) - 1:
            raise ValueError(
                f"{len(self.strides)} strides for {len(self.shape)} dimensions: one less is asked for"
            )
        if min(self.tile) < 1:
            raise ValueError("an extent of the tile is below 1")
        if max(self.tile) > LARGEST_EXTENT or len(self.tile) > MOST_DIMENSIONS:
            raise ValueError(
                f"a tile has at most {MOST_DIMENSIONS} dimensions of at most {LARGEST_EXTENT} elements"
            )

    @property
    def given_strides(self) -> tuple[int, ...]:
        """Return the strides as given, or those of the packed tensor, in bytes rounded up."""
        if self.strides is not None:
            return self.strides
        row = -(-self.shape[0] * element_bits(self.data_type) // 8)
        return tuple(row * prod(self.shape[1 : i + 1]) for i in range(len(self.shape) - 1))


@dataclass(frozen=True, slots=True)
class Copy:
    """One copy of the tile: first element in the tile (innermost first) and first byte in the stage."""

    start: tuple[int, ...]
    shared_offset: int


@dataclass(frozen=True, slots=True)
class Solution:
    """The cheapest legal encode: one map, and the copies that bring the tile with it. Bytes throughout."""

    request: Request
    tensor_map: TiledMap
    copies: int
    global_padding: int
    notes: tuple[str, ...]

    @property
    def facts(self) -> Facts:
        """Return the derived figures of the map."""
        return facts(self.tensor_map)

    @property
    def box_bytes(self) -> int:
        """Return the bytes that one copy writes."""
        return self.facts.row_bytes * (self.facts.rows or 1)

    @property
    def shared_padding(self) -> int:
        """Return the bytes between rows narrower than the swizzle span, which no copy writes."""
        return ((self.facts.shared_bytes or 0) - self.box_bytes) * self.copies

    @property
    def pitch(self) -> int:
        """Return the bytes from one copy's box to the next in the stage."""
        unit = self.facts.shared_alignment
        return -(-(self.facts.shared_bytes or 0) // unit) * unit

    @property
    def stage_bytes(self) -> int:
        """Return the shared memory of the whole tile."""
        return self.pitch * (self.copies - 1) + (self.facts.shared_bytes or 0)

    @property
    def expect_tx_bytes(self) -> int | None:
        """Return the bytes of all copies together, as a barrier counts them."""
        each = self.facts.expect_tx_bytes
        return None if each is None else each * self.copies

    def each_copy(self) -> Iterator[Copy]:
        """Yield the copies in the order of the stage: the innermost dimension moves last."""
        box, tile = self.tensor_map.box_dim, self.request.tile
        starts = [range(0, extent, step) for extent, step in zip(tile, box, strict=True)]
        for number, start in enumerate(itertools.product(*starts)):
            yield Copy(start, number * self.pitch)


@dataclass(frozen=True, slots=True)
class Impossible:
    """No encode exists: `clash` cannot hold together, any one less can."""

    request: Request
    clash: tuple[Constraint, ...]


Answer = Solution | Impossible
