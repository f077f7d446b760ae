"""Minima and maxima that predicates depend on: which of two numbers they are is asked first.

Property: `extremes_in` yields the conditions by which a predicate has the lesser, or the greater, of two numbers.

Argument: what the product knows of numbers of the host are thresholds on sums of them. A minimum is a sum only on
either side of its condition, which is a threshold on a sum itself: `min(n, 1)` where `n < 1`, and where not.

Not covered: conditions that differ between threads, and choices between other numbers: a rest that is rounded up keeps
its name, so that roles which compute it alike agree without a question about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ..symex.values.kinds import Kind
from ..symex.values.lane_arithmetic import condition_of
from ..symex.values.recurrent_arithmetic import form_of
from ..symex.values.symbol import CHOSEN, Atom, Form, plus
from ..symex.values.traversal import walk


def extremes_in(truth: Form) -> Sequence[Form]:
    """Return the conditions of minima and maxima in a predicate, in the order of the text.

    Those that another one of them depends on come before it.
    """
    return _extremes_in(truth) if truth.origin & CHOSEN else ()


@lru_cache(maxsize=1 << 12)
def _extremes_in(truth: Form) -> tuple[Form, ...]:
    found: list[Form] = []
    for name in walk(truth.terms):
        condition = name.inner[1] if name.inner_kind is Kind.SELP else None
        if isinstance(condition, Atom) and not condition.differs and _is_extreme(name, condition):
            form = Form(((condition, 1),))
            found += (*extremes_in(form), form)
    return tuple(dict.fromkeys(found))


def _is_extreme(name: Atom, condition: Atom) -> bool:
    compared, _ = condition_of(Form(((condition, 1),)))
    if compared.relation not in ("lt", "below"):
        return False
    one, other = map(_number, name.inner[2:4])
    difference = plus(one, other, -1) if one is not None and other is not None else None
    opposite = plus(0, compared.form, -1)
    return isinstance(difference, Form) and difference.terms in (
        compared.form.terms,
        opposite.terms if isinstance(opposite, Form) else (),
    )


def _number(part: object) -> Form | int | None:
    return part if isinstance(part, int) else form_of(part)


__all__ = ["extremes_in"]
