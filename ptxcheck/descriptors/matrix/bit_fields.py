"""Words made of bit fields, as data: encode and decode by table.

Property: `Layout.encode(Layout.decode(w)) == w` for every word whose unnamed bits are zero, and
`Layout.decode(Layout.encode(f)) == f` for all fields that `encode` takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property


class FieldRangeError(ValueError):
    """A number that its bit field cannot hold."""


@dataclass(frozen=True, slots=True)
class BitField:
    """Bits `shift` to `shift + length - 1` of a word; the field counts in `unit`s."""

    name: str
    shift: int
    length: int
    text: str
    """What the field says, for messages."""
    unit: int = 1
    """What one step of the field stands for, in bytes where it is an offset or an address."""

    @property
    def mask(self) -> int:
        """Return the bits of the field within its word."""
        return (1 << self.length) - 1 << self.shift

    @property
    def most(self) -> int:
        """Return the greatest number that the field holds, in its own unit."""
        return ((1 << self.length) - 1) * self.unit

    def decode(self, word: int) -> int:
        """Return the field of a word, in bytes for a field with a unit."""
        return ((word & self.mask) >> self.shift) * self.unit

    def encode(self, number: int) -> int:
        """Return the bits that hold a number. Raises `FieldRangeError` when none do."""
        if number % self.unit or not 0 <= number <= self.most:
            step = f" in steps of {self.unit}" if self.unit > 1 else ""
            raise FieldRangeError(f"{self.text} holds 0 to {self.most}{step}, not {number}")
        return number // self.unit << self.shift


@dataclass(frozen=True)
class Layout:
    """The fields of one kind of descriptor; bits that no field names are unused and zero."""

    name: str
    width: int
    fields: tuple[BitField, ...]
    section: str
    """PTX ISA section that gives the layout."""

    @cached_property
    def by_name(self) -> Mapping[str, BitField]:
        return {field.name: field for field in self.fields}

    @cached_property
    def named_bits(self) -> int:
        """Return the bits that some field names."""
        return sum(field.mask for field in self.fields)

    def decode(self, word: int) -> dict[str, int]:
        """Return every field of a word by name."""
        return {field.name: field.decode(word) for field in self.fields}

    def encode(self, numbers: Mapping[str, int]) -> int:
        """Return the word of some fields; others are zero.

        Raises `KeyError` for a name that the layout does not have, and `FieldRangeError`.
        """
        word = 0
        for name, number in numbers.items():
            word |= self.by_name[name].encode(number)
        return word
