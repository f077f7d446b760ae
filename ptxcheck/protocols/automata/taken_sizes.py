"""Parameters that are taken not to be negative.

Property: `TakenSizes.has` is true of a number only if it is not negative in each run, or some parameters are noted to
be taken so and it is not negative then.

Argument: see `wraparound.sizes_in`.

Not covered: whether hosts pass such sizes: that is an assumption of who uses what was noted.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ...verdict import AssumptionKind
from ..symex.values.assumptions import Assume
from ..symex.values.symbol import Atom, Form
from ..symex.values.wraparound import SIZES, is_never_negative, sizes_in


@dataclass(slots=True)
class TakenSizes:
    """The sizes of one automaton."""

    sizes: dict[Atom, int] | None
    """Parameters that are taken not to be negative, and where; None to take none so."""
    signs: set[Atom] = field(default_factory=set)
    """Parameters that would be taken so."""

    def has(self, form: Form) -> bool:
        """Tell whether a number is not negative, as the parameters that it is made of are taken for sizes."""
        if is_never_negative(form):
            return True
        names = sizes_in(form)
        if not names:
            return False
        if self.sizes is None:
            self.signs |= names
        return self.sizes is not None

    def takes(self, form: Form, point: int, assume: Assume | None) -> bool:
        """Tell whether a number is not negative, and note where that is taken for granted."""
        found = self.has(form)
        if found:
            self.note(form, point, assume)
        return found

    def note(self, form: Form, point: int, assume: Assume | None) -> None:
        """Note that a number was taken not to be negative, where that is not known."""
        if self.sizes is None or is_never_negative(form):
            return
        names = sizes_in(form) or frozenset()
        for name in sorted(names, key=lambda each: each.digest):
            self.sizes.setdefault(name, point)
        if form.terms[0][0] not in names and assume is not None:
            assume(AssumptionKind.CUT, SIZES, point)


__all__ = ["TakenSizes"]
