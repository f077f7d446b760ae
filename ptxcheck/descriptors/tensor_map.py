"""A tensor map as the host describes it to the driver: the arguments of the three encode calls.

Sizes and boxes are in elements, strides and addresses in bytes, dimension 0 is the innermost: the units
and the order of cuda.h. Enumerations are plain integers, so that an illegal value can be described and
then refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ptxcheck.descriptors.fields import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class _Common:
    """What the three encode calls share."""

    data_type: int
    global_dim: tuple[int, ...]
    global_strides: tuple[int, ...]
    element_strides: tuple[int, ...] = ()
    interleave: int = 0
    swizzle: int = 0
    l2_promotion: int = 0
    oob_fill: int = 0
    global_address: int = 0
    map_address: int = 0

    @property
    def rank(self) -> int:
        """Return tensorRank."""
        return len(self.global_dim)

    @property
    def steps(self) -> tuple[int, ...]:
        """Return the element strides, 1 where none were given."""
        return self.element_strides or (1,) * self.rank

    def _require_lengths(self) -> None:
        _length("globalStrides", self.global_strides, max(0, self.rank - 1))
        _length("elementStrides", self.steps, self.rank)


@dataclass(frozen=True, slots=True, kw_only=True)
class TiledMap(_Common):
    """The arguments of cuTensorMapEncodeTiled."""

    kind: ClassVar[Kind] = Kind.TILED
    box_dim: tuple[int, ...]

    def __post_init__(self) -> None:
        """Require one entry a dimension."""
        self._require_lengths()
        _length("boxDim", self.box_dim, self.rank)


@dataclass(frozen=True, slots=True, kw_only=True)
class Im2colMap(_Common):
    """The arguments of cuTensorMapEncodeIm2col; one corner offset a spatial dimension."""

    kind: ClassVar[Kind] = Kind.IM2COL
    lower_corner: tuple[int, ...]
    upper_corner: tuple[int, ...]
    channels_per_pixel: int
    pixels_per_column: int

    def __post_init__(self) -> None:
        """Require one corner offset a spatial dimension."""
        self._require_lengths()
        _length("pixelBoxLowerCorner", self.lower_corner, max(0, self.rank - 2))
        _length("pixelBoxUpperCorner", self.upper_corner, max(0, self.rank - 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Im2colWideMap(_Common):
    """The arguments of cuTensorMapEncodeIm2colWide: corners for the width alone."""

    kind: ClassVar[Kind] = Kind.IM2COL_WIDE
    lower_corner: int
    upper_corner: int
    channels_per_pixel: int
    pixels_per_column: int
    mode: int = 0

    def __post_init__(self) -> None:
        """Require one entry a dimension."""
        self._require_lengths()


TensorMap = TiledMap | Im2colMap | Im2colWideMap


def _length(name: str, values: tuple[int, ...], expected: int) -> None:
    if len(values) != expected:
        raise ValueError(f"{name} has {len(values)} entries, the rank asks for {expected}")
