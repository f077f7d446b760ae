"""What the machine asks of who decides open predicates: the interface, so that how runs are chosen is no matter of it.

Property: the machine takes a side of an open predicate, or a number for a symbol, only as its decider says.

Argument: every truth and number that is not computed comes from the methods of `Decider`.

Not covered: whether the answers of a decider can hold together; it raises ImpossibleError where it finds that they do
not.
"""

from __future__ import annotations

from typing import Protocol

from ..slice.sliced_program import Program
from ..values.assumptions import Assume
from ..values.symbol import Decisions, Form, Value
from ..values.trace import Shape, ThreadSet


class Decider(Protocol):
    """Decides for the threads of one CTA."""

    speculative: int
    """How many branches are open whose sides are both run, though threads take one of them."""
    turns: dict[int, int]
    """How often each loop that the deciding threads are in has started anew."""

    @property
    def halts(self) -> bool:
        """Tell whether threads stop where they would decide by what they have read and nobody has followed."""
        ...

    def known(self, value: Value, threads: ThreadSet, point: int = -1) -> ThreadSet | None:
        """Return the threads for which a predicate holds, None when it is open; `point` asks, -1: no branch."""
        ...

    def decide(self, value: Form, threads: ThreadSet, point: int, stays: bool | None = None) -> ThreadSet:
        """Return the threads for which an open predicate holds, deciding what is not known."""
        ...

    def concrete(self, value: Value, threads: ThreadSet, point: int) -> Value:
        """Return a value with the predicates that it depends on decided."""
        ...

    def reduced(self, value: Value) -> Value:
        """Return a value with numbers in place of what the decisions leave one number."""
        ...

    def single(self, value: Form, threads: ThreadSet) -> Value:
        """Return the number that the decisions leave a symbol, if it is only one."""
        ...

    def placed(self, address: Value) -> Value:
        """Return an address with numbers for those parts of it that the decisions leave one number."""
        ...

    def settled(self, value: Form, point: int) -> Value:
        """Return the number that a symbol is when what it is computed from has numbers that the decisions admit."""
        ...

    def parity(self, value: Form, point: int) -> Value:
        """Return the same of a number of which the low bit matters alone."""
        ...

    def is_positive(self, value: Form) -> bool:
        """Tell whether a number is surely not negative."""
        ...

    def halt_at(self, value: Form) -> None:
        """Stop where threads would decide about a value by what they have read. Raises HaltError."""
        ...


class Deciders(Protocol):
    """Makes the decider of each CTA."""

    def decider(
        self, program: Program, shape: Shape, rank: int, decisions: Decisions, assume: Assume
    ) -> Decider:
        """Return the decider of the CTA of a rank."""
        ...

    def apart(self) -> Deciders:
        """Return what makes deciders for what needs nothing but computing: nothing that they decide is noted."""
        ...


__all__ = ["Decider", "Deciders"]
