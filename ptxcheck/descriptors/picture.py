"""A picture of a box in shared memory: which bytes land in which banks under the swizzle, as SVG.

Each line is 128 bytes of shared memory, one turn of the 32 banks. A cell is one 16-byte chunk, four banks
wide; its colour is the chunk's column in the box and its label the row of the box and the elements of that
row that it holds. Reading one column of the box touches cells of one colour: with a good swizzle they spread
over all the banks.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from ptxcheck.descriptors.facts import Facts, element_bits_in_shared, facts
from ptxcheck.descriptors.fields import Swizzle
from ptxcheck.descriptors.swizzle import ROW_BYTES, Pattern
from ptxcheck.descriptors.tensor_map import TensorMap

CHUNK = 16
CHUNKS_A_LINE = ROW_BYTES // CHUNK
CELL_WIDTH, CELL_HEIGHT, LEFT, TOP = 84, 22, 76, 104
SHOWN_LINES = 32
COLUMN_ROWS = 8
"""Rows of one 16-byte column that a matrix instruction reads together (a core matrix, a phase of ldmatrix)."""
COLOURS = ("#a6cee3", "#b2df8a", "#fdbf6f", "#fb9a99", "#cab2d6", "#ffff99", "#e5d8bd", "#b3e2cd")
"""One a 16-byte column of the box, again from the start after eight."""
EMPTY, INK, PALE = "#f2f2f2", "#222222", "#666666"


@dataclass(frozen=True, slots=True)
class Cell:
    """One 16-byte chunk: its place in shared memory (line, chunk) and in the box (row, column)."""

    line: int
    chunk: int
    row: int
    column: int


def cells(derived: Facts, swizzle: Pattern, lines: int = SHOWN_LINES) -> list[Cell]:
    """Return where the chunks of a box land, for the first `lines` lines of shared memory."""
    found = []
    rows = min(derived.rows or 0, lines * ROW_BYTES // max(derived.row_pitch, 1) + 1)
    for row in range(rows):
        for column in range(-(-derived.row_bytes // CHUNK)):
            address = row * derived.row_pitch + column * CHUNK
            line, chunk = divmod(swizzle.place(address) // CHUNK, CHUNKS_A_LINE)
            if line < lines:
                found.append(Cell(line, chunk, row, column))
    return found


def column_groups(derived: Facts, swizzle: Pattern) -> int:
    """Return how many of the eight groups of four banks one 16-byte column of eight rows of a box touches."""
    rows = min(derived.rows or 0, COLUMN_ROWS)
    places = [swizzle.place(row * derived.row_pitch) // CHUNK % CHUNKS_A_LINE for row in range(rows)]
    return len(set(places))


def svg(tensor_map: TensorMap) -> str:
    """Return the picture of a map's box; raise ValueError where its swizzle or size is not modelled."""
    derived = facts(tensor_map)
    if derived.swizzle is None:
        raise ValueError(f"the pattern of swizzle {tensor_map.swizzle} is not modelled")
    if derived.shared_bytes is None:
        raise ValueError("the box of an im2col-wide map depends on the copy instruction")
    if not derived.shared_bytes:
        raise ValueError("the box is empty")
    return _document(tensor_map, derived, derived.swizzle)


def _document(tensor_map: TensorMap, derived: Facts, swizzle: Pattern) -> str:
    placed = cells(derived, swizzle)
    lines = max(cell.line for cell in placed) + 1
    chunks = -(-derived.row_bytes // CHUNK)
    width, height = LEFT + CHUNKS_A_LINE * CELL_WIDTH + 14, TOP + lines * CELL_HEIGHT + 34
    per_chunk = CHUNK * 8 // max(element_bits_in_shared(tensor_map.data_type), 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        ' font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *(
            _text(14, 22 + 17 * number, line, INK)
            for number, line in enumerate(_heading(tensor_map, derived, swizzle))
        ),
        *_bank_labels(),
        *(_empty(line, chunk) for line in range(lines) for chunk in range(CHUNKS_A_LINE)),
        *(_cell(cell, per_chunk) for cell in placed),
        *(
            _text(14, TOP + line * CELL_HEIGHT + 15, f"{line * ROW_BYTES:#06x}", PALE)
            for line in range(lines)
        ),
        *_repeats(swizzle, lines),
        _text(14, height - 12, _footer(derived, chunks), PALE),
        "</svg>",
    ]
    return "\n".join(parts)


def _heading(tensor_map: TensorMap, derived: Facts, swizzle: Pattern) -> list[str]:
    gap = derived.row_pitch - derived.row_bytes
    groups, rows = column_groups(derived, swizzle), min(derived.rows or 0, COLUMN_ROWS)
    ways = -(-rows // groups)
    conflict = "no bank conflict" if ways == 1 else f"a {ways}-way bank conflict"
    return [
        f"{Swizzle(tensor_map.swizzle).name}: {derived.rows} rows of {derived.row_bytes} bytes"
        + (f", {gap} bytes empty after each" if gap else "")
        + f"; {derived.shared_bytes} bytes, aligned to {derived.shared_alignment}",
        f"one 16-byte column of {rows} rows lies in {groups} of 8 groups of four banks: {conflict}",
    ]


def _footer(derived: Facts, chunks: int) -> str:
    total = derived.shared_bytes or 0
    shown = SHOWN_LINES * ROW_BYTES
    cut = "" if total <= shown else f" · the first {shown} of {total} bytes"
    colours = "colour: 16-byte column of the box" if chunks > 1 else "each row is one 16-byte column"
    return f"row : elements of the row · {colours}{cut}"


def _text(x: int, y: int, text: str, colour: str) -> str:
    return f'<text x="{x}" y="{y}" fill="{colour}">{escape(text)}</text>'


def _bank_labels() -> list[str]:
    places = range(CHUNKS_A_LINE)
    return [_text(LEFT + n * CELL_WIDTH + 4, TOP - 24, "banks", PALE) for n in places] + [
        _text(LEFT + n * CELL_WIDTH + 4, TOP - 9, f"{n * 4}-{n * 4 + 3}", PALE) for n in places
    ]


def _rectangle(line: int, chunk: int, colour: str) -> str:
    x, y = LEFT + chunk * CELL_WIDTH, TOP + line * CELL_HEIGHT
    return f'<rect x="{x}" y="{y}" width="{CELL_WIDTH - 2}" height="{CELL_HEIGHT - 2}" fill="{colour}"/>'


def _empty(line: int, chunk: int) -> str:
    return _rectangle(line, chunk, EMPTY)


def _cell(cell: Cell, per_chunk: int) -> str:
    first = cell.column * per_chunk
    label = f"{cell.row} : {first}" + (f"-{first + per_chunk - 1}" if per_chunk > 1 else "")
    x, y = LEFT + cell.chunk * CELL_WIDTH, TOP + cell.line * CELL_HEIGHT
    return _rectangle(cell.line, cell.chunk, COLOURS[cell.column % len(COLOURS)]) + _text(
        x + 5, y + 15, label, INK
    )


def _repeats(swizzle: Pattern, lines: int) -> list[str]:
    """Draw a rule where the pattern of the swizzle starts again."""
    if not swizzle.bits:
        return []
    right = LEFT + CHUNKS_A_LINE * CELL_WIDTH
    return [
        f'<line x1="{LEFT - 4}" x2="{right}" y1="{y}" y2="{y}" stroke="{INK}" stroke-dasharray="4 3"/>'
        for line in range(swizzle.repeat // ROW_BYTES, lines, swizzle.repeat // ROW_BYTES)
        for y in (TOP + line * CELL_HEIGHT - 1,)
    ]
