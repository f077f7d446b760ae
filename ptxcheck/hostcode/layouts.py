"""Layouts of CuTe as far as they say which tensor map `make_tma_copy` encodes.

A layout of shared memory is one of numbers; one of global memory has values for extents and strides. Followed:
`construct_tma_gbasis`, `coalesce_256` and `make_tma_copy_desc` of cute/atom/copy_traits_sm90_tma.hpp (CUTLASS 3.0 to
4.x). The box of a map is the longest part of shared memory, in the order of its addresses, that is one block of the
tensor: each mode of it runs over one dimension from the start, one element at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import gcd, prod
from operator import mul

from ptxcheck.descriptors.fields import DataType
from ptxcheck.hostcode.types import STATIC
from ptxcheck.hostcode.values import (
    Array,
    Integer,
    Layout,
    Mode,
    Value,
    number,
)

LARGEST_MERGED = 256
"""Elements: dimensions are merged to one of the box up to here, which is the most that boxDim allows."""
LARGEST_RANK = 5
Numbers = tuple[tuple[int, int], ...]
"""Extent and stride of each mode."""

DATA_TYPES = {
    **dict.fromkeys(
        (
            "int8_t",
            "signed char",
            "uint8_t",
            "unsigned char",
            "float_e4m3_t",
            "float_e5m2_t",
            "float_ue8m0_t",
        ),
        DataType.UINT8,
    ),
    **dict.fromkeys(("uint16_t", "unsigned short"), DataType.UINT16),
    **dict.fromkeys(("uint32_t", "unsigned", "unsigned int"), DataType.UINT32),
    **dict.fromkeys(("uint64_t", "unsigned long"), DataType.UINT64),
    **dict.fromkeys(("int32_t", "int"), DataType.INT32),
    **dict.fromkeys(("int64_t", "long"), DataType.INT64),
    "half_t": DataType.FLOAT16,
    "float": DataType.FLOAT32,
    "double": DataType.FLOAT64,
    "bfloat16_t": DataType.BFLOAT16,
    "tfloat32_t": DataType.TFLOAT32,
}
"""Element types of whole bytes that CuTe encodes, and as what (cute/arch/copy_sm90_desc.hpp)."""

_ATOM_BITS = {"INTER": (128, 0), "SW32": (256, 1), "SW64": (512, 2), "SW128": (1024, 3)}
"""Bits of a row of an atom of shared memory and B of its Swizzle<B, 4, 3> (cute/atom/mma_traits_sm90_gmma.hpp)."""


def atom(name: str, size: int) -> Layout | None:
    """Return `Layout_K_SW128_Atom<T>` and its like, for elements of `size` bytes."""
    parts = name.split("_")
    if len(parts) != 4 or parts[0] != "Layout" or parts[1] not in ("K", "MN") or parts[3] != "Atom":
        return None
    if parts[2] not in _ATOM_BITS:
        return None
    bits, swizzle = _ATOM_BITS[parts[2]]
    row = bits // (8 * size)
    modes: list[tuple[Mode, ...]] = [_mode(8, row), _mode(row, 1)]
    return Layout(tuple(modes if parts[1] == "K" else reversed(modes)), (swizzle, 4, 3))


def _mode(extent: int, stride: int) -> tuple[Mode, ...]:
    return (Mode(number(extent, STATIC), number(stride, STATIC)),)


def numbers(modes: Sequence[Mode]) -> Numbers | None:
    """Return modes as numbers; None where one is not known."""
    found = [(mode.extent.constant, mode.stride.constant) for mode in modes]
    return tuple((a, b) for a, b in found if a is not None and b is not None) if _known(found) else None


def _known(found: Sequence[tuple[int | None, int | None]]) -> bool:
    return all(a is not None and b is not None for a, b in found)


def is_static(value: Integer) -> bool:
    """Whether CuTe knows a number when the program is compiled."""
    return value.type.name == STATIC.name


def tiled(block: Layout, extents: Sequence[int], order: Sequence[int]) -> Layout | None:
    """Return `tile_to_shape`: a block repeated to `extents`, along the mode of least `order` first."""
    flat = numbers([leaf for mode in block.modes for leaf in mode])
    if flat is None or len(extents) < len(block.modes) or len(order) != len(extents):
        return None
    size = prod(extent for extent, _ in flat)
    if 1 + sum((extent - 1) * stride for extent, stride in flat) != size:
        return None  # a block with holes is repeated into them
    modes = [list(mode) for mode in block.modes] + [[] for _ in extents[len(block.modes) :]]
    step = size
    for position in sorted(range(len(extents)), key=lambda i: order[i]):
        inner = prod(mode.extent.constant or 1 for mode in modes[position])
        count, rest = divmod(extents[position], inner)
        if rest or count < 1:
            return None
        modes[position].append(Mode(number(count, STATIC), number(step, STATIC)))
        step *= count
    return replace(block, modes=tuple(tuple(mode) for mode in modes))


def extents_of(layout: Layout) -> list[int] | None:
    """Return how many elements each mode has."""
    found = [numbers(mode) for mode in layout.modes]
    return None if None in found else [prod(extent for extent, _ in mode or ()) for mode in found]


def integers(value: Value) -> list[Integer] | None:
    """Return a flat tuple of numbers."""
    if not isinstance(value, Array) or value.rest is not None:
        return None
    items = [item for item in value.items if isinstance(item, Integer)]
    return items if len(items) == len(value.items) else None


def constants(value: Value) -> list[int] | None:
    """Return a flat tuple of known numbers."""
    items = integers(value)
    known = [item.constant for item in items or () if item.constant is not None]
    return known if items and len(known) == len(items) else None


@dataclass(frozen=True, slots=True)
class Dimension:
    """One dimension of a map: how far the box goes, and the modes of the tensor that it runs over, innermost first."""

    box: int
    modes: tuple[int, ...]


def dimensions(shared: Numbers, tile: Sequence[int], tensor: Sequence[Mode]) -> list[Dimension] | None:
    """Return the dimensions of the map for a tile of `tensor`, or None where they cannot be told."""
    if prod(tile) != prod(extent for extent, _ in shared) or len(tile) > len(tensor):
        return None
    blocks = _in_tensor(_right_inverse(shared), tile)
    if blocks is None:
        return None
    whole = []
    for extent, mode, step in blocks:
        if step != 1:
            break
        whole.append((extent, mode))
    merged = _merged(whole, tensor)
    if not merged:
        return None
    used = {mode for dimension in merged for mode in dimension.modes}
    for position, whole_mode in enumerate(tensor):
        if position in used:
            continue
        dropped = _is(whole_mode.extent, 1) or _is(whole_mode.stride, 0)
        if not dropped:
            merged.append(Dimension(1, (position,)))
    return merged if len(merged) <= LARGEST_RANK else None


def _is(value: Integer, constant: int) -> bool:
    return is_static(value) and value.constant == constant


def _coalesced(modes: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for extent, stride in modes:
        if extent == 1:
            continue
        if found and found[-1][0] * found[-1][1] == stride:
            found[-1] = (found[-1][0] * extent, found[-1][1])
        else:
            found.append((extent, stride))
    return found


def _right_inverse(layout: Numbers) -> list[tuple[int, int]]:
    """Return which elements of a layout lie at the addresses 0, 1, …, as far as they lie one behind the other."""
    flat = _coalesced(layout)
    before = [1, *accumulate((extent for extent, _ in flat), mul)]
    found, reached = [], 1
    for position in sorted(range(len(flat)), key=lambda i: flat[i][1]):
        extent, stride = flat[position]
        if stride == reached:
            found.append((extent, before[position]))
            reached = extent * stride
    return _coalesced(found)


def _in_tensor(elements: Sequence[tuple[int, int]], tile: Sequence[int]) -> list[tuple[int, int, int]] | None:
    """Return runs of elements of a tile as extent, dimension of the tile, and step within it."""
    before = [1, *accumulate(tile, mul)]
    found: list[tuple[int, int, int]] = []
    for extent, start in elements:
        left, at = extent, start
        while left > 1:
            mode = next((i for i in range(len(tile)) if before[i] <= at < before[i + 1]), None)
            if mode is None or at % before[mode]:
                return None
            step = at // before[mode]
            room, rest = divmod(tile[mode], step)
            taken = min(left, room)
            if rest or left % taken or room % taken:
                return None
            if found and found[-1][1] == mode and found[-1][2] * found[-1][0] == step:
                found[-1] = (found[-1][0] * taken, mode, found[-1][2])
            else:
                found.append((taken, mode, step))
            left, at = left // taken, before[mode + 1]
    return found


def _merged(whole: Sequence[tuple[int, int]], tensor: Sequence[Mode]) -> list[Dimension]:
    """Join dimensions of the box that lie one behind the other in the tensor, where CuTe knows that they do."""
    found: list[tuple[Dimension, Integer]] = []
    for extent, mode in whole:
        stride = tensor[mode].stride
        if found:
            last, inner = found[-1]
            known = is_static(inner) and is_static(stride)
            follows = inner.constant is not None and inner.constant * last.box == stride.constant
            if known and follows and last.box * extent <= LARGEST_MERGED:
                found[-1] = (Dimension(last.box * extent, (*last.modes, mode)), inner)
                continue
            if (
                known
                and last.box * extent <= LARGEST_MERGED
                and (inner.constant is None or stride.constant is None)
            ):
                return []
        found.append((Dimension(extent, (mode,)), stride))
    return [dimension for dimension, _ in found]


def spanned(modes: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return extent and stride of one dimension that runs over several modes of a tensor."""
    extent, stride = 1, 0
    for count, step in modes:
        common = gcd(stride, step)
        extent = (
            count if not common else (extent - 1) * (stride // common) + (count - 1) * (step // common) + 1
        )
        stride = common
    return extent, stride


def shared_among(box: Sequence[int], blocks: int) -> list[int] | None:
    """Return the box of each of several blocks that multicast parts of one tile to one another."""
    cut = list(box)
    position = len(cut) - 1
    while blocks > 1:
        if position < 0 or (cut[position] % blocks and blocks % cut[position]):
            return None
        left = -(-blocks // cut[position])
        cut[position] = -(-cut[position] // blocks)
        blocks, position = left, position - 1
    return cut
