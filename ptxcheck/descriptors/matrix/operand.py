"""The 64-bit descriptor of an operand in shared memory, of wgmma and of tcgen05, as data.

Addresses and offsets are encoded as `(x & 0x3FFFF) >> 4`: 18 bits of bytes in units of 16. Sources: PTX ISA
9.7.16.5.1 (wgmma) and 9.7.17.4.1 (tcgen05).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...opcodes.target import Target
from . import swizzle_mode
from .bit_fields import BitField, Layout
from .swizzle_mode import SwizzleMode

UNIT = 16
"""Bytes that one step of an encoded address or offset stands for."""
ADDRESS_BITS = 18
ADDRESS_MASK = (1 << ADDRESS_BITS) - 1


def encoded(number: int) -> int:
    """Return the 14 bits that stand for an address or offset in bytes."""
    return (number & ADDRESS_MASK) // UNIT


_START = BitField("start", 0, 14, "the start address", UNIT)
_LEADING = BitField("leading", 16, 14, "the leading dimension's byte offset", UNIT)
_STRIDE = BitField("stride", 32, 14, "the stride dimension's byte offset", UNIT)
_BASE = BitField("base", 49, 3, "the base offset")

WGMMA = Layout(
    "wgmma matrix descriptor",
    64,
    (
        _START,
        BitField("unused14", 14, 2, "bits 14 and 15"),
        _LEADING,
        BitField("unused30", 30, 2, "bits 30 and 31"),
        _STRIDE,
        BitField("unused46", 46, 3, "bits 46 to 48"),
        _BASE,
        BitField("unused52", 52, 10, "bits 52 to 61"),
        BitField("mode", 62, 2, "the swizzle mode"),
    ),
    "9.7.16.5.1",
)

TCGEN05 = Layout(
    "tcgen05 matrix descriptor",
    64,
    (
        _START,
        BitField("unused14", 14, 2, "bits 14 and 15"),
        _LEADING,
        BitField("unused30", 30, 2, "bits 30 and 31"),
        _STRIDE,
        BitField("version", 46, 3, "the constant in bits 46 to 48"),
        _BASE,
        BitField("leading_is_address", 52, 1, "the leading dimension's mode"),
        BitField("unused53", 53, 8, "bits 53 to 60"),
        BitField("mode", 61, 3, "the swizzle mode"),
    ),
    "9.7.17.4.1",
)


def swizzle(layout: Layout, mode: int) -> SwizzleMode | None:
    """Return the swizzle mode behind the number of a descriptor, None for a number that is no mode."""
    return (swizzle_mode.WGMMA if layout is WGMMA else swizzle_mode.TCGEN05).get(mode)


@dataclass(frozen=True, slots=True)
class Constraint:
    """One condition on the fields of a descriptor. It is asked when all fields of `fields` are known."""

    id: str
    fields: tuple[str, ...]
    holds: Callable[..., bool]
    """Gets the fields in order, then the target."""
    text: str
    section: str


def _is_zero(number: int, target: Target | None) -> bool:
    return number == 0


def _unused(section: str, *names: str) -> tuple[Constraint, ...]:
    return tuple(
        Constraint(
            name, (name,), _is_zero, f"bits {name.removeprefix('unused')} and up are unused: zero", section
        )
        for name in names
    )


def _leading_may_be_address(is_address: int, mode: int, base: int, target: Target | None) -> bool:
    """Only sm_103a takes an absolute leading address: 128-byte swizzle of 16-byte atoms, base offset 0."""
    if not is_address:
        return True
    return (target is None or target.arch in (103, 107)) and mode == 2 and base == 0


CONSTRAINTS: Mapping[str, tuple[Constraint, ...]] = {
    WGMMA.name: _unused(WGMMA.section, "unused14", "unused30", "unused46", "unused52"),
    TCGEN05.name: (
        *_unused(TCGEN05.section, "unused14", "unused30", "unused53"),
        Constraint(
            "version", ("version",), lambda version, _: version == 1,
            "bits 46 to 48 hold the constant 0b001", TCGEN05.section,
        ),
        Constraint(
            "mode", ("mode",), lambda mode, _: mode in swizzle_mode.TCGEN05,
            "a swizzle mode is 0, 1, 2, 4 or 6", TCGEN05.section,
        ),
        Constraint(
            "leading_is_address", ("leading_is_address", "mode", "base"), _leading_may_be_address,
            "an absolute leading address needs sm_103a, the 128-byte swizzle and base offset 0",
            TCGEN05.section,
        ),
    ),
}  # fmt: skip
"""What the documents ask of the fields of each layout by themselves."""


def broken(layout: Layout, fields: Mapping[str, int], target: Target | None) -> tuple[Constraint, ...]:
    """Return the constraints that known fields break; a constraint on an unknown field is not asked."""
    return tuple(
        one
        for one in CONSTRAINTS[layout.name]
        if all(name in fields for name in one.fields)
        and not one.holds(*(fields[name] for name in one.fields), target)
    )
