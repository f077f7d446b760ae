"""What matrix instructions read through their descriptors, and what is wrong with it.

Property: a `Flaw` holds in every run that gets to the point, as far as the fields of the descriptor are known
(see `matrix_operands`). A tile is derived only where type, shape and major-ness of the operand are known.

Not derived: what `instruction_tile` leaves out, and tiles of swizzles with larger atoms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...cfg import AtomKind, Name, Uniformity
from ...cfg.concrete import Words
from ...cfg.linear import Atom
from ...descriptors.matrix import instruction as words
from ...descriptors.matrix import operand as operands
from ...descriptors.matrix.instruction import Kind
from ...descriptors.matrix.instruction_tile import blackwell_tile, copied_tile, hopper_tile
from ...descriptors.matrix.swizzle_mode import SwizzleMode
from ...descriptors.matrix.tile import Tile
from ...ir import Immediate, Register, Variable
from ...ir import Symbol as SymbolOperand
from .matrix_operands import (
    WGMMA,
    InstructionWord,
    MatrixOperand,
    MatrixOperands,
    Start,
)
from .packed import Piece
from .packed.word import SHARED_BITS

if TYPE_CHECKING:
    from ...view import KernelView

_RANK_BITS = 24
_WARPGROUP = 128


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with one descriptor."""

    operand: MatrixOperand
    message: str
    sure: bool = True


