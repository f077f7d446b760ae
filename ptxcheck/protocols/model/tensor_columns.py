"""Which lanes and columns of tensor memory instructions read and write (PTX ISA §9.7.17.8 to 9.7.17.10).

Not known exactly, and so marked: metadata of sparse multiplications, scale factors and A of layouts with half of the
rows, rows that `tcgen05.shift` moves, the columns of a multiplication whose instruction descriptor is not followed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ...descriptors.matrix.accumulator import Accumulator, accumulator
from ...descriptors.matrix.operand_columns import BESIDE_D, operand_columns
from ...isa.modifier import Mod
from ..symex.values.trace import OFFSET_MASK
from ..typestate.matrix_operands import shape_of
from .actions import Columns
from .instruction_fields import instruction_fields
from .lowering import Occurrence
from .tensor_address import TensorPlace, place_of

_GROUP = 16
"""Lanes of a group."""
_GROUPS = 8
_QUARTER, _WARPS = 32, 4
_ALL_LANES = (1 << _GROUPS) - 1
_HALF_LANES = 0b01010101
"""The lower 16 lanes of each quarter."""
_MOVED: Mapping[str, tuple[int, int]] = {
    ".32x32b": (0b11, 1), ".16x64b": (0b1, 2), ".16x128b": (0b1, 4), ".16x256b": (0b1, 8), ".16x32bx2": (0b1, 1),
}  # fmt: skip
"""Groups of lanes, and columns of one repetition, of each shape of a load or store."""
_COPIED: Mapping[str, tuple[int, int]] = {
    ".128x256b": (_ALL_LANES, 8), ".128x128b": (_ALL_LANES, 4), ".64x128b": (_ALL_LANES, 4),
    ".32x128b": (_ALL_LANES, 4), ".4x256b": (0, 8),
}  # fmt: skip
"""The same for copies: those of fewer rows are repeated in the other lanes, those of 4 rows fill no group."""
_K_COLUMNS = 8
"""A has 32 bytes along K, sparse or not."""
_SCALED_ROWS = 32
"""Rows of A or columns of B whose scale factors share a column."""
_LEAST_COLUMNS = 8
"""Every D has as many, whatever its descriptor says."""


def moved(occurrence: Occurrence) -> tuple[Columns, ...]:
    """Return what a load or store touches: in the quarter of its warp, whatever quarter the address names.

    A warp reaches no other quarter (PTX ISA §9.7.17.8.1). FlashInfer's `msa_decode` names the first one in all warps.
    """
    slots = occurrence.operation.slots
    groups, width = _MOVED.get(slots.get("shape", ""), (0, 0))
    count = width * int(slots.get("num", ".x0").removeprefix(".x"))
    if occurrence.operation.has(Mod.PACK_16B) or occurrence.operation.has(Mod.UNPACK_16B):
        count *= 2
    place = _place(occurrence, "taddr")
    if place is None:
        return (_columns(occurrence.rank, None, groups, count),)
    own = replace(place, lane=occurrence.warp % _WARPS * _QUARTER + place.lane % _QUARTER)
    found = [_columns(occurrence.rank, own, groups, count)]
    if occurrence.has("half_split"):
        other = replace(own, column=own.column + occurrence.number("half_split"))
        found.append(_columns(occurrence.rank, other, groups, count))
    return tuple(found)


def copied(occurrence: Occurrence) -> tuple[Columns, ...]:
    """Return what a copy from shared memory writes, in each CTA that takes part."""
    groups, count = _COPIED.get(occurrence.operation.slots.get("shape", ""), (0, 0))
    place = _place(occurrence, "taddr")
    exact = groups != 0
    return tuple(_columns(cta, place, groups, count, exact=exact) for cta in ctas_of(occurrence))


def shifted(occurrence: Occurrence) -> tuple[Columns, ...]:
    """Return the start of the rows that are moved down."""
    place = _place(occurrence, "taddr")
    return tuple(_columns(cta, place, 0, 0, exact=False) for cta in ctas_of(occurrence))


def made(occurrence: Occurrence) -> tuple[Columns, ...]:
    """Return the columns that an allocation for a pair of CTAs makes in its own one."""
    if not occurrence.operation.has(Mod.CTA_GROUP_2):
        return ()
    slot, columns = occurrence.first("dst"), occurrence.event.operands["columns"]
    allocation = occurrence.origins.get(slot & OFFSET_MASK) if isinstance(slot, int) else None
    place = None if allocation is None else TensorPlace(allocation, 0, 0)
    size = columns if isinstance(columns, int) else 1
    return (_columns(occurrence.rank, place, _ALL_LANES, size, exact=isinstance(columns, int)),)


def freed(occurrence: Occurrence) -> tuple[Columns, ...]:
    """Return the columns of a deallocation, those of its own CTA first: for a pair, either may free those of both."""
    columns = occurrence.event.operands["columns"]
    place = _place(occurrence, "taddr")
    is_known = isinstance(columns, int)
    size = columns if isinstance(columns, int) else 1
    return tuple(
        _columns(cta, place, _ALL_LANES, size, exact=is_known)
        for cta in sorted(ctas_of(occurrence), key=lambda cta: cta != occurrence.rank)
    )


def ctas_of(occurrence: Occurrence) -> tuple[int, ...]:
    """Return the CTAs whose memory an instruction works on: the pair for `.cta_group::2`."""
    rank = occurrence.rank
    return (rank & ~1, rank | 1) if occurrence.operation.has(Mod.CTA_GROUP_2) else (rank,)


def fault_of_move(occurrence: Occurrence) -> str:
    """Return what is wrong with the address of a load or store, or "".

    A load may end behind its allocation, with registers that nobody reads. The first quarter may be named by all warps:
    see `moved`.
    """
    if not occurrence.is_alike("taddr"):
        return "lanes of the warp name different places of tensor memory"
    place = _place(occurrence, "taddr")
    if place is None:
        return ""
    if place.column >= place.allocation.columns:
        return f"column {place.column} is behind the {place.allocation.columns} that are allocated"
    whole = _MOVED.get(occurrence.operation.slots.get("shape", ""), (0, 0))[0] == 0b11
    if place.lane % (_QUARTER if whole else _GROUP):
        return f"lane {place.lane} is in the middle of those that the shape reaches"
    quarter = place.lane // _QUARTER
    if quarter not in (0, occurrence.warp % _WARPS):
        return f"lane {place.lane} is not one that warp {occurrence.warp} reaches"
    return ""


def fault_of_free(occurrence: Occurrence) -> str:
    """Return what is wrong with a deallocation by itself, or ""."""
    warp = occurrence.event.threads >> occurrence.warp * _QUARTER & (1 << _QUARTER) - 1
    if warp != (1 << _QUARTER) - 1:
        return f"{warp.bit_count()} lanes of a warp free tensor memory, which takes all of them"
    if not occurrence.is_alike("taddr"):
        return "lanes of the warp free different places of tensor memory"
    place = _place(occurrence, "taddr")
    if place is not None and (place.column or place.lane):
        return f"column {place.column} of lane {place.lane} is freed, not the start of the allocation"
    return ""


class Multiplication:
    """One `tcgen05.mma`: where its operands in tensor memory are."""

    def __init__(self, occurrence: Occurrence) -> None:
        self._occurrence = occurrence
        self._shape = shape_of(occurrence.operation)
        self._fields = {} if self._shape is None else instruction_fields(occurrence, self._shape)
        self._d = self._accumulator()

    def _accumulator(self) -> Accumulator | None:
        m, n = self._fields.get("m"), self._fields.get("n")
        if self._shape is None or m is None or n is None:
            return None
        return accumulator(self._shape, m, n)

    def fault(self) -> str:
        """Return what is wrong with the place of D, or ""."""
        place = _place(self._occurrence, "taddr")
        if place is None or self._d is None:
            return ""
        if place.lane % (_GROUP if not self._d.all_lanes else _GROUP * _GROUPS):
            return f"no layout of D starts at lane {place.lane}"
        end = place.column + self._d.columns
        if end > place.allocation.columns:
            return f"D ends at column {end - 1}, behind the {place.allocation.columns} that are allocated"
        return self._overlap(place, self._d) if self._d.all_lanes else ""

    def _overlap(self, place: TensorPlace, d: Accumulator) -> str:
        """Return which operand surely shares columns with D, or ""."""
        for name, what in BESIDE_D.items():
            other = _place(self._occurrence, name) if self._occurrence.has(name) else None
            if self._shape is None or other is None or other.origin != place.origin:
                continue
            count = operand_columns(name, self._shape, self._fields).least
            if place.column < other.column + count and other.column < place.column + d.columns:
                return (
                    f"{what} from column {other.column} on and D from column {place.column} on share columns"
                )
        return ""

    def writes(self) -> tuple[Columns, ...]:
        """Return D: it is written, and read where it accumulates."""
        disables = "disable_lanes" in self._occurrence.operation.operand_index
        if self._d is None or disables:
            count = 0 if disables else _LEAST_COLUMNS
            return self._of("taddr", 1, count, exact=False)
        return self._of("taddr", _ALL_LANES if self._d.all_lanes else _HALF_LANES, self._d.columns)

    def reads(self) -> tuple[Columns, ...]:
        """Return A, the scale factors and the metadata, as far as they are in tensor memory."""
        whole = self._d is not None and self._d.all_lanes and self._d.columns == self._fields.get("n")
        found = self._of("a_taddr", _ALL_LANES if whole else 1, _K_COLUMNS, exact=whole)
        for name, rows in (("scale_a", 128), ("scale_b", self._fields.get("n", 1))):
            count = -(-rows // _SCALED_ROWS)
            found += self._of(name, _ALL_LANES, count if whole else 1, exact=whole)
        return found + self._of("metadata", 1, 1, exact=False)

    def _of(self, name: str, groups: int, count: int, *, exact: bool = True) -> tuple[Columns, ...]:
        if not self._occurrence.has(name):
            return ()
        place = _place(self._occurrence, name)
        return tuple(_columns(cta, place, groups, count, exact=exact) for cta in ctas_of(self._occurrence))


def _place(occurrence: Occurrence, name: str) -> TensorPlace | None:
    return place_of(occurrence.first(name), occurrence.origins)


def _columns(cta: int, place: TensorPlace | None, groups: int, count: int, *, exact: bool = True) -> Columns:
    """Return columns of the lanes of `groups`, which count from the lane of the place."""
    if place is None:
        return Columns(cta, 0, 0, -1, 0, exact=False)
    own = groups << place.lane // _GROUP & _ALL_LANES
    return Columns(cta, place.origin, own, place.column, count, exact)
