"""Give a named barrier the number of threads, or the number, that other statements of the kernel have."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Immediate
from ...op import Op
from ..patch import Patch, Writer, combined
from ..sites import nearest, points_of, unread
from ..subject import Subject

_NAMED = frozenset({Op.BAR_SYNC, Op.BAR_ARRIVE, Op.BAR_RED})
_RULES = ("NB0", "SM02")
_LOST = 6
_OVERTAKES = frozenset({"NB011", "NB022"})
_WARP = 32
_NEAR = 4
"""Instructions between the computation of a number and of its count."""
_WORDS = {"threads": "count", "barrier": "take the number"}


def agree_on_barrier(subject: Subject) -> Iterator[Patch]:
    """Yield, for each named barrier with two numbers, the ones that others have: what most of its kind have first."""
    if not subject.finding.rule.startswith(_RULES):
        return
    instructions = subject.view.body.instructions
    points = tuple(p for p, i in enumerate(instructions) if i.operation.op in _NAMED and i.get("threads"))
    writer = Writer(subject.view)
    for far, point in enumerate(nearest(points, subject.around)):
        for name in ("threads", "barrier"):
            own = _constant(subject, point, name)
            if own is None:
                continue
            others = [_constant(subject, p, name) for p in points if p != point]
            values = [other for other in others if other is not None]
            if name == "threads":
                values += [n for n in (own - _WARP, own + _WARP, subject.view.launch.threads) if n]
            for wanted in sorted(set(values) - {own}, key=lambda v: (-values.count(v), v)):
                support = max(0, values.count(own) - values.count(wanted) + 1)
                edit = writer.with_operand(point, name, Immediate(wanted))
                summary = f"{_WORDS[name]} {wanted} instead of {own}"
                yield combined("named barrier", summary, 1 + min(far, 6) // 2 + min(support, 6), [edit])


def wait_at_barrier(subject: Subject) -> Iterator[Patch]:
    """Yield waits at a named barrier instead of arrivals that may overtake the round before."""
    if subject.finding.rule not in _OVERTAKES:
        return
    instructions, writer = subject.view.body.instructions, Writer(subject.view)
    points = tuple(p for p in points_of(subject.view, Op.BAR_ARRIVE))
    for far, point in enumerate(nearest(points, subject.around)):
        instruction = instructions[point]
        edit = writer.rewritten(point, writer.statement(point).replace(".arrive", ".sync", 1))
        yield combined("named barrier", f"wait instead of '{instruction.operation.text}'", 2 + far, [edit])


def insert_named_barrier(subject: Subject) -> Iterator[Patch]:
    """Yield barriers of numbers and counts that are computed and not used: a statement may have got lost."""
    if not subject.finding.rule.startswith(_RULES):
        return
    instructions = subject.view.body.instructions
    points = tuple(p for p, i in enumerate(instructions) if i.operation.op in _NAMED and i.get("threads"))
    known = {value for p in points if (value := _constant(subject, p, "threads")) is not None}
    lost = {point: register.name for point, register in unread(subject.view)}
    for rank, point in enumerate(nearest(tuple(lost), subject.around)[:_LOST]):
        behind = [p for p in sorted(lost) if point < p <= point + _NEAR]
        pairs = [(max(point, p), lost[p]) for p in behind] + [(point, str(value)) for value in sorted(known)]
        for more, (place, count) in enumerate(pairs):
            for head in ("bar.sync", "bar.arrive"):
                text = f"{head} {lost[point]}, {count};"
                edit = Writer(subject.view).after(place, text)
                yield combined("named barrier", f"insert '{text}'", 2 + rank // 2 + more, [edit])


def _constant(subject: Subject, point: int, name: str) -> int | None:
    return subject.view.facts.constant(point, subject.view.body.instructions[point].get(name))
