"""Where arrays start that are accessed at an index which nothing bounds: dynamic shared memory has no sizes.

An address is a variable, a constant and an index, so the array starts at the constant. A pointer that a loop moves on
by constants starts at the constant that it has in front of the loop. Where an index is taken away, the constant is where
the array ends, and nothing tells where it starts.
"""

from __future__ import annotations

from ...cfg.addresses import Pointer
from ...cfg.definitions import Name
from ...cfg.facts import Facts
from ...cfg.linear import Atom, AtomKind, Linear
from ...cfg.values import Value
from ...ir import Register

Start = tuple[Atom, int]
"""A variable, and an offset in it."""


def array_start(facts: Facts, pointer: Pointer | None) -> Start | None:
    """Return where the array starts that a pointer is into, None when that is not known."""
    base = None if pointer is None else pointer.base
    if pointer is None or base is None or pointer.offset.linear is None:
        return None
    constant = pointer.offset.linear.constant
    if _counts_down(pointer.offset.linear):
        return None
    if base.kind is AtomKind.ADDRESS:
        return base, constant
    if base.kind is not AtomKind.PHI or pointer.offset.linear.terms:
        return None
    start = _carried(facts, base)
    return None if start is None else (start[0], start[1] + constant)


def _carried(facts: Facts, phi: Atom) -> Start | None:
    """Return where a pointer starts that rounds of a loop only move on."""
    found: set[Start] = set()
    for _, source in facts.merged(Name(Register(phi.name, phi.scope), -2 - phi.at)):
        start = _of(facts.value_of(source), phi)
        if start is None:
            return None
        found.add(start)
    starts = [(base, offset) for base, offset in found if base != phi]
    if not starts or any(offset < 0 for base, offset in found if base == phi):
        return None
    return min(starts, key=lambda each: each[1]) if len({base for base, _ in starts}) == 1 else None


def _of(value: Value | None, phi: Atom) -> Start | None:
    """Return the variable or the phi that a value counts from, and its constant."""
    linear = None if value is None else value.linear
    if linear is None:
        return None
    if linear.terms == ((phi, 1),):
        return phi, linear.constant
    addresses = linear.addresses
    if _counts_down(linear):
        return None
    return (addresses[0][0], linear.constant) if len(addresses) == 1 and addresses[0][1] == 1 else None


def _counts_down(linear: Linear) -> bool:
    return any(factor < 0 for _, factor in linear.terms)


__all__ = ["Start", "array_start"]
