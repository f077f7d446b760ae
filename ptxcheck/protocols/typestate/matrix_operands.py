"""Descriptors that the matrix instructions of a kernel read, decoded as far as the code that builds them tells.

Property: a field is in `fields` only where every run that gets to the point has that number there, addresses of
shared memory taken to be below 2^18 (see `packed.word`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ...cfg import AtomKind, Value
from ...cfg.linear import Atom
from ...descriptors.matrix import operand as operands
from ...descriptors.matrix.bit_fields import BitField, Layout
from ...descriptors.matrix.instruction import Kind, Shape
from ...descriptors.matrix.swizzle_mode import SwizzleMode
from ...isa.modifier import Mod
from ...opcodes.op import Op
from ...opcodes.spec import Operation
from ...opcodes.target import Target
from .packed import (
    Follower,
    Piece,
    Segment,
    Sum,
    Word,
)

if TYPE_CHECKING:
    from ...view import KernelView

WGMMA = frozenset({Op.WGMMA_MMA_ASYNC, Op.WGMMA_MMA_ASYNC_SP})
TCGEN05 = frozenset(
    {Op.TCGEN05_MMA, Op.TCGEN05_MMA_SP, Op.TCGEN05_MMA_WS, Op.TCGEN05_MMA_WS_SP}
)  # fmt: skip
READERS = WGMMA | TCGEN05 | {Op.TCGEN05_CP}
_SPARSE = frozenset({Op.TCGEN05_MMA_SP, Op.TCGEN05_MMA_WS_SP})
_STATIONARY = frozenset({Op.TCGEN05_MMA_WS, Op.TCGEN05_MMA_WS_SP})
_ENCODED_DROPS = 4


@dataclass(frozen=True, slots=True)
class Start:
    """Where a tile starts: `offset` bytes plus unknowns from a variable in shared memory."""

    symbol: Atom | None
    """Address of the variable; None when not known."""
    offset: int
    others: tuple[tuple[Atom | Piece, int], ...]
    """What else is added, in bytes."""

    @property
    def is_known(self) -> bool:
        """Tell whether the tile starts at a constant offset in a variable."""
        return self.symbol is not None and not self.others


@dataclass(frozen=True, slots=True)
class MatrixOperand:
    """One descriptor that one instruction reads."""

    point: int
    name: str
    """`a_desc`, `b_desc` or `s_desc`."""
    layout: Layout
    word: Word
    fields: Mapping[str, int]

    @property
    def is_hopper(self) -> bool:
        """Tell whether the descriptor is one of wgmma."""
        return self.layout is operands.WGMMA

    @property
    def title(self) -> str:
        """Return what messages call the operand."""
        return {"a_desc": "operand A", "b_desc": "operand B"}.get(self.name, "the source")

    @property
    def mode(self) -> SwizzleMode | None:
        """Return the swizzle mode, None when it is not known or is none."""
        mode = self.fields.get("mode")
        return None if mode is None else operands.swizzle(self.layout, mode)

    @property
    def start_segment(self) -> Segment | None:
        """Return what fills the start address, None when it is a constant or several things."""
        found = list(self.word.overlapping(0, 14))
        return found[0] if len(found) == 1 else None

    @property
    def start(self) -> Start | None:
        """Return where the tile starts, None when nothing is known of it."""
        segment = self.start_segment
        if segment is None or segment.dropped is None or segment.dropped - segment.shift != _ENCODED_DROPS:
            return None
        low_bits = self.word.constant & ((1 << segment.shift) - 1)
        return _start(segment.sum, segment.dropped, low_bits * operands.UNIT)


def _start(total: Sum, dropped: int, more: int) -> Start:
    """Return a sum that lacks an address' lowest bits in bytes, and `more` bytes.

    The four bits that the encoding cuts off are zero, or are lost; others were cut off to align the address.
    """
    symbol: Atom | None = None
    unit = 1 << dropped
    offset = total.constant * unit + more
    others: dict[Atom | Piece, int] = {}
    for one, factor in total.terms:
        terms: tuple[tuple[Atom | Piece, int], ...] = ((one, factor * unit),)
        constant = 0
        if isinstance(one, Piece) and one.low == dropped and factor == 1:
            terms, constant = one.source.terms, one.source.constant
            if dropped > _ENCODED_DROPS:
                terms = (*terms, (Piece(one.source, 0, dropped), -1))
        offset += constant
        for part, count in terms:
            is_symbol = isinstance(part, Atom) and part.kind is AtomKind.ADDRESS and count == 1
            if is_symbol and symbol is None:
                assert isinstance(part, Atom)
                symbol = part
            else:
                others[part] = others.get(part, 0) + count
    return Start(symbol, offset, tuple(others.items()))


@dataclass(frozen=True, slots=True)
class InstructionWord:
    """The instruction descriptor of one `tcgen05.mma`."""

    point: int
    shape: Shape
    fields: Mapping[str, int]


class MatrixOperands:
    """Descriptors of one kernel."""

    def __init__(self, view: KernelView, known: Callable[[int], int | None] = lambda load: None) -> None:
        """`known` gives the number that a load finds, by its point, None where that is not known."""
        self._view = view
        self._known = known

    @cached_property
    def all(self) -> tuple[MatrixOperand, ...]:
        """Every descriptor of an operand in shared memory that some run reads."""
        return tuple(one for point in self._points for one in self._at(point))

    @cached_property
    def instruction_words(self) -> tuple[InstructionWord, ...]:
        """The instruction descriptors of `tcgen05.mma`."""
        found = []
        for point in self._points:
            instruction = self._view.body.instructions[point]
            shape = shape_of(instruction.operation, self._view.module.target)
            if shape is not None:
                word = self._follower.word(point, instruction.get("idesc"), 32)
                value = self._view.facts.value(point, instruction.get("idesc"))
                if any(segment.carries for segment in word.segments):
                    word = _opaque(value)
                fields = _fields(word, shape.kind.layout, value.ones, value.maybe)
                found.append(InstructionWord(point, shape, fields))
        return tuple(found)

    @cached_property
    def _points(self) -> tuple[int, ...]:
        return tuple(
            point
            for point, instruction in enumerate(self._view.body.instructions)
            if instruction.operation.op in READERS and not self._view.facts.never_runs(point)
        )

    @cached_property
    def _follower(self) -> Follower:
        return Follower(self._view, self._known)

    def _at(self, point: int) -> Iterator[MatrixOperand]:
        instruction = self._view.body.instructions[point]
        layout = operands.WGMMA if instruction.operation.op in WGMMA else operands.TCGEN05
        for name in ("a_desc", "b_desc", "s_desc"):
            operand = instruction.get(name)
            if operand is None:
                continue
            word = self._follower.word(point, operand)
            value = self._view.facts.value(point, operand)
            yield MatrixOperand(point, name, layout, word, _fields(word, layout, value.ones, value.maybe))


def _fields(word: Word, layout: Layout, ones: int, maybe: int) -> dict[str, int]:
    """Return the fields that are known: from the word's constant bits, else from the value's known bits."""
    found: dict[str, int] = {}
    for field in layout.fields:
        if not any(word.overlapping(field.shift, field.length)):
            found[field.name] = field.decode(word.constant)
        elif (ones ^ maybe) & field.mask == 0:
            found[field.name] = field.decode(ones)
    return found


def _opaque(value: Value) -> Word:
    """Return a word of which nothing is known beside the bits of the value."""
    return Word(value.width, (Segment(0, value.width, Sum(())),))


def shape_of(operation: Operation, target: Target | None = None) -> Shape | None:
    """Return what a `tcgen05.mma` says besides its descriptor; None for other instructions and kinds."""
    op = operation.op
    if op not in TCGEN05:
        return None
    slots = operation.slots
    kind = next((one for one in Kind if one.value == slots.get("kind")), None)
    if kind is None:
        return None
    pair = slots.get("cta_group", "").endswith("2")
    return Shape(kind, op in _SPARSE, pair, op in _STATIONARY, operation.has(Mod.ASHIFT), target)


__all__ = [
    "READERS", "TCGEN05", "WGMMA", "BitField", "InstructionWord", "MatrixOperand", "MatrixOperands", "Start",
    "shape_of",
]  # fmt: skip
