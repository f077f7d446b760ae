"""Predicates that are made of others: `a or b` is asked as `a`, and as `b` where that leaves it open.

Property: where `junction` returns parts, the predicate holds exactly where `Junction.truth` of their truths does.

Argument: compilers join conditions of one branch, and each role of a kernel joins others of them; each part is one
comparison that has the same name wherever it is asked.

Not covered: bits of numbers, which are no predicates.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..symex.values.kinds import Kind
from ..symex.values.recurrent_arithmetic import form_of
from ..symex.values.substitution import LOGIC, is_predicate
from ..symex.values.symbol import Form


@dataclass(frozen=True, slots=True)
class Junction:
    """Two predicates, how they are joined, and whether the whole is that or its negation."""

    kind: Kind
    one: Form
    other: Form
    positive: bool

    def truth(self, one: bool | None, other: bool | None) -> bool | None:
        """Return whether the whole holds for truths of the parts, None where an open one decides that."""
        found: bool | None
        if self.kind is Kind.XOR:
            found = None if one is None or other is None else one != other
        else:
            decisive = self.kind is Kind.OR
            if decisive in (one, other):
                found = decisive
            else:
                found = None if one is None or other is None else not decisive
        return None if found is None else found == self.positive


def junction(truth: Form) -> Junction | None:
    """Return the parts of a predicate that joins others, None for any other one."""
    positive = True
    found: Form | None = truth
    while found is not None and len(found.terms) == 1 and found.terms[0][1] == 1 and not found.constant:
        name = found.terms[0][0]
        if name.kind is Kind.NOT:
            found, positive = form_of(name[1]), not positive
        elif name.kind in LOGIC:
            one, other = form_of(name[1]), form_of(name[2])
            if one is None or other is None or not (_is_truth(one) and _is_truth(other)):
                return None
            return Junction(name.kind, one, other, positive)
        else:
            return None
    return None


def _is_truth(form: Form) -> bool:
    name = form.terms[0][0]
    if len(form.terms) == 1 and form.terms[0][1] == 1 and not form.constant and name.kind is Kind.NOT:
        negated = form_of(name[1])
        return negated is not None and _is_truth(negated)
    return is_predicate(form) or junction(form) is not None


__all__ = ["Junction", "junction"]
