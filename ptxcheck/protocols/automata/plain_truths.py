"""Predicates on a choice between two numbers, by what is chosen by: `(c ? 1 : 0) == 1` is `c`.

Property: `plain` returns a predicate, or a number, that is true where the given one is.

Argument: the comparison is made for both numbers: where they differ it is the condition of the choice, or its opposite.

Not covered: choices between symbols, or large numbers.
"""

from __future__ import annotations

from ..symex.values.kinds import Kind
from ..symex.values.lane_arithmetic import condition_of, negate
from ..symex.values.symbol import CHOSEN, Atom, Form, Value

_MOST = 1 << 31
"""Numbers below it are the same in registers of 32 and of 64 bits, signed and unsigned."""
_MASK = 0xFFFFFFFF


def plain(truth: Form) -> Value:
    """Return a predicate without choices between two numbers in front of it."""
    found: Value = truth
    while isinstance(found, Form) and found.origin & CHOSEN:
        made = _made(found)
        if made is None:
            break
        found = made
    return found


def _made(truth: Form) -> Value | None:
    condition, positive = condition_of(truth)
    if len(condition.form.terms) != 1:
        return None
    name, factor = condition.form.terms[0]
    if name.inner_kind is not Kind.SELP:
        return None
    _, chosen_by, one, other = name.inner
    if not (isinstance(chosen_by, Atom) and isinstance(one, int) and isinstance(other, int)):
        return None
    compared = [factor * each + condition.form.constant for each in (one, other)]
    least = 0 if condition.relation == "below" else -_MOST
    if not all(0 <= each < _MOST for each in (one, other)) or not all(least <= v < _MOST for v in compared):
        return None
    holds, fails = (condition.holds(each & _MASK) == positive for each in compared)
    if holds == fails:
        return int(holds)
    form = Form(((chosen_by, 1),))
    return form if holds else negate(form)


__all__ = ["plain"]
