"""Columns and lanes that multiplications in tensor memory read and write (PTX ISA §9.7.17.10).

Property: what is yielded holds whenever the instruction is executed.
Not covered: shapes and addresses that are not known, which yield nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...descriptors.matrix import instruction as words
from ...descriptors.matrix.accumulator import accumulator
from ...descriptors.matrix.operand_columns import BESIDE_D, operand_columns
from ...opcodes.op import Op
from .matrix_operands import InstructionWord
from .matrix_tiles import MatrixTiles
from .tensor_address import TensorAddress, tensor_address, width
from .tensor_memory import TensorMemory

if TYPE_CHECKING:
    from ...view import KernelView

_ALL_LANES = 128
_HALF_OF_THE_LANES = 64
"""M of the layout that has 16 lanes of each quarter."""
_HALF_QUARTER = 16
_WHOLE_ROWS = ((False, 64), (False, 128), (True, 256))
"""(pair, M) of the shapes whose D has one column for each of N."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two operands of one multiplication that share columns."""

    point: int
    what: str
    column: int


@dataclass(frozen=True, slots=True)
class ColumnRange:
    """Columns that an instruction reads or writes."""

    point: int
    what: str
    first: int
    """Counted from the start of the allocation, or of tensor memory when `is_absolute`."""
    count: int
    is_absolute: bool


class AccumulatorColumns:
    """Columns of D, and of what multiplications read beside it, in one kernel."""

    def __init__(self, view: KernelView) -> None:
        self._view = view

    def overlaps(self) -> Iterator[Overlap]:
        """Yield multiplications whose D surely shares columns with what they read beside it."""
        for word in self.words:
            width = self.of_d(word)
            d = tensor_address(self._view, word.point)
            if width is None or d is None:
                continue
            for name, what in BESIDE_D.items():
                if self._view.body.instructions[word.point].get(name) is None:
                    continue
                other = tensor_address(self._view, word.point, name)
                if other is None or (other.is_absolute, other.slot) != (d.is_absolute, d.slot):
                    continue
                count = operand_columns(name, word.shape, word.fields).least
                if other.column < d.column + width and d.column < other.column + count:
                    yield Overlap(word.point, what, other.column)

    def d_beyond(self) -> Iterator[tuple[int, int, TensorAddress]]:
        """Yield multiplications whose D ends behind its allocation: (point, last column, address)."""
        seen: set[tuple[int, TensorAddress]] = set()
        for word in self.words:
            width, address = self.of_d(word), tensor_address(self._view, word.point)
            if width is None or address is None or address.column + width <= address.columns:
                continue
            key = (self._view.cfg.graph.block_of[word.point], address)
            if key not in seen:
                seen.add(key)
                yield word.point, address.column + width - 1, address

    def d_off_its_lanes(self) -> Iterator[tuple[int, int, int]]:
        """Yield multiplications whose D starts at a lane that its layout does not: (point, lane, step of lanes).

        A layout with all lanes starts at the first one, others at a multiple of 16.
        """
        for word in self.words:
            address = tensor_address(self._view, word.point)
            fills = self.of_d(word) is not None and word.fields.get("m") != _HALF_OF_THE_LANES
            step = _ALL_LANES if fills else _HALF_QUARTER
            if address is not None and address.lane % step:
                yield word.point, address.lane, step

    def operands_off_d(self) -> Iterator[tuple[int, str, int, int]]:
        """Yield operands in another half of each quarter of lanes than D: (point, what, its lane, that of D).

        Where D has 16 lanes of each quarter, A and the metadata start at the same of lane 0 and 16 (layouts C and F).
        """
        for word in self.words:
            m, n = word.fields.get("m"), word.fields.get("n")
            layout = None if m is None or n is None else accumulator(word.shape, m, n)
            d = tensor_address(self._view, word.point)
            if layout is None or layout.all_lanes or d is None:
                continue
            for name, what in (("a_taddr", "A"), ("metadata", "the metadata")):
                if self._view.body.instructions[word.point].get(name) is None:
                    continue
                other = tensor_address(self._view, word.point, name)
                if other is not None and (other.lane ^ d.lane) & _HALF_QUARTER:
                    yield word.point, what, other.lane, d.lane

    def column_ranges(self) -> Iterator[ColumnRange]:
        """Yield the columns of accumulators, loads and stores, as far as they are known."""
        for word in self.words:
            address, columns = tensor_address(self._view, word.point), self.of_d(word)
            if address is not None and columns is not None:
                yield ColumnRange(word.point, "accumulator", address.column, columns, address.is_absolute)
        for op, what in ((Op.TCGEN05_LD, "load"), (Op.TCGEN05_LD_RED, "load"), (Op.TCGEN05_ST, "store")):
            for point in sorted(self._view.get(TensorMemory).points[op]):
                address = tensor_address(self._view, point)
                if address is not None:
                    columns = width(self._view, point)
                    yield ColumnRange(point, what, address.column, columns, address.is_absolute)

    @property
    def words(self) -> tuple[InstructionWord, ...]:
        """Multiplications, with what is known of their instruction descriptors."""
        return self._view.get(MatrixTiles).operands.instruction_words

    def of_d(self, word: InstructionWord) -> int | None:
        """Return how many columns D has, None where the layout is another one or not known."""
        m, n = word.fields.get("m"), word.fields.get("n")
        if (
            m is None
            or n is None
            or word.shape.weight_stationary
            or any(words.broken(word.shape, word.fields))
        ):
            return None
        return n if (word.shape.pair, m) in _WHOLE_ROWS or (word.shape.kind.is_scaled and m == 128) else None


__all__ = ["AccumulatorColumns", "Overlap"]
