"""Where matrix operands in shared memory lie (PTX ISA, "Matrix descriptor format").

A tile is known where the shape of the instruction and the fields of the descriptor are. Certain is its first row, or
the 16 bytes that it starts with, where the swizzle puts them; it may touch all bytes of the blocks of 8 rows that it
reads from, and no others. The slices of K that several instructions read lie in the same blocks: where their first rows
fill a span of the pattern, it is read whichever row of the pattern it is.

Each warp of a warpgroup reads its own 16 rows of A: released kernels let a warp multiply what it wrote itself behind a
barrier of that warp alone (FlashAttention 3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...descriptors.matrix.bit_fields import Layout
from ...descriptors.matrix.instruction_tile import (
    HOPPER_ROWS,
    blackwell_tile,
    copied_tile,
    hopper_tile,
)
from ...descriptors.matrix.operand import (
    TCGEN05,
    UNIT,
    WGMMA,
    swizzle,
)
from ...descriptors.matrix.swizzle_mode import SwizzleMode
from ...descriptors.matrix.tile import CORE_ROWS, Tile
from ..symex.values.symbol import Form
from ..typestate.matrix_operands import shape_of
from .actions import WARPS_OF_A_TEAM, Span
from .bulk_copy import LEAST_BYTES
from .instruction_fields import instruction_fields
from .lowering import Occurrence, merged

_GROUPS_OF_A_WARP = HOPPER_ROWS // WARPS_OF_A_TEAM // CORE_ROWS


def operand_spans(
    occurrence: Occurrence, layout: Layout, names: Iterable[str], ctas: tuple[int, ...]
) -> Iterator[Span]:
    """Yield where the matrices lie that descriptors name, in each CTA that takes part."""
    for name in names:
        if not occurrence.has(name):
            continue
        if isinstance(occurrence.event.operands[name], Form):
            for cta in ctas:
                yield Span(cta, -1, 0, exact=False)
            continue
        for word in occurrence.values(name):
            for cta in ctas:
                yield from _spans(occurrence, name, layout, word, cta)


def _spans(occurrence: Occurrence, name: str, layout: Layout, word: int, cta: int) -> Iterator[Span]:
    fields = {field.name: word >> field.shift & (1 << field.length) - 1 for field in layout.fields}
    start = fields["start"] * UNIT
    mode = swizzle(layout, fields["mode"])
    tile = None if mode is None else _tile(occurrence, name, layout, mode)
    row = LEAST_BYTES
    if tile is None or not tile.has_blocks(start) or fields.get("leading_is_address"):
        yield Span(cta, start, 0, exact=False)
    else:
        groups = _groups(occurrence, name, layout, tile)
        steps = fields["leading"] * UNIT, fields["stride"] * UNIT
        for begin, end in tile.blocks(start, *steps, groups):
            yield Span(cta, begin, 0, exact=False, reach=end - begin)
        start += next(tile.offsets(*steps, groups))
        row = min(tile.row_bytes, tile.mode.span - start % tile.mode.span)
    if mode is None or fields["base"]:
        return
    if mode is SwizzleMode.NONE:
        yield Span(cta, start, LEAST_BYTES)
    elif mode.pattern is not None:
        places = (mode.pattern.place(start + chunk) for chunk in range(0, row, LEAST_BYTES))
        yield from merged(Span(cta, place, LEAST_BYTES) for place in places)


def _tile(occurrence: Occurrence, name: str, layout: Layout, mode: SwizzleMode) -> Tile | None:
    """Return what the instruction reads through one of its descriptors, None when not known."""
    operation, is_a = occurrence.operation, name == "a_desc"
    if layout is WGMMA:
        flag = "trans_a" if is_a else "trans_b"
        transposed = occurrence.number(flag) == 1 if occurrence.has(flag) else False
        return hopper_tile(operation, is_a, transposed, mode)
    if name == "s_desc":
        return copied_tile(operation, mode)
    shape = shape_of(operation)
    return None if shape is None else blackwell_tile(shape, instruction_fields(occurrence, shape), is_a, mode)


def _groups(occurrence: Occurrence, name: str, layout: Layout, tile: Tile) -> range | None:
    """Return the groups of 8 rows of A that are those of the warp, None for all."""
    if layout is not WGMMA or name != "a_desc" or not tile.k_major:
        return None
    first = occurrence.warp % WARPS_OF_A_TEAM * _GROUPS_OF_A_WARP
    return range(first, first + _GROUPS_OF_A_WARP)


__all__ = ["TCGEN05", "WGMMA", "operand_spans"]
