"""Every encode of a small grid for a request: all boxes that divide the tile, four swizzles, strides near the given.

Shares with the solver nothing but the constraints of the driver (`encodes`), which agree with the driver itself.
"""

from __future__ import annotations

import itertools
from math import prod

import numpy as np
import numpy.typing as npt

from ptxcheck.descriptors import (
    DataType,
    Request,
    Use,
    encodes,
)
from ptxcheck.descriptors.constraints import Layer, load

Column = npt.NDArray[np.int64]
SPANS = np.array([16, 32, 64, 128])
PITCHES = np.array([0, 32, 64, 128])
SHARED_MEMORY = 232_448
"""Bytes that a block can have on capability 9.0 and 10.x."""
STRIDES_BEYOND = 64
"""How far above the least stride the grid goes, in bytes."""
BITS = {0: 8, 1: 16, 2: 32, 3: 32, 4: 64, 5: 64, 6: 16, 7: 32, 8: 64, 9: 16, 10: 32, 11: 32, 12: 32}
OPERANDS = {DataType.UINT8, DataType.FLOAT16, DataType.BFLOAT16, DataType.FLOAT32, DataType.FLOAT32_FTZ}
OPERANDS |= {DataType.TFLOAT32, DataType.TFLOAT32_FTZ}
Cost = tuple[int, int, int]
"""Padding in bytes, copies, minus the span of the swizzle: the less the better."""


def best(request: Request) -> Cost | None:
    """Return the least cost of the grid, or None where no encode of it is legal."""
    if request.use is not Use.COPY and DataType(request.data_type) not in OPERANDS:
        return None
    padding = least_padding(request)
    if padding is None:
        return None
    boxes, swizzles = _grid(request)
    legal = encodes("tiled", _table(request, boxes, swizzles, [0] * 4))
    row = boxes[:, 0] * BITS[request.data_type] // 8
    rows = np.prod(boxes[:, 1:], axis=1)
    if request.use is not Use.COPY:
        legal &= row == SPANS[swizzles]
        legal &= (boxes[:, 1] % 8 == 0) if boxes.shape[1] > 1 else False
    if request.swizzle is not None:
        legal &= swizzles == int(request.swizzle)
    copies = np.prod(np.array(request.tile, dtype=np.int64) // boxes, axis=1)
    pitch = np.maximum(row, PITCHES[swizzles])
    unit = np.maximum(128, np.where(swizzles == 0, 0, SPANS[swizzles] * 8))
    stage = -(-pitch * rows // unit) * unit * (copies - 1) + pitch * rows
    legal &= stage <= SHARED_MEMORY
    if not legal.any():
        return None
    empty = (pitch - row) * rows * copies + padding
    order = np.lexsort((-SPANS[swizzles[legal]], copies[legal], empty[legal]))[0]
    chosen = np.flatnonzero(legal)[order]
    return int(empty[chosen]), int(copies[chosen]), -int(SPANS[swizzles[chosen]])


def least_padding(request: Request) -> int | None:
    """Return the bytes that the shortest legal tensor of the grid adds, or None where no strides are legal.

    Legality of strides and legality of box and swizzle are independent: see `independent`.
    """
    given = request.given_strides
    lengths = [_length(request, given)] if _strides_encode(request, [given])[0] else []
    if request.may_pad and given:
        choices = list(itertools.islice(_stride_choices(request), 1 << 14))
        legal = _strides_encode(request, choices)
        lengths += [_length(request, one) for one, good in zip(choices, legal, strict=True) if good]
    return min(lengths) - _length(request, given) if lengths else None


def _stride_choices(request: Request) -> list[tuple[int, ...]]:
    """Return strides of which each is up to 64 bytes above the given one, or above what the one below needs.

    The first runs byte by byte; of the others only multiples of 16 and of 16 plus one, the rest being as illegal.
    """
    given = request.given_strides
    found: list[tuple[int, ...]] = [()]
    for i, stride in enumerate(given):
        grown: list[tuple[int, ...]] = []
        for start in found:
            nested = i > 0 and stride >= given[i - 1] * request.shape[i]
            least = max(stride, start[-1] * request.shape[i]) if nested else stride
            step = 1 if i == 0 else -least % 16 or 16
            offsets = range(STRIDES_BEYOND + 1) if i == 0 else (0, step, step + 16, step + 1)
            grown += [(*start, least + offset) for offset in offsets]
        legal_first = [one for one in grown if all(stride % 16 == 0 for stride in one)]
        found = (legal_first or grown)[: 1 << 12]
    return found


def _strides_encode(request: Request, choices: list[tuple[int, ...]]) -> npt.NDArray[np.bool_]:
    """Whether strides are legal by themselves: asked with a box of 16 bytes, no swizzle."""
    rank = len(request.shape)
    elements = max(128 // BITS[request.data_type], 1)
    boxes = np.array([[elements, *[1] * (rank - 1)]] * len(choices), dtype=np.int64)
    columns = [np.array([min(one[i], 1 << 62) if i < len(one) else 0 for one in choices]) for i in range(4)]
    return encodes("tiled", _table(request, boxes, np.zeros(len(choices), dtype=np.int64), columns))


def _length(request: Request, strides: tuple[int, ...]) -> int:
    row = request.shape[0] * BITS[request.data_type] // 8
    return max([row, *(s * d for s, d in zip(strides, request.shape[1:], strict=True))])


def _grid(request: Request) -> tuple[Column, Column]:
    extents = [[d for d in range(1, tile + 1) if tile % d == 0] for tile in request.tile]
    boxes = np.array(list(itertools.product(*extents)), dtype=np.int64)
    return np.repeat(boxes, 4, axis=0), np.tile(np.arange(4, dtype=np.int64), len(boxes))


def _table(
    request: Request, boxes: Column, swizzles: Column, strides: list[int] | list[Column]
) -> dict[str, Column]:
    n, rank = len(swizzles), len(request.shape)
    ones = np.ones(n, dtype=np.int64)
    table = {name: ones * 0 for name in ("addr_off", "map_off", "interleave", "l2", "oob")}
    table |= {"dtype": ones * request.data_type, "rank": ones * rank, "swizzle": swizzles}
    for i in range(5):
        table[f"dim{i}"] = ones * (request.shape[i] if i < rank else 1)
        table[f"box{i}"] = boxes[:, i] if i < rank else ones
        table[f"es{i}"] = ones
    for i in range(4):
        table[f"stride{i}"] = ones * strides[i]
    return table


def independent() -> bool:
    """Whether no constraint of the driver reads a stride together with a box or a swizzle."""
    rows = [row.holds for row in load().constraints if row.layer is Layer.DRIVER]
    return not any(
        "stride[" in row.replace("element_stride[", "") and ("box" in row or "swizzle" in row) for row in rows
    )


def size(request: Request) -> int:
    """Return how many encodes the grid of boxes and swizzles has."""
    return 4 * prod(sum(tile % d == 0 for d in range(1, tile + 1)) for tile in request.tile)
