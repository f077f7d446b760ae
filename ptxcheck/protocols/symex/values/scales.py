"""Scales: floating-point numbers of the host that a path compares with zero, as epilogues do to leave out a product.

Property: where `possible_scales` returns comparisons, some numbers make all of them come out as the path has them.

Argument: no scale is asked to be zero and not to be, and of those in memory all are zero, or none is.

Not covered: other comparisons of floating-point numbers; see `approximated_terms`.

The solver follows no floating-point number. Each scale is zero or is not, as the host likes, so such comparisons come
out as a path has them where they ask no scale to be both. A product of scales is zero where all of them are, and one
where they are. Scales in memory may be one number, whatever their addresses
look like: they are only known to be possible where all of them are zero, or none is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from .kinds import Kind
from .lane_arithmetic import condition_of
from .symbol import (
    OF_HOST,
    Atom,
    Condition,
    Form,
)

_CONSTANT = Atom((Kind.CONSTANT,))
_EQUALITIES = {".eq": True, ".ne": False, ".neu": False, ".equ": True}
"""Relations to zero, and whether it is zero that they hold for."""
_FLOATS = frozenset({"f16", "bf16", "f32", "f64"})


def scale_of(condition: Condition) -> Atom | None:
    """Return the comparison of a scale with zero that a condition asks for alone, or None.

    A scale is a number of the host as it was passed, one of several that are chosen between, or a product of such.
    """
    if condition.relation not in ("eq", "ne") or len(condition.form.terms) != 1 or condition.form.constant:
        return None
    (name, factor), *_ = condition.form.terms
    if name.kind is not Kind.SETP or name.inner[1] not in _EQUALITIES or name.inner[3] != 0 or factor != 1:
        return None
    numbers = list(_chosen(name.inner[2], {}))
    return name if condition.bound in (0, 1) and all(each.kind in OF_HOST for each in numbers) else None


def possible_scales(path: Collection[tuple[Condition, bool]]) -> dict[Atom, frozenset[Atom]]:
    """Return the comparisons of scales with zero of a path, each with its scales, if some make all come out so.

    Empty where that is not known.
    """
    asked = {
        name: _is_zero(condition, truth, name)
        for condition, truth in path
        if (name := scale_of(condition)) is not None
    }
    known = dict(path)
    scales = {name: frozenset(_chosen(name.inner[2], known)) for name in asked}
    found: dict[Atom, bool] = {}
    for name, is_zero in asked.items():
        for scale in scales[name]:
            if found.setdefault(scale, is_zero) is not is_zero:
                return {}
    in_memory = {is_zero for scale, is_zero in found.items() if scale.kind is Kind.LOAD}
    return scales if len(in_memory) < 2 else {}


def _is_zero(condition: Condition, truth: bool, name: Atom) -> bool:
    """Tell whether the operand of a comparison is zero where a condition on it has a truth."""
    is_one = truth == ((condition.relation == "eq") == (condition.bound == 1))
    return is_one == _EQUALITIES[str(name.inner[1])]


def _chosen(part: object, known: Mapping[Condition, bool]) -> Iterator[Atom]:
    """Yield the numbers that one may be, or is a product of, of those that decisions choose between.

    A constant is no scale.
    """
    if not isinstance(part, Atom):
        yield _CONSTANT
    elif part.kind is Kind.SELP:
        truth = _truth(part.inner[1], known)
        arms: Iterable[object] = part.inner[2:4] if truth is None else (part.inner[2 if truth else 3],)
        for arm in arms:
            yield from _chosen(arm, known)
    elif _is_product(part):
        for factor in part.inner[2:]:
            yield from _chosen(factor, known)
    else:
        yield part


def _is_product(part: Atom) -> bool:
    """Tell whether an atom is a product of floating-point numbers, by the name of its operation."""
    operation, *modifiers = str(part[0]).split(".")
    return operation == "mul" and not _FLOATS.isdisjoint(modifiers)


def _truth(predicate: object, known: Mapping[Condition, bool]) -> bool | None:
    if not isinstance(predicate, Atom):
        return None
    condition, positive = condition_of(Form(((predicate, 1),)))
    truth = known.get(condition)
    return truth if truth is None else truth == positive
