"""How many bytes copies move at most, where nothing says what the box of their tensor map is.

Property: no copy moves more than `most_bytes`, if the equations of bytes hold and each tile that the matrix unit reads
is filled by the copy that starts it; nor more than `within_slots`, if each box stays in its slots.

Argument: copies of one phase share the bytes that are expected there. A tile that the matrix unit reads from where a
copy starts was filled by that copy, as far as no other copy starts in it and no thread writes to it: so many bytes it
has at least, and the others of its phase have what is left. Copies of one box move as much into each of their slots:
no more than the smallest of these holds.

Not covered: copies whose bytes are more than a multiple of one symbol, equations with subtracted symbols, and places
that are not known: they get no limit. That boxes stay in their slots is a proviso of the proof, not shown.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..model.actions import (
    Access,
    Init,
    Protocol,
    Transfer,
)
from ..model.bulk_copy import LEAST_BYTES
from ..model.outcome import Equation
from ..symex.values.symbol import Atom, Form, plus

_Place = tuple[int, int]
"""CTA and offset."""


def most_bytes(
    protocol: Protocol, equations: Sequence[Equation], matrix_pipelines: frozenset[str]
) -> Mapping[_Place, int]:
    """Return the most bytes of transfers (by strand and number of action) that multiplications and equations leave."""
    copies = list(_copies(protocol, matrix_pipelines))
    least = _least(protocol, copies, matrix_pipelines)
    most: dict[Atom, int] = {}
    for equation in equations:
        for atom, limit in _limits(plus(equation.completed, equation.expected, -1), least):
            most[atom] = min(most.get(atom, limit), limit)
    return {place: factor * most[atom] for place, _, atom, factor in copies if atom in most}


def within_slots(
    protocol: Protocol, starts: Mapping[int, Sequence[int]], matrix_pipelines: frozenset[str]
) -> Mapping[_Place, int]:
    """Return the most bytes of transfers that stay inside the slot they start in, each box in all of its slots.

    `starts` are the offsets at which slots start in each CTA, sorted.
    """
    copies = list(_copies(protocol, matrix_pipelines))
    most: dict[Atom, int] = {}
    for _, (cta, start), atom, factor in copies:
        known = starts.get(cta, ())
        after = bisect_right(known, start)
        if after < len(known):
            size = (known[after] - start) // factor
            most[atom] = min(most.get(atom, size), size)
    return {place: factor * most[atom] for place, _, atom, factor in copies if atom in most}


def _copies(
    protocol: Protocol, matrix_pipelines: frozenset[str]
) -> Iterator[tuple[_Place, _Place, Atom, int]]:
    """Yield the copies whose bytes are a symbol: which, where to, the symbol, and how often it counts."""
    for index, strand in enumerate(protocol.strands):
        for number, action in enumerate(strand.actions):
            if (
                not isinstance(action, Transfer)
                or action.pipeline in matrix_pipelines
                or not action.completes
            ):
                continue
            amount = action.completes[0][1]
            if isinstance(amount, Form) and len(amount.terms) == 1 and not amount.constant and action.writes:
                into = action.writes[0]
                if into.start >= 0:
                    yield (index, number), (into.cta, into.start), *amount.terms[0]


def _least(
    protocol: Protocol,
    copies: Iterable[tuple[_Place, _Place, Atom, int]],
    matrix_pipelines: frozenset[str],
) -> Mapping[Atom, int]:
    """Return how many bytes each symbol stands for at least."""
    read: set[tuple[int, int, int]] = set()
    ends: set[_Place] = set()
    for strand in protocol.strands:
        for action in strand.actions:
            if isinstance(action, Transfer) and action.pipeline in matrix_pipelines:
                read.update((s.cta, s.start, s.start + s.reach) for s in action.reads if s.reach)
            elif isinstance(action, Access | Transfer):
                ends.update((span.cta, span.start) for span in action.writes)
            elif isinstance(action, Init):
                ends.add((action.barrier.cta, action.barrier.offset))
    tiles, limits = sorted(read), sorted(ends)
    reached: dict[_Place, int] = {}
    least: dict[Atom, int] = {}
    for _, place, atom, factor in copies:
        if place not in reached:
            reached[place] = _filled(place, tiles, limits)
        least[atom] = max(least.get(atom, LEAST_BYTES), reached[place] // factor)
    return least


def _filled(place: _Place, tiles: Sequence[tuple[int, int, int]], limits: Sequence[_Place]) -> int:
    """Return how many bytes from a place on the matrix unit reads, up to where something else is written."""
    cta, start = place
    after = bisect_right(limits, place)
    limit = limits[after][1] if after < len(limits) and limits[after][0] == cta else None
    end = start
    for tile in tiles[bisect_right(tiles, (cta, start)) :]:
        if tile[0] != cta or tile[1] > end:
            break
        end = max(end, tile[2])
    return (end if limit is None else min(end, limit)) - start


def _limits(form: Form | int, least: Mapping[Atom, int]) -> Iterator[tuple[Atom, int]]:
    """Yield the most that each symbol can be where the form is zero and all symbols count alike."""
    if isinstance(form, int) or any(factor <= 0 or atom not in least for atom, factor in form.terms):
        return
    used = sum(factor * least[atom] for atom, factor in form.terms)
    for atom, factor in form.terms:
        limit = (-form.constant - used) // factor + least[atom]
        if limit >= least[atom]:
            yield atom, limit
