"""Symbolic values of the SIMT machine: linear forms over opaque atoms, and what decisions say of them.

An atom stands for something that the kernel's text does not fix: a parameter, a value loaded from memory, a CTA
index, or the result of an operation on such values that is not linear. Equal texts are equal atoms, so two
roles that compute the same number trip count agree about it.

Unsupported: wrap-around. A linear form is read as an integer; that is recorded as an assumption of a run that
decides on one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import gcd
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Lanes: TypeAlias = npt.NDArray[np.uint64]
"""One value for each thread of a CTA."""

Atom: TypeAlias = tuple[object, ...]
"""Kind and arguments, for example `("param", "n", 0, 4)` or `("shr", <form>, 5)`."""


@dataclass(frozen=True, slots=True)
class Form:
    """`constant + Σ coefficient × atom`; terms sorted, no zero coefficient, at least one term."""

    terms: tuple[tuple[Atom, int], ...]
    constant: int = 0

    def __str__(self) -> str:
        parts = [name if k == 1 else f"{k}*{name}" for name, k in ((show_atom(a), k) for a, k in self.terms)]
        if self.constant:
            parts.append(str(self.constant))
        return " + ".join(parts).replace("+ -", "- ")


Value: TypeAlias = int | Lanes | Form
"""Uniform number, number per thread, or a symbol that is the same for all threads it was computed by."""


def atom(*parts: object) -> Form:
    """Return the form that is one atom."""
    return Form(((parts, 1),))


def show_atom(parts: Atom) -> str:
    """Return an atom for people."""
    kind, *rest = parts
    if kind == "param":
        name, offset, _ = rest
        return f"{name}+{offset}" if offset else str(name)
    if kind == "special":
        return str(rest[0])
    return f"{kind}({', '.join(str(show_atom(r)) if isinstance(r, tuple) else str(r) for r in rest)})"


def plus(a: Form | int, b: Form | int, factor: int = 1) -> Form | int:
    """Return a + factor × b."""
    if isinstance(a, int) and isinstance(b, int):
        return a + factor * b
    terms: dict[Atom, int] = dict(a.terms) if isinstance(a, Form) else {}
    for name, k in b.terms if isinstance(b, Form) else ():
        terms[name] = terms.get(name, 0) + factor * k
    constant = (a.constant if isinstance(a, Form) else a) + factor * (
        b.constant if isinstance(b, Form) else b
    )
    kept = tuple(sorted(((n, k) for n, k in terms.items() if k), key=repr))
    return Form(kept, constant) if kept else constant


def times(a: Form, factor: int) -> Form | int:
    """Return factor × a."""
    if factor == 0:
        return 0
    return Form(tuple((name, k * factor) for name, k in a.terms), a.constant * factor)


@dataclass(frozen=True, slots=True)
class Condition:
    """`form < bound`, `form == bound` or `form != bound`, with an opaque truth for everything else."""

    relation: str
    """`lt`, `eq`, `ne` or `true` (the form is non-zero)."""
    form: Form
    bound: int


class Oracle(Protocol):
    """Something that knows more than intervals: a solver over the decisions of one run."""

    def implied(self, condition: Condition) -> bool | None: ...

    def assume(self, condition: Condition, truth: bool) -> None: ...


@dataclass(slots=True)
class Decisions:
    """What a run has assumed of symbols: an interval and excluded numbers for each primitive form."""

    oracle: Oracle | None = None
    """Asked when intervals do not decide; None leaves everything open."""
    _low: dict[tuple[tuple[Atom, int], ...], int] = field(default_factory=dict)
    _high: dict[tuple[tuple[Atom, int], ...], int] = field(default_factory=dict)
    _not: dict[tuple[tuple[Atom, int], ...], frozenset[int]] = field(default_factory=dict)
    taken: list[tuple[Condition, bool]] = field(default_factory=list)

    def implied(self, condition: Condition) -> bool | None:
        """Return what earlier decisions imply of a condition, or None."""
        known = self._by_interval(condition)
        if known is None and self.oracle is not None:
            return self.oracle.implied(condition)
        return known

    def _by_interval(self, condition: Condition) -> bool | None:
        key, scale, offset = _primitive(condition.form)
        low, high = self._low.get(key), self._high.get(key)
        if condition.relation == "lt":
            limit = condition.bound - offset
            least, most = _scaled(low, high, scale)
            if most is not None and most < limit:
                return True
            return False if least is not None and least >= limit else None
        value, remainder = divmod(condition.bound - offset, scale)
        equal: bool | None = None
        outside = (low is not None and value < low) or (high is not None and value > high)
        if remainder or outside or value in self._not.get(key, ()):
            equal = False
        elif low is not None and low == high:
            equal = True
        return equal if condition.relation == "eq" or equal is None else not equal

    def assume(self, condition: Condition, truth: bool) -> None:
        """Record a decision. The caller has asked `implied` before."""
        self.taken.append((condition, truth))
        if self.oracle is not None:
            self.oracle.assume(condition, truth)
        key, scale, offset = _primitive(condition.form)
        if condition.relation == "lt":
            self._assume_below(key, scale, condition.bound - offset, truth)
            return
        value, remainder = divmod(condition.bound - offset, scale)
        if remainder:
            return
        if truth == (condition.relation == "eq"):
            self._low[key] = self._high[key] = value
        else:
            self._not[key] = self._not.get(key, frozenset()) | {value}
            if self._low.get(key) == value:
                self._low[key] = value + 1
            if self._high.get(key) == value:
                self._high[key] = value - 1

    def _assume_below(self, key: tuple[tuple[Atom, int], ...], scale: int, limit: int, truth: bool) -> None:
        """Record scale × x < limit, or its negation."""
        ceiling, floor = -(-limit // scale), limit // scale
        if (scale > 0) == truth:
            self._raise_or_lower(self._high, key, ceiling - 1 if scale > 0 else floor, min)
        else:
            self._raise_or_lower(self._low, key, ceiling if scale > 0 else floor + 1, max)

    @staticmethod
    def _raise_or_lower(
        table: dict[tuple[tuple[Atom, int], ...], int],
        key: tuple[tuple[Atom, int], ...],
        bound: int,
        pick: Callable[[int, int], int],
    ) -> None:
        known = table.get(key)
        table[key] = bound if known is None else pick(known, bound)


def _scaled(low: int | None, high: int | None, scale: int) -> tuple[int | None, int | None]:
    ends = (None if low is None else low * scale, None if high is None else high * scale)
    return ends if scale > 0 else (ends[1], ends[0])


def _primitive(form: Form) -> tuple[tuple[tuple[Atom, int], ...], int, int]:
    """Return (terms divided by their common factor with the first positive, that factor, constant)."""
    factor = gcd(*(k for _, k in form.terms))
    if form.terms[0][1] < 0:
        factor = -factor
    return tuple((name, k // factor) for name, k in form.terms), factor, form.constant
