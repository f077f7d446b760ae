"""What symbols name rounds of loops, or what a round has found itself.

Property: a form without an atom of `OF_ROUND` or an ordinal, also inside other atoms, is one number in all rounds.

Argument: every instruction whose result may be another one when it is executed again gives an atom of `OF_ROUND`.

Not covered: atoms that are cut down do not show what is inside them.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..symex.values.kinds import Kind
from ..symex.values.symbol import Atom, Form, atom
from ..symex.values.traversal import walk

OF_ROUND = frozenset(
    {
        Kind.RESULT, Kind.VOLATILE, Kind.SHARED, Kind.STRONG, Kind.OWN, Kind.UNKNOWN, Kind.MERGED, Kind.PARTED,
        Kind.RETURNED, Kind.RECEIVED, Kind.LOOP, Kind.LOOP_SHARED, Kind.LOOP_GLOBAL, Kind.LOOP_MEMORY, Kind.OPCODE,
        Kind.SHFL, Kind.VOTE, Kind.LANE,
    }
)  # fmt: skip
"""Kinds of what another round may find another number for."""


def ordinal(header: int) -> Form:
    """Return the symbol of how many rounds of a loop are over, divided by the modulus."""
    return atom(Kind.ORDINAL, header)


def place_of(name: Atom) -> int:
    """Return the block that an atom of what rounds change belongs to: the header of its loop, or its join."""
    place = int(str(name.inner[1]))
    return place if place >= 0 else -1 - place


def times(form: Form, factor: int) -> Form | int:
    """Return a multiple."""
    return Form(tuple((name, k * factor) for name, k in form.terms), form.constant * factor) if factor else 0


def ordinals_in(form: Form) -> Iterator[Atom]:
    """Yield the ordinals of loops in a form, also those that are inside other atoms."""
    return (name for name in walk(form.terms) if name.kind is Kind.ORDINAL)
