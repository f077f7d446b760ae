"""Find the cheapest legal encode for a tile, or the constraints that clash.

The candidates are the boxes that divide the tile, the swizzles and the strides as given or padded; the
constraint data judges all of them at once. Among the legal ones the least padding wins (bytes added to
the tensor, and bytes of shared memory left empty because a box is narrower than the swizzle span), then
the fewest copies, then the widest swizzle. Where none is legal, a constraint is dropped from the clash as
long as no candidate satisfies the rest: what remains is a minimal unsatisfiable core over these
candidates.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from math import isqrt

import numpy as np
import numpy.typing as npt

from ptxcheck.descriptors.columns import columns_scope, holds
from ptxcheck.descriptors.constraints import (
    MAX_RANK,
    Constraint,
    Layer,
    applicable,
)
from ptxcheck.descriptors.expression import IntColumn, Scope
from ptxcheck.descriptors.facts import element_bits, element_bits_in_shared, swizzle_span
from ptxcheck.descriptors.fields import DataType, Kind, Swizzle
from ptxcheck.descriptors.legality import violations
from ptxcheck.descriptors.request import (
    Answer,
    Impossible,
    Request,
    Solution,
    Use,
)
from ptxcheck.descriptors.swizzle import alignment
from ptxcheck.descriptors.tensor_map import TiledMap

PLAIN_SWIZZLES = (Swizzle.SWIZZLE_NONE, Swizzle.SWIZZLE_32B, Swizzle.SWIZZLE_64B, Swizzle.SWIZZLE_128B)
TALLEST_BOX = 256
FITS_INT64 = 1 << 62
SPANS = np.array([swizzle_span(mode) for mode in Swizzle])
ALIGNMENTS = np.array([alignment(mode) for mode in Swizzle])


@dataclass(frozen=True, slots=True)
class Candidates:
    """Every box with every swizzle and stride choice, a row each."""

    boxes: IntColumn
    swizzles: IntColumn
    layouts: IntColumn
    copies: IntColumn
    padding: IntColumn
    box_bytes: IntColumn
    shared_bytes: IntColumn
    strides: tuple[tuple[int, ...], ...]

    @property
    def shared_padding(self) -> IntColumn:
        """Return the bytes of all boxes that no copy writes."""
        empty: IntColumn = (self.shared_bytes - self.box_bytes) * self.copies
        return empty

    @property
    def stage_bytes(self) -> IntColumn:
        """Return the shared memory of the tile, each copy's box aligned for its swizzle."""
        unit = ALIGNMENTS[self.swizzles]
        stage: IntColumn = -(-self.shared_bytes // unit) * unit * (self.copies - 1) + self.shared_bytes
        return stage


def solve(request: Request) -> Answer:
    """Return the cheapest legal encode of the request's tile, or the minimal clash of constraints."""
    candidates = _candidates(request)
    constraints = _constraints(request)
    scope = _scope(request, candidates)
    table = np.stack([holds(constraint, scope) for constraint in constraints], axis=1)
    legal = np.flatnonzero(table.all(axis=1))
    if not legal.size:
        return Impossible(request, tuple(constraints[i] for i in minimal_clash(table)))
    waste = candidates.padding + candidates.shared_padding
    keys = (-candidates.boxes[:, 0], -SPANS[candidates.swizzles], candidates.copies, waste)
    order = np.lexsort([key[legal] for key in keys])
    return _solution(request, candidates, int(legal[order[0]]))


def minimal_clash(table: npt.NDArray[np.bool_]) -> list[int]:
    """Return columns of which no row satisfies all, though some row satisfies all but any one of them."""
    kept = list(range(table.shape[1]))
    for column in range(table.shape[1]):
        rest = [other for other in kept if other != column]
        if rest and not table[:, rest].all(axis=1).any():
            kept = rest
    return kept


def _constraints(request: Request) -> tuple[Constraint, ...]:
    driver = applicable(Kind.TILED, request.platform, Layer.DRIVER)
    return driver + applicable(Kind.TILED, request.platform, Layer.REQUEST)


def _candidates(request: Request) -> Candidates:
    bits = element_bits(request.data_type)
    strides = tuple(dict.fromkeys((request.given_strides, padded_strides(request))))
    # a swizzle that the request did not name is judged too: it shows whether the name is part of the clash
    wanted = sorted({*PLAIN_SWIZZLES, *(() if request.swizzle is None else (request.swizzle,))})
    boxes = np.array(list(itertools.product(*_extents(request))), dtype=np.int64)
    each, swizzle, layout = (
        part.ravel()
        for part in np.meshgrid(np.arange(len(boxes)), wanted, np.arange(len(strides)), indexing="ij")
    )
    padding = np.array([padding_bytes(request, s, bits) for s in strides], dtype=np.int64)
    row = boxes[:, 0] * element_bits_in_shared(request.data_type) // 8
    rows = np.prod(boxes[:, 1:], axis=1)
    span = np.where(swizzle == 0, 0, SPANS[swizzle])
    return Candidates(
        boxes=boxes[each],
        swizzles=swizzle.astype(np.int64),
        layouts=layout,
        copies=np.prod(np.array(request.tile, dtype=np.int64) // boxes, axis=1)[each],
        padding=padding[layout],
        box_bytes=(row * rows)[each],
        shared_bytes=np.maximum(row[each], span) * rows[each],
        strides=strides,
    )


def _extents(request: Request) -> list[list[int]]:
    """Return the box extents worth trying, by dimension.

    Which divisor serves best depends on the span in dimension 0 and on the rows of an operand in
    dimension 1. In every other place only the limit of 256 matters: the largest divisor within it, and
    the whole tile, to name the limit.
    """
    extents: list[list[int]] = []
    for i, extent in enumerate(request.tile):
        every = divisors(extent)
        if i == 0 or (i == 1 and request.use is not Use.COPY):
            extents.append(every)
            continue
        largest = max(d for d in every if d <= TALLEST_BOX)
        extents.append(sorted({largest, extent}))
    return extents


def divisors(number: int) -> list[int]:
    """Return the divisors of a positive integer, ascending."""
    low = [d for d in range(1, isqrt(number) + 1) if number % d == 0]
    return sorted({*low, *(number // d for d in low)})


def padded_strides(request: Request) -> tuple[int, ...]:
    """Return the least legal strides not below the given ones, nested where those are; bytes."""
    given = request.given_strides
    wide = request.data_type in (DataType.PACKED_16U4_ALIGN16B, DataType.PACKED_16U6_ALIGN16B)
    unit = 32 if wide else 16
    out: list[int] = []
    for i, stride in enumerate(given):
        nested = i > 0 and stride >= given[i - 1] * request.shape[i]
        need = max(stride, out[i - 1] * request.shape[i]) if nested else stride
        out.append(-(-need // unit) * unit)
    return tuple(out)


def padding_bytes(request: Request, strides: tuple[int, ...], bits: int) -> int:
    """Return how much longer the tensor is with `strides` than with the given ones, in bytes."""
    if strides == request.given_strides:
        return 0
    return min(
        FITS_INT64,
        _length(request.shape, strides, bits) - _length(request.shape, request.given_strides, bits),
    )


def _length(shape: tuple[int, ...], strides: tuple[int, ...], bits: int) -> int:
    """Return the bytes that a tensor's dimensions span, each with its padding."""
    return max([shape[0] * bits // 8, *(s * d for s, d in zip(strides, shape[1:], strict=True))])


def _scope(request: Request, candidates: Candidates) -> Scope:
    """Return the columns of all candidates, with the names of the request."""
    n = len(candidates.swizzles)
    rank = len(request.shape)
    ones = np.ones(n, dtype=np.int64)
    zeros = np.zeros(n, dtype=np.int64)
    table = {
        "dtype": ones * request.data_type,
        "rank": ones * rank,
        "swizzle": candidates.swizzles,
        **{name: zeros for name in ("addr_off", "interleave", "l2", "oob")},
    }
    layouts = np.array([[min(v, FITS_INT64) for v in s] for s in candidates.strides], dtype=np.int64)
    for i in range(MAX_RANK):
        table[f"dim{i}"] = ones * min(request.shape[i], FITS_INT64) if i < rank else ones
        table[f"box{i}"] = candidates.boxes[:, i] if i < rank else ones
        table[f"es{i}"] = ones
        table[f"stride{i}"] = layouts[candidates.layouts, i] if i < rank - 1 else zeros
    scope = columns_scope(Kind.TILED, table)
    fields = {
        **scope.fields,
        **{use.name: int(use) for use in Use},
        "use": int(request.use),
        "capability": request.platform.number,
        "wanted": -1 if request.swizzle is None else int(request.swizzle),
        "may_pad": int(request.may_pad),
        "padding": candidates.padding,
        "stage_bytes": candidates.stage_bytes,
    }
    return Scope(fields, scope.lets, scope.tables)


def _solution(request: Request, candidates: Candidates, row: int) -> Solution:
    tensor_map = TiledMap(
        data_type=request.data_type,
        global_dim=request.shape,
        global_strides=candidates.strides[candidates.layouts[row]],
        box_dim=tuple(int(extent) for extent in candidates.boxes[row]),
        swizzle=int(candidates.swizzles[row]),
    )
    notes = tuple(v.message for v in violations(tensor_map, request.platform))
    return Solution(request, tensor_map, int(candidates.copies[row]), int(candidates.padding[row]), notes)
