"""Move a synchronising statement: a release behind the last use, a fence before the barrier, into the loop."""

from __future__ import annotations

from collections.abc import Iterator

from ...opcodes.spec import Trait
from ...protocols.symex.slice.polling import POLLS
from ..edits import Edit
from ..patch import Patch, Writer, combined
from ..sites import (
    branches_around,
    is_site,
    nearest,
    sites_of,
    steps_of,
)
from ..subject import Subject

_FURTHEST = 8
_STEPS = 3
_MOVED = 12
_OF_ACCESSES = ("SM02", "TM03", "TM04")
_ACCESSES = frozenset({Trait.LOAD, Trait.STORE})


def move_statement(subject: Subject) -> Iterator[Patch]:
    """Yield moves of the instructions of a finding, and of steps around it, to the nearest places first."""
    if not subject.is_about_synchronisation:
        return
    yield from _within_block(subject)
    yield from _past_steps(subject)
    yield from _access_behind_steps(subject)


def _within_block(subject: Subject) -> Iterator[Patch]:
    cfg = subject.view.cfg
    for point in subject.around:
        if _stays(subject, point):
            continue
        block = cfg.blocks[cfg.graph.block_of[point]]
        for place in block.points:
            distance = place - point
            if distance not in (0, 1) and abs(distance) <= _FURTHEST:
                yield _moved(subject, point, Writer(subject.view).before(place), 3 + abs(distance), distance)


def _past_steps(subject: Subject) -> Iterator[Patch]:
    """Yield moves past the next synchronising steps, either way; a poll moves nowhere and is passed whole."""
    steps = steps_of(subject.view)
    chosen = [p for p in nearest(sites_of(subject.view), subject.around) if not _stays(subject, p)][:_MOVED]
    for rank, point in enumerate(chosen):
        own = next(n for n, step in enumerate(steps) if step.first <= point <= step.last)
        for far in range(1, _STEPS + 1):
            if own - far >= 0:
                place = Writer(subject.view).ahead(steps[own - far].first)
                yield _moved(subject, point, place, 4 + far + rank // 2, -1)
            if own + far < len(steps):
                place = Writer(subject.view).after(steps[own + far].last)
                yield _moved(subject, point, place, 4 + far + rank // 2, 1)
        for far, branch in enumerate(branches_around(subject.view, point)[:_STEPS]):
            place = Writer(subject.view).before(branch)
            yield _moved(subject, point, place, 6 + far + rank // 2, -1)


def _access_behind_steps(subject: Subject) -> Iterator[Patch]:
    """Yield moves of the accesses of a finding behind the next synchronising steps that only come behind them."""
    if not subject.finding.rule.startswith(_OF_ACCESSES):
        return
    view = subject.view
    for rank, point in enumerate((subject.point, *subject.related)):
        instruction = view.body.instructions[point]
        if point < 0 or is_site(instruction) or instruction.operation.traits.isdisjoint(_ACCESSES):
            continue
        later = [
            step for step in steps_of(view) if step.first > point and view.cfg.dominates(point, step.first)
        ]
        for far, step in enumerate(later[:_STEPS]):
            place = Writer(view).after(step.last)
            yield _moved(subject, point, place, 3 + far + rank, 1)


def _stays(subject: Subject, point: int) -> bool:
    operation = subject.view.body.instructions[point].operation
    return operation.op in POLLS or not operation.traits.isdisjoint({Trait.BRANCH, Trait.TERMINATOR})


def _moved(subject: Subject, point: int, place: Edit, cost: int, direction: int) -> Patch:
    writer = Writer(subject.view)
    text = writer.statement(point)
    inserted = Edit(place.start, place.end, f" {text} ")
    summary = f"move '{text}' {'down' if direction > 0 else 'up'}"
    return combined("movement", summary, cost, [writer.delete(point), inserted])
