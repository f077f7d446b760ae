"""Predicates on a choice between two numbers, by what is chosen by: `((c ? 1 : 0) & 255) == 1` is `c`.

Property: `plain` returns a predicate, or a number, that is true where the given one is.

Argument: masks, and then the comparison, are taken of both numbers: where they differ it is the condition of the
choice, or its opposite.

Not covered: choices between symbols, or large numbers.
"""

from __future__ import annotations

from ..symex.values.kinds import Kind
from ..symex.values.lane_arithmetic import bitwise, condition_of, negate
from ..symex.values.substitution import LOGIC
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
    choice = _choice(name)
    if choice is None:
        return None
    chosen_by, one, other = choice
    compared = [factor * each + condition.form.constant for each in (one, other)]
    least = 0 if condition.relation == "below" else -_MOST
    if not all(0 <= each < _MOST for each in (one, other)) or not all(least <= v < _MOST for v in compared):
        return None
    holds, fails = (condition.holds(each & _MASK) == positive for each in compared)
    if holds == fails:
        return int(holds)
    form = Form(((chosen_by, 1),))
    return form if holds else negate(form)


def _choice(name: Atom) -> tuple[Atom, int, int] | None:
    """Return what an atom is chosen by, and both numbers that it may be; None where it is no such choice."""
    match name.inner:
        case (Kind.SELP, Atom() as chosen_by, int(one), int(other)):
            return chosen_by, one, other
        case (Kind() as kind, int(bits), Atom() as part) | (Kind() as kind, Atom() as part, int(bits)) if (
            kind in LOGIC
        ):
            choice = _choice(part)
            if choice is None:
                return None
            first, second = (bitwise(LOGIC[kind], bits, each) for each in choice[1:])
            return (choice[0], first, second) if isinstance(first, int) and isinstance(second, int) else None
        case _:
            return None


__all__ = ["plain"]
