"""Columns and lanes of tensor memory that instructions read and write (PTX ISA §9.7.17.8 to 9.7.17.10).

Property: nothing is yielded when in every run loads, stores, accumulators and copies lie in the columns of their
allocation, and so do other operands in tensor memory, in none of the columns of D; all of them start at lanes of their
layouts; loads and stores name the lanes of their warp, and one address in the whole warp. The other operands of a
multiplication whose D is not known start in the allocation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...descriptors.matrix.accumulator import accumulator
from ...descriptors.matrix.operand_columns import BESIDE_D, operand_columns
from ...opcodes.op import Op
from ...verdict import AssumptionSource, Reason
from .accumulator_columns import AccumulatorColumns
from .descriptor_fields import host_descriptor
from .judgement import Judgement, assumes, unknown
from .matrix_operands import TCGEN05
from .matrix_tiles import MatrixTiles
from .tensor_address import (
    COPIED_COLUMNS,
    QUARTER,
    SHIFTED_COLUMNS,
    foreign_lanes,
    tensor_address,
    used_width,
    warp_addresses,
)
from .tensor_bounds import (
    SLOT,
    Bounded,
    Extent,
    TensorBounds,
)
from .tensor_memory import LOADS, TensorMemory

if TYPE_CHECKING:
    from ...view import KernelView

_MOVES = LOADS | {Op.TCGEN05_ST}
_QUARTERS = 4
_QUARTER_STARTS, _ANY_LANE = 0b1100000, 0b1111111
"""Bits that a lane may have."""
_FOUR_ROWS = ".4x256b"
_COPYING = frozenset({Op.TCGEN05_CP, Op.TCGEN05_SHIFT})
_WHOLE_QUARTER = ".32x32b"
_HALF_QUARTER = 16
_OWN_QUARTER = (
    "a warp that names a lane of the first quarter reaches its own one, as released kernels rely on"
)


class Accesses:
    """Columns and lanes of what instructions read and write."""

    def __init__(self, view: KernelView) -> None:
        self._view = view
        self._memory = view.get(TensorMemory)
        self._bounds = TensorBounds(view)
        self._words = {word.point: word for word in view.get(MatrixTiles).operands.instruction_words}

    def judgements(self) -> Iterator[Judgement]:
        for point in sorted(self._memory.of(_MOVES)):
            yield from self._inside(point, "taddr", used_width(self._view, point))
            yield from self._in_lanes(point)
        for point in sorted(self._memory.points[Op.TCGEN05_CP]):
            shape = self._view.body.instructions[point].operation.slots.get("shape", "")
            yield from self._inside(point, "taddr", COPIED_COLUMNS.get(shape, 1))
            yield from self._starts_at_lane(point, "taddr", _ANY_LANE if shape == _FOUR_ROWS else 0)
        for point in sorted(self._memory.points[Op.TCGEN05_SHIFT]):
            yield from self._inside(point, "taddr", SHIFTED_COLUMNS)
            yield from self._starts_at_lane(point, "taddr", _QUARTER_STARTS)
        for point in sorted(self._memory.of(TCGEN05)):
            yield from self._multiplication(point)

    def _multiplication(self, point: int) -> Iterator[Judgement]:
        instruction, word = self._view.body.instructions[point], self._words.get(point)
        m, n = (None, None) if word is None else (word.fields.get("m"), word.fields.get("n"))
        d = None if word is None or m is None or n is None else accumulator(word.shape, m, n)
        if word is not None and not word.fields and (name := host_descriptor(self._view, point)) is not None:
            text = (
                f"D of the instruction descriptor that the host passes in {name} fits into what is allocated"
            )
            yield assumes(text, point, AssumptionSource.HOST)
            yield from self._inside(point, "taddr", 1)
        elif d is None:
            yield unknown("the columns of D are not known, as its shape is not", point)
        else:
            yield from self._inside(point, "taddr", d.columns)
            yield from self._starts_at_lane(point, "taddr", 0 if d.all_lanes else _HALF_QUARTER)
        for operand, what in BESIDE_D.items():
            if instruction.get(operand) is None:
                continue
            if word is None or d is None:
                yield from self._inside(point, operand, 1)
                continue
            columns = operand_columns(operand, word.shape, word.fields).most
            yield from self._inside(point, operand, columns)
            yield from self._starts_at_lane(point, operand, 0 if d.all_lanes else _HALF_QUARTER)
            if not self._bounds.are_apart(point, Extent("taddr", d.columns), Extent(operand, columns)):
                yield unknown(f"whether {what} and D have no column in common is not known", point)
        if d is not None and not d.all_lanes:
            yield from self._in_half_of_d(point)

    def _starts_at_lane(self, point: int, name: str, bits: int) -> Iterator[Judgement]:
        """Yield why an operand may start at a lane with other bits than these."""
        place = self._bounds.of(point, name)
        if place is not None and place.lane_bits & ~bits:
            what = "D" if name == "taddr" and point not in self._memory.of(_COPYING) else "this operand"
            yield unknown(f"whether {what} starts at a lane of its layout is not known", point)

    def _in_half_of_d(self, point: int) -> Iterator[Judgement]:
        """Yield why A or metadata may start in another half of each quarter of lanes than D."""
        for operand in ("a_taddr", "metadata"):
            if self._view.body.instructions[point].get(operand) is None:
                continue
            places = [self._bounds.of(point, name) for name in ("taddr", operand)]
            known = [tensor_address(self._view, point, name) for name in ("taddr", operand)]
            halves = {None if each is None else each.lane & _HALF_QUARTER for each in known}
            in_first = all(place is not None and not place.lane_bits & _HALF_QUARTER for place in places)
            if not in_first and (None in halves or len(halves) > 1):
                yield unknown(
                    "whether D and the operands beside it have the same half of the lanes is not known", point
                )

    def _inside(self, point: int, name: str, width: int) -> Iterator[Judgement]:
        """Yield why an operand may reach beyond its allocation."""
        place: Bounded | None = self._bounds.of(point, name)
        if place is None:
            yield unknown("where in tensor memory this operand lies is not followed", point)
        elif place.last_column + width > place.columns:
            text = f"whether this operand ends within the {place.columns} columns that are allocated is not known"
            yield unknown(text, point)
        elif place.rests_on_slot:
            yield assumes(SLOT, min(self._memory.allocations), AssumptionSource.ENVIRONMENT)

    def _in_lanes(self, point: int) -> Iterator[Judgement]:
        lanes = self._bounds.lanes(point)
        if lanes is None:
            yield unknown("which lanes of tensor memory each warp names is not followed", point)
            return
        shape = self._view.body.instructions[point].operation.slots.get("shape", "")
        step = QUARTER if shape == _WHOLE_QUARTER else _HALF_QUARTER
        for warp, lane in lanes.items():
            quarter = lane // QUARTER
            if lane % step or quarter not in (0, warp % _QUARTERS):
                yield unknown(f"warp {warp} may name lane {lane}, which it does not reach", point)
                return
            if quarter != warp % _QUARTERS:
                yield assumes(_OWN_QUARTER, point, AssumptionSource.HARDWARE)


def flaws_of_accesses(view: KernelView) -> Iterator[Reason]:
    """Yield what is surely wrong with the columns and lanes of accesses."""
    use = view.get(AccumulatorColumns)
    for overlap in use.overlaps():
        yield Reason(f"{overlap.what} from column {overlap.column} on and D share columns", overlap.point)
    for point, last, address in use.d_beyond():
        yield Reason(f"D reaches column {last}, but {address.columns} are allocated", point)
    for point, lane, _ in use.d_off_its_lanes():
        yield Reason(f"no layout of D starts at lane {lane}", point)
    for point, what, lane, of_d in use.operands_off_d():
        yield Reason(
            f"{what} starts at lane {lane} and D at lane {of_d}, in another half of the lanes", point
        )
    for point in sorted(view.get(TensorMemory).of(_MOVES)):
        for lane, (warp, *_) in foreign_lanes(view, point).items():
            if lane:
                yield Reason(f"warp {warp} names lane {lane}, which it does not reach", point)
        for _, place in warp_addresses(view, point):
            if place.column + used_width(view, point) > place.columns:
                last = place.column + used_width(view, point) - 1
                yield Reason(f"this reaches column {last}, but {place.columns} are allocated", point)


__all__ = ["Accesses", "flaws_of_accesses"]
