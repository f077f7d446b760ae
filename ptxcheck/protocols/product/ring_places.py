"""Which bytes of values that threads hand to each other correspond, where the steps of a ring do.

Property: what puts values into bytes, or takes them, does the same with the corresponding bytes in the step that
corresponds.

Argument: each use names whole spans. These are paired, one to one; whether two of them overlap, and how far apart they
begin then, is the same of those that correspond.

Not covered: spans that no step names which strands still perform: they have no counterpart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from ..model.actions import Span
from .received_uses import Look, Put, Take, Uses
from .roles import Step

Place: TypeAlias = tuple[int, int, int]
"""CTA, offset and size."""


def places_between(uses: Uses, steps: Iterable[tuple[int, Step, Step]]) -> dict[Place, Place] | None:
    """Return which place is which, for steps of strands and those that correspond; None where uses do not."""
    found: dict[Place, Place] = {}
    for strand, one, other in steps:
        for index in range(len(one.actions)):
            mine, its = (uses.of(strand, step.number, index) for step in (one, other))
            if mine is None and its is None:
                continue
            pairs = _paired(mine, its)
            if pairs is None or any(found.setdefault(a, b) != b for a, b in pairs):
                return None
    return found if sorted(found) == sorted(found.values()) and _keeps_distances(found) else None


def _paired(
    one: Put | Look | Take | None, other: Put | Look | Take | None
) -> list[tuple[Place, Place]] | None:
    """Return the places of two uses; None where they are not of one kind."""
    match one, other:
        case Take(), Take() if one.point == other.point:
            spans = [(one.span, other.span)]
        case Look(), Look() if one.point == other.point and len(one.spans) == len(other.spans):
            spans = list(zip(one.spans, other.spans, strict=True))
        case Put(), Put() if (
            (one.is_answer, one.tellings) == (other.is_answer, other.tellings)
            and len(one.spans) == len(other.spans)
            and len(one.forgotten) == len(other.forgotten)
        ):
            spans = list(zip((*one.spans, *one.forgotten), (*other.spans, *other.forgotten), strict=True))
        case _:
            return None
    return [(_place(mine), _place(its)) for mine, its in spans]


def _place(span: Span) -> Place:
    return span.cta, span.start, max(span.size, span.reach)


def _keeps_distances(places: dict[Place, Place]) -> bool:
    """Tell whether places that overlap correspond to places that do, as far from each other."""
    return all(
        places[one][1] - places[other][1] == one[1] - other[1] and places[one][0] == places[other][0]
        for one, other in _overlapping(places)
    ) and len(list(_overlapping(places))) == len(list(_overlapping(places.values())))


def _overlapping(places: Iterable[Place]) -> Iterator[tuple[Place, Place]]:
    """Yield the pairs of places that have a byte in common."""
    open_ones: list[Place] = []
    for place in sorted(places):
        open_ones = [each for each in open_ones if each[0] == place[0] and each[1] + each[2] > place[1]]
        for each in open_ones:
            yield each, place
        open_ones.append(place)


__all__ = ["Place", "places_between"]
