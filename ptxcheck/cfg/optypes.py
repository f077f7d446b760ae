"""Types and modes of an integer operation, decoded once from its modifiers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

from ..ir import TYPE_BYTES
from ..opcodes.spec import Operation

_INTEGER = {
    name: 8 * size
    for name, size in TYPE_BYTES.items()
    if name[1] in "bsu" and name[2:].isdigit()
}  # fmt: skip

NARROWEST = 16
"""Bits of the narrowest register that holds a number."""


@dataclass(frozen=True)
class Typing:
    """Types of an operation in the order written (`cvt.u64.u32`: result, then source)."""

    types: tuple[str, ...]
    modifiers: frozenset[str]

    @cached_property
    def width(self) -> int:
        """Bits of the first type; 32 when none is written, 1 for predicates."""
        return type_width(self.types[0]) if self.types else 32

    @cached_property
    def source_width(self) -> int:
        return type_width(self.types[-1]) if self.types else 32

    @cached_property
    def signed(self) -> bool:
        """Tell whether the first type is signed."""
        return bool(self.types) and self.types[0][1] == "s"

    @cached_property
    def source_signed(self) -> bool:
        return bool(self.types) and self.types[-1][1] == "s"

    @cached_property
    def is_integer(self) -> bool:
        """Tell whether all types are integer, bit or predicate types."""
        return all(name in _INTEGER or name == ".pred" for name in self.types)

    def has(self, modifier: str) -> bool:
        return modifier in self.modifiers


def type_width(name: str) -> int:
    return 1 if name == ".pred" else 8 * TYPE_BYTES.get(name, 4)


@lru_cache(maxsize=4096)
def typing_of(operation: Operation) -> Typing:
    """Return the types of an operation."""
    modifiers = operation.modifiers
    types = tuple(word for word in modifiers if word in TYPE_BYTES or word == ".pred")
    return Typing(types, frozenset(modifiers))
