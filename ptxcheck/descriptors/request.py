"""What `ptxcheck tma solve` is asked and what it answers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from math import prod

from ptxcheck.descriptors.constraints import Constraint, Platform
from ptxcheck.descriptors.facts import element_bits, element_bits_in_shared
from ptxcheck.descriptors.fields import Swizzle
from ptxcheck.descriptors.swizzle import alignment
from ptxcheck.descriptors.tensor_map import TiledMap


class Use(IntEnum):
    """Who reads the tile in shared memory."""

    COPY = 0
    WGMMA = 1
    TCGEN05 = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A tile of a tensor that must come through tensor copies.

    `shape` and `tile` are in elements, innermost first; `strides` are bytes from dimension 1 on, packed where not
    given; with `may_pad` they may grow. `swizzle` fixes the mode.
    """

    data_type: int
    shape: tuple[int, ...]
    tile: tuple[int, ...]
    strides: tuple[int, ...] | None = None
    may_pad: bool = False
    swizzle: Swizzle | None = None
    use: Use = Use.COPY
    platform: Platform = Platform()

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
    """The cheapest legal encode: one map, and the copies that bring the tile with it."""

    request: Request
    tensor_map: TiledMap
    copies: int
    padding_bytes: int
    notes: tuple[str, ...]

    @property
    def box_bytes(self) -> int:
        """Return the shared memory that one copy fills, in bytes."""
        return prod(self.tensor_map.box_dim) * element_bits_in_shared(self.tensor_map.data_type) // 8

    @property
    def shared_alignment(self) -> int:
        """Return the alignment of the stage, in bytes."""
        return alignment(self.tensor_map.swizzle)

    @property
    def pitch(self) -> int:
        """Return the bytes from one copy's box to the next in the stage."""
        return -(-self.box_bytes // self.shared_alignment) * self.shared_alignment

    @property
    def stage_bytes(self) -> int:
        """Return the shared memory of the whole tile, in bytes."""
        return self.pitch * (self.copies - 1) + self.box_bytes

    @property
    def expect_tx_bytes(self) -> int:
        """Return the bytes of all copies together."""
        return self.box_bytes * self.copies

    def each_copy(self) -> Iterator[Copy]:
        """Yield the copies in the order of the stage: the innermost dimension moves last."""
        box, tile = self.tensor_map.box_dim, self.request.tile
        starts = [range(0, extent, step) for extent, step in zip(tile, box, strict=True)]
        for number, start in enumerate(itertools.product(*starts)):
            yield Copy(start, number * self.pitch)


@dataclass(frozen=True, slots=True)
class Impossible:
    """No encode exists: `clash` cannot hold together, and without any one of its constraints an encode exists."""

    request: Request
    clash: tuple[Constraint, ...]


Answer = Solution | Impossible
