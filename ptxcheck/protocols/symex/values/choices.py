"""Choices inside choices by one condition: what the outer one has chosen, the inner one has, too.

Property: `arm` returns a number that is equal to a value wherever some conditions hold, or do not.

Argument: `c ? (c ? x : y) : z` is `c ? x : z`.

Not covered: conditions that imply each other and are not opposites.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .kinds import Kind
from .symbol import Atom, Form, Value


def arms(one: Value, other: Value, condition: object, opposite: object) -> tuple[Value, Value]:
    """Return the two numbers of a choice, without choices by its condition, or the opposite, in them."""
    return arm(one, {condition: True, opposite: False}), arm(other, {condition: False, opposite: True})


def arm(value: Value, conditions: Mapping[object, bool]) -> Value:
    """Return a value where conditions, by their atoms, hold or do not."""
    while isinstance(value, Form) and len(value.terms) == 1 and not value.constant:
        name, factor = value.terms[0]
        truth = conditions.get(name.inner[1]) if name.inner_kind is Kind.SELP and factor == 1 else None
        if truth is None:
            break
        value = value_of(name.inner[2 if truth else 3])
    return value


def value_of(part: object) -> Value:
    """Return the value that an argument of an atom stands for."""
    if isinstance(part, Atom):
        if part.kind is Kind.SUM:
            return Form(part[1], part[2])  # type: ignore[arg-type]
        if part.kind is Kind.LANES:
            return np.frombuffer(part[1], dtype=np.uint64)  # type: ignore[call-overload, no-any-return]
        return Form(((part, 1),))
    assert isinstance(part, int), part
    return part
