"""How many bits numbers were read with.

Property: `is_wide` tells of an atom whether it was read as a number of 64 bits.

Argument: parameters and loads name the bytes or bits that are read; two words that are packed are 64 bits.

Not covered: what is computed from such numbers (`substitution.holds_64_bits`).
"""

from __future__ import annotations

from .kinds import Kind


def is_wide(inner: tuple[object, ...]) -> bool:
    """Tell whether what an atom is was read as a number of 64 bits."""
    match inner:
        case (
            (Kind.PARAM, _, _, 8)
            | (Kind.LOAD | Kind.SHARED | Kind.RECEIVED | Kind.STRONG | Kind.OWN, _, 64, *_)
            | (Kind.PACK, 32, *_)
        ):
            return True
        case _:
            return False


__all__ = ["is_wide"]
