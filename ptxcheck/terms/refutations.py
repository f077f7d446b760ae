"""What was found to be impossible, for a second solver to confirm.

Property: inside `heard`, each answer that claims cannot hold together is kept, with all claims that it needs: those of
z3 (`smt`), and those that bounds of variables gave before it was asked (`protocols.symex.values.solver`).

Argument: each place that finds such an answer notes it before anything uses it. An answer that follows from an earlier
one rests on claims that are kept already.

Not covered: what folding of terms makes of claims before they are asked about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from .bitvectors import Bits
from .integers import Claim

SECOND_SOLVERS = ("cvc5", "bitwuzla")
"""Solvers that can confirm them."""


@dataclass(slots=True)
class Refutations:
    """Sets of claims that cannot hold together, each once, in the order in which they were found."""

    integers: dict[tuple[Claim, ...], None] = field(default_factory=dict)
    registers: dict[tuple[Bits, ...], None] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.integers) + len(self.registers)


_LISTENER: ContextVar[Refutations | None] = ContextVar("refutations", default=None)


@contextmanager
def heard() -> Iterator[Refutations]:
    """Keep what is found to be impossible meanwhile."""
    found = Refutations()
    token = _LISTENER.set(found)
    try:
        yield found
    finally:
        _LISTENER.reset(token)


def note_integers(claims: Iterable[Claim]) -> None:
    """Note claims about integers that cannot hold together, if anybody listens."""
    listener = _LISTENER.get()
    if listener is not None:
        listener.integers[tuple(dict.fromkeys(claims))] = None


def note_registers(claims: Iterable[Bits]) -> None:
    """Note claims about registers that cannot hold together, if anybody listens."""
    listener = _LISTENER.get()
    if listener is not None:
        listener.registers[tuple(dict.fromkeys(claims))] = None
