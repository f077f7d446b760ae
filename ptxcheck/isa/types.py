"""Widths and kinds of the types of PTX, and when a register agrees with an instruction type (PTX ISA 9.4)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from functools import cache


class TypeKind(Enum):
    """What ptxas compares when a register meets an instruction type."""

    BITS = auto()
    INTEGER = auto()
    FLOAT = auto()
    PACKED = auto()
    """Formats that only a `.bN` register of the same width can hold."""
    PREDICATE = auto()


def _widths(kind: TypeKind, names: Mapping[int, str]) -> dict[str, tuple[TypeKind, int]]:
    return {f".{name}": (kind, width) for width, text in names.items() for name in text.split()}


_TYPES: Mapping[str, tuple[TypeKind, int]] = {
    ".pred": (TypeKind.PREDICATE, 1),
    **_widths(TypeKind.BITS, {8: "b8", 16: "b16", 32: "b32", 64: "b64", 128: "b128"}),
    **_widths(TypeKind.INTEGER, {8: "u8 s8", 16: "u16 s16", 32: "u32 s32", 64: "u64 s64"}),
    **_widths(TypeKind.FLOAT, {16: "f16", 32: "f32 f16x2", 64: "f64"}),
    **_widths(
        TypeKind.PACKED,
        {
            8: "e4m3 e5m2 e2m3 e3m2 e2m1x2 ue8m0 ue4m3",
            16: "bf16 e4m3x2 e5m2x2 e2m3x2 e3m2x2 e2m1x4 ue8m0x2 s2f6x2 ue5m3x2",
            32: "bf16x2 tf32 u16x2 s16x2 u8x4 s8x4 e4m3x4 e5m2x4 e2m3x4 e3m2x4 e2m1p4x4 ue8m0x4",
            64: "f32x2",
        },
    ),
}


def type_kind(type_: str) -> TypeKind | None:
    """Return the kind of a type, or None when registers have no such type (`.texref`)."""
    found = _TYPES.get(type_)
    return None if found is None else found[0]


def type_width(type_: str) -> int | None:
    """Return the bits of a type, or None when it has no width."""
    found = _TYPES.get(type_)
    return None if found is None else found[1]


@cache
def agrees(register: str, needed: str, *, wider: bool = False) -> bool:
    """Tell whether ptxas takes a register declared `register` where the instruction asks for `needed`.

    Types that the table of types does not know agree with everything. A `.f16x2` register also counts as an
    integer.
    """
    if register not in _TYPES or needed not in _TYPES or register == needed:
        return True
    if register == ".f16x2" and type_kind(needed) is not TypeKind.FLOAT:
        return agrees(".u32", needed, wider=wider)
    register_kind, register_width = _TYPES[register]
    kind, width = _TYPES[needed]
    if TypeKind.PREDICATE in (register_kind, kind):
        return False
    if wider and register_width > width:
        return _agrees_wider(register_kind, kind, needed)
    if register_width != width:
        return False
    return TypeKind.BITS in (register_kind, kind) or register_kind is kind is TypeKind.INTEGER


def _agrees_wider(register: TypeKind, kind: TypeKind, needed: str) -> bool:
    if kind is TypeKind.BITS:
        return True
    if kind is TypeKind.INTEGER:
        return register in (TypeKind.INTEGER, TypeKind.BITS)
    return kind is TypeKind.FLOAT and register is TypeKind.BITS


__all__ = ["TypeKind", "agrees", "type_kind", "type_width"]
