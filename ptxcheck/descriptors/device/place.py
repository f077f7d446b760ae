"""Where a tensor map lies: the key by which two instructions are known to mean the same 128 bytes.

Property: equal keys are one object, as long as no atom of `base` is computed anew between the two points (see
`changing_points`); keys of one base are as far apart as their offsets. Keys of different bases are taken to be
different objects: pointers that the host passes to the kernel under two names, or a shared variable and global
memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...cfg import Atom, AtomKind
from ...ir import Address, Operand
from ...protocols.typestate.places import Places

if TYPE_CHECKING:
    from ...view import KernelView

MAP_BYTES = 128


@dataclass(frozen=True, slots=True)
class Key:
    """`offset` bytes from `base`: a shared variable, or a sum of atoms in global or constant memory."""

    base: tuple[object, ...]
    offset: int
    is_shared: bool

    def overlaps(self, other: Key) -> bool:
        """Tell whether the two objects share a byte."""
        return self.base == other.base and abs(self.offset - other.offset) < MAP_BYTES

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """Return the atoms that the address is computed from."""
        return tuple(term[0] for term in self.base if isinstance(term, tuple) and isinstance(term[0], Atom))

    @property
    def parameter(self) -> tuple[str, int] | None:
        """Return the kernel parameter that the object is part of, and where in it."""
        if len(self.base) != 1 or len(self.atoms) != 1:
            return None
        atom = self.atoms[0]
        is_parameter = atom.kind is AtomKind.ADDRESS and atom.space.startswith(".param")
        return (atom.name, self.offset) if is_parameter else None


def key_of(view: KernelView, point: int, operand: Operand | None, space: str = "") -> Key | None:
    """Return the key of an address operand; None when the address is not followed."""
    if operand is None:
        return None
    bare = Address(operand.base, operand.offset) if isinstance(operand, Address) else operand
    place = view.get(Places).of(point, bare, space)
    if place is not None:
        return None if place.at is None else Key(place.symbol, place.at, True)
    if space.startswith(".shared"):
        return None
    form = view.facts.value(point, bare).linear
    if form is None or not form.terms:
        return None
    return Key(form.terms, form.constant, False)


def changing_points(view: KernelView, key: Key) -> frozenset[int]:
    """Return the points at which the key comes to mean another address: atoms that loops compute anew."""
    found: set[int] = set()
    for atom in key.atoms:
        if atom.kind is AtomKind.DEFINITION and atom.at >= 0:
            found.add(atom.at)
        elif atom.kind is AtomKind.PHI:
            found.add(view.cfg.blocks[atom.at].start)
    return frozenset(found)