class MatrixTiles:
    """Tiles of one kernel."""

    def __init__(self, view: KernelView) -> None:
        self._view = view
        self.operands = MatrixOperands(view)

    @cached_property
    def _words(self) -> Mapping[int, InstructionWord]:
        return {word.point: word for word in self.operands.instruction_words}

    # ---- tiles

    def tile(self, operand: MatrixOperand) -> Tile | None:
        """Return what an instruction reads through a descriptor, None when not known."""
        mode = operand.mode
        if mode is None:
            return None
        instruction = self._view.body.instructions[operand.point]
        if instruction.operation.op in WGMMA:
            flag = instruction.get("trans_a" if operand.name == "a_desc" else "trans_b")
            transposed = isinstance(flag, Immediate) and flag.value == 1
            return hopper_tile(instruction.operation, operand.name == "a_desc", transposed, mode)
        if operand.name == "s_desc":
            return copied_tile(instruction.operation, mode)
        word = self._words.get(operand.point)
        return (
            None if word is None else blackwell_tile(word.shape, word.fields, operand.name == "a_desc", mode)
        )

    def broken(self, word: InstructionWord) -> Iterator[words.Constraint]:
        """Yield what the tables of its kind forbid in an instruction descriptor."""
        return words.broken(word.shape, word.fields)

    # ---- flaws

    def illegal_fields(self) -> Iterator[Flaw]:
        """Yield fields that no descriptor of the architecture may have."""
        for operand in self.operands.all:
            for one in operands.broken(operand.layout, operand.fields, self._view.module.target):
                values = ", ".join(f"{operand.fields[name]}" for name in one.fields)
                name = operand.layout.by_name[one.fields[0]].text
                yield Flaw(operand, f"{name} is {values}: {one.text}{_other_generation(operand)}")

    def unencoded_addresses(self) -> Iterator[Flaw]:
        """Yield start addresses in bytes, or with bits beyond the 18 that the field is made of."""
        for operand in self.operands.all:
            segment = next((s for s in operand.word.overlapping(0, 14) if s.is_address), None)
            if segment is None or segment.dropped is None:
                continue
            shifted = segment.dropped - segment.shift
            if shifted != 4:
                yield Flaw(operand, f"the address is shifted right by {max(shifted, 0)} bits, not by 4")
            elif segment.generic and segment.top > SHARED_BITS:
                yield Flaw(
                    operand, "a generic address is not masked to 18 bits: the shared window's bits stay in"
                )
            elif segment.top > _RANK_BITS and (self._view.launch.cluster_size or 1) > 1:
                message = "the address is not masked to 18 bits: in a cluster it holds the rank of the CTA"
                yield Flaw(operand, message, sure=False)

    def misaligned(self) -> Iterator[Flaw]:
        """Yield tiles that start between multiples of 16 bytes: the encoding drops the rest."""
        for operand in self.operands.all:
            start = operand.start
            variable = None if start is None else self._variable(start)
            if start is None or variable is None or _alignment(variable) % 16:
                continue
            others = all(factor % 16 == 0 for _, factor in start.others)
            if others and start.offset % 16:
                yield Flaw(operand, f"the tile starts {start.offset % 16} bytes behind a multiple of 16")

    def base_offsets(self) -> Iterator[Flaw]:
        """Yield base offsets that do not agree with a start address whose low bits are known."""
        for operand in self.operands.all:
            base, mode, start = operand.fields.get("base"), operand.mode, operand.start
            if not base or mode is None or mode is SwizzleMode.NONE or start is None or not start.is_known:
                continue
            variable = self._variable(start)
            if variable is None or _alignment(variable) % mode.repeat:
                continue
            right = start.offset >> 7 & 7
            if base != right:
                yield Flaw(
                    operand, f"the base offset is {base}, but the pattern of this tile starts at {_or(right)}"
                )

    def overlaps(self) -> Iterator[Flaw]:
        """Yield strides with which parts of a tile are the same bytes."""
        for operand in self.operands.all:
            tile = self.tile(operand)
            steps = None if tile is None else _steps(operand, tile)
            if tile is None or steps is None or not tile.is_modelled:
                continue
            found = tile.overlap(*steps)
            if found is not None:
                zero = (tile.uses_stride and not steps[1]) or (tile.uses_leading and not steps[0])
                layout = "K-major" if tile.k_major else "MN-major"
                yield Flaw(
                    operand,
                    f"{_named(tile, steps)} lets parts of the {layout} tile ({tile.mode.value}) share bytes: "
                    f"those at {found[0]} and {found[1]}",
                    sure=not zero,
                )

    def outside(self) -> Iterator[Flaw]:
        """Yield tiles that reach beyond the variable they start in."""
        for operand in self.operands.all:
            start, tile = operand.start, self.tile(operand)
            if start is None or tile is None or not start.is_known or not tile.is_modelled:
                continue
            variable, steps = self._variable(start), _steps(operand, tile)
            if variable is None or steps is None or variable.size is None or variable.is_sized_elsewhere:
                continue
            begin = start.offset // tile.mode.span * tile.mode.span
            end = begin + tile.end(*steps)
            if start.offset < 0 or end > variable.size:
                yield Flaw(
                    operand,
                    f"the tile ends at byte {end} of '{variable.name}', which has {variable.size} bytes",
                )

    def differing(self) -> Iterator[Flaw]:
        """Yield descriptors of wgmma that differ among the warps of a warpgroup."""
        for operand in self.operands.all:
            if operand.is_hopper:
                offsets = self._by_thread(operand)
                if offsets is not None and _differs(offsets):
                    yield Flaw(operand, "the four warps of a warpgroup pass different start addresses")

    def transposed(self) -> Iterator[Flaw]:
        """Yield operands of tcgen05 that are transposed with a swizzle that cannot be (or must not be)."""
        for operand in self.operands.all:
            word = self._words.get(operand.point)
            mode = operand.mode
            if word is None or mode is None or operand.name not in ("a_desc", "b_desc"):
                continue
            if not word.fields.get(f"transpose_{operand.name[0]}"):
                continue
            large = mode is SwizzleMode.BYTES_128_ATOM_32
            if large != (word.shape.kind is Kind.TF32):
                what = (
                    "needs the 128-byte swizzle of 32-byte atoms" if not large else "cannot have this swizzle"
                )
                yield Flaw(
                    operand, f"a transposed operand of {word.shape.kind.value} {what}, not {mode.value}"
                )

    def first(self, flaws: Iterable[Flaw]) -> Iterator[Flaw]:
        """Yield of flaws that several instructions of a block have in common the first one."""
        seen: set[tuple[int, str, str]] = set()
        for flaw in flaws:
            key = (self.block(flaw.operand.point), flaw.operand.name, flaw.message)
            if key not in seen:
                seen.add(key)
                yield flaw

    def block(self, point: int) -> int:
        """Return the basic block of a point."""
        return self._view.cfg.graph.block_of[point]

    # ---- parts

    def _variable(self, start: Start) -> Variable | None:
        if start.symbol is None:
            return None
        name = SymbolOperand(start.symbol.name, start.symbol.scope)
        local = next(
            (v for v in self._view.body.variables if (v.name, v.scope) == (name.name, name.scope)), None
        )
        return local or self._view.module.variables.get(name.name)

    def agrees_by_thread(self, operand: MatrixOperand) -> bool:
        """Tell whether the start address is one for the threads of each warpgroup that may come to the instruction."""
        offsets = self._offsets(operand)
        threads = self._view.facts.execution(operand.point).threads
        if offsets is None:
            return False
        for first in range(0, len(offsets), _WARPGROUP):
            group = range(first, min(first + _WARPGROUP, len(offsets)))
            found = {int(offsets[t]) for t in group if threads is None or t in threads}
            if len(found) > 1:
                return False
        return True

    def _by_thread(self, operand: MatrixOperand) -> Words | None:
        """Return what each thread adds to the start address, None when not known."""
        total = self._offsets(operand)
        execution = self._view.facts.execution(operand.point)
        if total is not None and execution.threads is not None:
            inside = np.array([t in execution.threads for t in range(len(total))])
            if not execution.exact:
                return None
            total = np.where(inside, total, np.uint64((1 << 64) - 1))
        return total

    def _offsets(self, operand: MatrixOperand) -> Words | None:
        """Return what each thread of the block would add to the start address, None when not known."""
        start, threads = operand.start, self._view.launch.threads
        block = self._view.launch.block
        if start is None or threads is None or block is None:
            return None
        total = np.zeros(threads, dtype=np.uint64)
        for symbol, factor in start.others:
            part = self._own_part(symbol, block[0] == threads, threads)
            if part is None:
                return None
            total = total + part * np.uint64(factor % (1 << 64))
        return total

    def _own_part(self, symbol: Atom | Piece, one_row: bool, threads: int) -> Words | None:
        if isinstance(symbol, Piece):
            total = np.full(threads, symbol.source.constant % (1 << 64), dtype=np.uint64)
            for inner, factor in symbol.source.terms:
                part = self._own_part(inner, one_row, threads)
                if part is None:
                    return None
                total = total + part * np.uint64(factor % (1 << 64))
            return total >> np.uint64(symbol.low) & np.uint64((1 << symbol.length) - 1)
        match symbol.kind:
            case AtomKind.SPECIAL if symbol.name == "%tid.x" and one_row:
                return np.arange(threads, dtype=np.uint64)
            case AtomKind.PARAMETER | AtomKind.ADDRESS:
                return np.zeros(threads, dtype=np.uint64)
            case AtomKind.DEFINITION if symbol.at >= 0:
                register = Register(symbol.name, symbol.scope)
                known = self._view.facts.by_thread(Name(register, symbol.at))
                if known is not None:
                    return known[:threads]
                return np.zeros(threads, dtype=np.uint64) if self._agrees(symbol.at, register) else None
        return None

    def _agrees(self, site: int, register: Register) -> bool:
        """Tell whether the threads of a warpgroup agree on what a point defines."""
        block_of = self._view.cfg.graph.block_of
        after = site + 1
        if after >= len(block_of) or block_of[after] != block_of[site]:
            return False
        return self._view.facts.uniform(after, register) <= Uniformity.WARPGROUP


