"""A picture of a box in shared memory: which bytes land in which banks under the swizzle, as SVG.

Each line is 128 bytes of shared memory, one turn of the 32 banks. A cell is one 16-byte chunk, four banks
wide; its colour is the chunk's column in the box and its label the box row and column it holds. Reading
one column of the box touches cells of one colour: with a good swizzle they spread over all the banks.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from ptxcheck.descriptors.facts import Facts, facts
from ptxcheck.descriptors.fields import Swizzle
from ptxcheck.descriptors.swizzle import ROW_BYTES, Pattern
from ptxcheck.descriptors.tensor_map import TensorMap

CHUNK = 16
CHUNKS_A_LINE = ROW_BYTES // CHUNK
CELL_WIDTH, CELL_HEIGHT, LEFT, TOP = 72, 22, 70, 58
SHOWN_LINES = 32


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


def svg(tensor_map: TensorMap) -> str:
    """Return the picture of a map's box; raise ValueError where its swizzle or size is not modelled."""
    derived = facts(tensor_map)
    if derived.swizzle is None:
        raise ValueError(f"the pattern of swizzle {tensor_map.swizzle} is not modelled")
    if derived.shared_bytes is None:
        raise ValueError("the box of an im2col-wide map depends on the copy instruction")
    title = (
        f"{Swizzle(tensor_map.swizzle).name}: {derived.shared_bytes} bytes,"
        f" rows of {derived.row_bytes} bytes every {derived.row_pitch} bytes"
    )
    return _document(title, cells(derived, derived.swizzle), derived.shared_bytes)


def _document(title: str, placed: list[Cell], total: int) -> str:
    lines = max((cell.line for cell in placed), default=0) + 1
    columns = max((cell.column for cell in placed), default=0) + 1
    width, height = LEFT + CHUNKS_A_LINE * CELL_WIDTH + 12, TOP + lines * CELL_HEIGHT + 28
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"',
        ' font-family="monospace" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="12" y="20" font-size="13">{escape(title)}</text>',
        *_bank_labels(),
        *(_cell(cell, columns) for cell in placed),
        *(_address(line) for line in range(lines)),
        f'<text x="12" y="{height - 10}">r: row of the box, c: 16-byte column; {_cut(total)}</text>',
        "</svg>",
    ]
    return "\n".join(parts)


def _cut(total: int) -> str:
    return "whole box" if total <= SHOWN_LINES * ROW_BYTES else f"first {SHOWN_LINES * ROW_BYTES} bytes"


def _bank_labels() -> list[str]:
    return [
        f'<text x="{LEFT + chunk * CELL_WIDTH + 4}" y="{TOP - 8}" fill="#444">'
        f"bank {chunk * 4}-{chunk * 4 + 3}</text>"
        for chunk in range(CHUNKS_A_LINE)
    ]


def _cell(cell: Cell, columns: int) -> str:
    x, y = LEFT + cell.chunk * CELL_WIDTH, TOP + cell.line * CELL_HEIGHT
    hue = 360 * cell.column // columns
    return (
        f'<rect x="{x}" y="{y}" width="{CELL_WIDTH - 1}" height="{CELL_HEIGHT - 1}"'
        f' fill="hsl({hue},65%,80%)"/>'
        f'<text x="{x + 6}" y="{y + 15}">r{cell.row} c{cell.column}</text>'
    )


def _address(line: int) -> str:
    return f'<text x="12" y="{TOP + line * CELL_HEIGHT + 15}" fill="#444">{line * ROW_BYTES:#06x}</text>'
