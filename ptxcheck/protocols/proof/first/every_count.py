"""Sides of branches that no count of rounds leads to, as far as the runs that were made tell.

The tail of an unrolled loop asks "is there another round?" where there cannot be one. That follows from how the loop
before it ended, with numbers that grow by the same step in each round: after 2t + 1 rounds a counter is 2t + 1. Runs
with several counts give these numbers for some t. Where they lie on a line, the line is taken to go on, and the solver
is asked whether any t leaves the side possible. This is what the runs suggest and no proof of it: it tells a dead side
from one that is hidden behind larger counts, and a verdict that rests on it is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from math import gcd
from typing import TypeAlias

from ...symex.values.kinds import Kind
from ...symex.values.symbol import (
    Atom,
    Condition,
    Form,
    plus,
)

Claims: TypeAlias = tuple[tuple[Condition, bool], ...]
IsPossible: TypeAlias = Callable[[Claims], bool]
"""Tells whether conditions may have these truths together."""
_ROUNDS = Atom((Kind.ROUNDS,))
_FEWEST = 3
"""Counts that have to lie on a line."""


@dataclass(frozen=True, slots=True)
class Way:
    """What led to a branch in one run: how loops ended before it, what else was decided, and the missing side last."""

    ends: Claims
    claims: Claims

    @property
    def all(self) -> Claims:
        return (*self.ends, *self.claims)

    @property
    def shape(self) -> object:
        """Return all but the numbers."""
        parts = (self.ends, self.claims)
        return tuple(tuple((c.relation, c.form.terms, truth) for c, truth in part) for part in parts)


def is_dead(ways: Iterable[Way], is_possible: IsPossible) -> bool:
    """Tell whether a side is possible with no number of rounds."""
    alike: dict[object, list[Way]] = {}
    decided: set[tuple[Condition, bool]] = set()
    for way in ways:
        alike.setdefault(way.shape, []).append(way)
        decided.update((*way.ends, *way.claims[:-1]))
    return bool(alike) and all(_is_dead(each, decided, is_possible) for each in alike.values())


def _is_dead(ways: Sequence[Way], decided: Set[tuple[Condition, bool]], is_possible: IsPossible) -> bool:
    found = sorted({_numbers(way.all): way.all for way in ways}.items(), key=lambda item: item[0])
    if len(found) < _FEWEST:
        return not any(
            is_possible(way.claims) and _is_possible_there(way, decided, is_possible) for way in ways
        )
    (start, claims), *others = found
    steps = {_primitive([b - a for a, b in zip(start, numbers, strict=True)]) for numbers, _ in others}
    if len(steps) > 1:
        return False
    (step,) = steps
    return not is_possible(tuple(_moving(*claim, *step[2 * i : 2 * i + 2]) for i, claim in enumerate(claims)))


def _is_possible_there(way: Way, decided: Set[tuple[Condition, bool]], is_possible: IsPossible) -> bool:
    """Tell whether a side is possible with the rounds of one way, or with others that no way has.

    Where other ways go on at an end of its loops, what is possible with more rounds is theirs to tell; of a loop of
    which no way makes more rounds, the side may not depend on how it ended.
    """
    ends = tuple((condition, truth) for condition, truth in way.ends if (condition, not truth) in decided)
    return is_possible((*ends, *way.claims))


def _numbers(claims: Claims) -> tuple[int, ...]:
    return tuple(number for condition, _ in claims for number in (condition.form.constant, condition.bound))


def _primitive(step: Sequence[int]) -> tuple[int, ...]:
    common = gcd(*step)
    return tuple(number // common for number in step)


def _moving(condition: Condition, truth: bool, constant: int, bound: int) -> tuple[Condition, bool]:
    """Return a claim whose constant and bound grow with the rounds."""
    if constant != bound:
        form = plus(condition.form, Form(((_ROUNDS, 1),)), constant - bound)
        assert isinstance(form, Form)
        condition = replace(condition, form=form)
    return condition, truth