def _differs(offsets: Words) -> bool:
    """Tell whether some complete warpgroup has different numbers in the first threads of its warps."""
    outside = np.uint64((1 << 64) - 1)
    for first in range(0, len(offsets) - _WARPGROUP + 1, _WARPGROUP):
        leaders = offsets[first : first + _WARPGROUP : 32]
        if not (leaders == outside).any() and not (leaders == leaders[0]).all():
            return True
    return False


def _other_generation(operand: MatrixOperand) -> str:
    """Return a hint where a descriptor is built for the other generation of the matrix unit."""
    if operand.layout is operands.WGMMA and operand.fields.get("unused46") == 1:
        return "; this looks like a descriptor for tcgen05"
    if operand.layout is operands.TCGEN05 and operand.fields.get("version") == 0:
        return "; a descriptor for wgmma has zero there"
    return ""


def _or(right: int) -> str:
    return f"0 or {right}" if right else "0"


def _named(tile: Tile, steps: tuple[int, int]) -> str:
    parts = []
    if tile.uses_leading:
        parts.append(f"leading offset {steps[0]}")
    if tile.uses_stride:
        parts.append(f"stride offset {steps[1]}")
    return " and ".join(parts)


def _steps(operand: MatrixOperand, tile: Tile) -> tuple[int, int] | None:
    """Return the leading and stride offsets in bytes; what the tile does not use counts as 0."""
    if operand.fields.get("leading_is_address"):
        return None
    leading = operand.fields.get("leading") if tile.uses_leading else 0
    stride = operand.fields.get("stride") if tile.uses_stride else 0
    return None if leading is None or stride is None else (leading, stride)


def _alignment(variable: Variable) -> int:
    return variable.align or 1


__all__ = ["Flaw", "MatrixTiles"]
