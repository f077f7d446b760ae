"""Integer and floating-point literals (PTX ISA 4.5)."""

from __future__ import annotations

import struct

from ..ir import FloatImmediate

MOST_DIGITS = 66
"""Characters of a number of 64 bits: `0b` and its bits."""


def integer(text: str) -> int:
    """Return the value of an integer literal. Raises ValueError on a bad digit (`08`) or on too many."""
    digits = text.rstrip("U")
    if len(digits) > MOST_DIGITS:
        raise ValueError("an integer constant has 64 bits at most")
    if len(digits) > 1 and digits[0] == "0" and digits[1] not in "xXbB":
        return int(digits, 8)
    return int(digits, 0)


def floating(text: str) -> FloatImmediate:
    """Return the constant of `0fXXXXXXXX`, `0dXXXXXXXXXXXXXXXX` or a decimal literal (64-bit)."""
    if text[:2] in ("0f", "0F"):
        return FloatImmediate(int(text[2:], 16), 32)
    if text[:2] in ("0d", "0D"):
        return FloatImmediate(int(text[2:], 16), 64)
    return FloatImmediate(struct.unpack("<Q", struct.pack("<d", float(text)))[0], 64)
