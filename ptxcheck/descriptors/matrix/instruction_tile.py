"""Which tile one matrix instruction reads through a descriptor: its rows, its bytes along K, and its major-ness.

Not derived: tiles of one-bit types, and of copies that decompress. Sources: PTX ISA §9.7.16.5 (wgmma), 9.7.17.2 and
9.7.17.4.2 (shapes and instruction descriptors of tcgen05), 9.7.17.8.2 (tcgen05.cp).
"""

from __future__ import annotations

from collections.abc import Mapping

from ...opcodes.spec import Operation
from . import instruction as words
from .instruction import Kind, Shape
from .swizzle_mode import SwizzleMode
from .tile import Tile

K_BYTES = 32
"""Bytes of K that one dense multiplication takes, of every type but one-bit types."""
HOPPER_ROWS = 64
"""Rows of A of a warpgroup."""
_TYPE_BYTES: Mapping[str, int] = {
    ".f16": 2, ".bf16": 2, ".tf32": 4, ".e4m3": 1, ".e5m2": 1, ".s8": 1, ".u8": 1,
}  # fmt: skip
_KIND_BYTES: Mapping[Kind, int] = {Kind.F16: 2, Kind.TF32: 4}
"""Bytes of an element; 1 for all other kinds."""
_COPIED: Mapping[str, tuple[int, int]] = {
    ".128x256b": (128, 32), ".4x256b": (4, 32), ".128x128b": (128, 16), ".64x128b": (64, 16), ".32x128b": (32, 16),
}  # fmt: skip
"""Rows and bytes of each shape of `tcgen05.cp`."""


def hopper_tile(operation: Operation, is_a: bool, transposed: bool, mode: SwizzleMode) -> Tile | None:
    """Return what a wgmma reads of A or B, None when not known."""
    element = _TYPE_BYTES.get(operation.slots.get("atype" if is_a else "btype", ""))
    shape = operation.slots.get("shape", "")
    if element is None or not shape.startswith(".m64n"):
        return None
    columns, _, depth = shape.removeprefix(".m64n").partition("k")
    k_bytes = int(depth) * element if not is_a else K_BYTES
    return _made(mode, HOPPER_ROWS if is_a else int(columns), k_bytes, element, transposed)


def blackwell_tile(shape: Shape, fields: Mapping[str, int], is_a: bool, mode: SwizzleMode) -> Tile | None:
    """Return what a tcgen05 multiplication reads of A or B in one CTA; `fields` are those of its descriptor."""
    side = "a" if is_a else "b"
    rows, flag = fields.get("m" if is_a else "n"), fields.get(f"transpose_{side}")
    if rows is None or flag is None or any(words.broken(shape, fields)):
        return None
    share = rows // 2 if shape.pair else rows
    k_bytes = 48 if fields.get("k_96") else K_BYTES
    if shape.sparse and not is_a:
        k_bytes *= 2
    return _made(mode, share, k_bytes, _KIND_BYTES.get(shape.kind, 1), bool(flag))


def copied_tile(operation: Operation, mode: SwizzleMode) -> Tile | None:
    """Return what a copy to tensor memory reads, None when not known."""
    shape = _COPIED.get(operation.slots.get("shape", ""))
    if shape is None or operation.slots.get("src_fmt"):
        return None
    return Tile(mode, True, shape[1], shape[0])


def _made(mode: SwizzleMode, rows: int, k_bytes: int, element: int, transposed: bool) -> Tile:
    if transposed:
        return Tile(mode, False, rows * element, k_bytes // element)
    return Tile(mode, True, k_bytes, rows)
