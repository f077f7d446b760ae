"""Claims in which what is hard to solve is left open.

Property: claims hold together only if their weakened forms do.

Argument: a product or quotient of two unknown numbers is replaced by a variable of its own, within the bounds that it
has: that variable may have the number that the operation gives. Equal terms, of both threads too, have one variable.

Not covered: what follows from the operation itself. Where the weakened claims can hold, nothing is known.
"""

from __future__ import annotations

from collections.abc import Sequence

from .bit_pool import Pool
from .bitvectors import Bits, Kind, in_order

_QUOTIENTS = frozenset({Kind.UDIV, Kind.UREM, Kind.SDIV, Kind.SREM})


def is_hard(term: Bits) -> bool:
    """Tell whether a term multiplies or divides two unknown numbers: solvers are slow with these."""
    return term.kind is Kind.PRODUCT or (term.kind in _QUOTIENTS and term.parts[1].constant is None)


class Weakening:
    """Weakened forms of the terms of one pool."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._weakened: dict[Bits, Bits] = {}

    def of(self, claims: Sequence[Bits]) -> tuple[Bits, ...]:
        """Return the weakened form of each claim: itself where nothing in it is hard."""
        weakened = self._weakened
        for term in in_order(*(claim for claim in claims if claim not in weakened)):
            if term in weakened:
                continue
            if is_hard(term):
                name = f"{term.kind.name.lower()}!{term.serial}"
                weakened[term] = self._pool.variable(name, term.width, term.low, term.high)
            else:
                weakened[term] = self._pool.copied(term, tuple(weakened[part] for part in term.parts))
        return tuple(weakened[claim] for claim in claims)
