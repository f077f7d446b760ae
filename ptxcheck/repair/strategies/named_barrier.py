"""Give a named barrier the number of threads, or the number, that other statements of the kernel have."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ...ir import Immediate
from ...opcodes.op import Op
from ..patch import Patch, Writer, combined
from ..sites import nearest, points_of, unread
from ..subject import Subject

_NAMED = frozenset({Op.BAR_SYNC, Op.BAR_ARRIVE, Op.BAR_RED})
_RULES = ("NB0", "SM02")
_LOST = 6
_OVERTAKES = frozenset({"NB011", "NB022"})
_MEETINGS = ("NB0", "MB02", "SM02")
_WARP = 32
_NUMBERS = 16
"""Named barriers of a CTA (PTX ISA, "bar")."""
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


def agree_on_all(subject: Subject) -> Iterator[Patch]:
    """Yield one count for all statements of a barrier, or of the kernel, that have the same wrong one."""
    if not subject.finding.rule.startswith("NB0"):
        return
    points = tuple(
        p for p in points_of(subject.view, *_NAMED) if _constant(subject, p, "threads") is not None
    )
    counts = {point: _constant(subject, point, "threads") for point in points}
    numbers = {point: _constant(subject, point, "barrier") for point in points}
    writer = Writer(subject.view)
    for own in dict.fromkeys(count for count in counts.values() if count is not None):
        same_count = [point for point in points if counts[point] == own]
        shared = [[p for p in same_count if numbers[p] == n] for n in dict.fromkeys(numbers.values())]
        for cost, group in enumerate(dict.fromkeys(map(tuple, (same_count, *shared)))):
            threads = subject.view.launch.threads
            for more, wanted in enumerate(n for n in dict.fromkeys((threads, own * 2, own // 2)) if n):
                if len(group) > 1 and wanted != own and wanted % _WARP == 0:
                    edits = [writer.with_operand(p, "threads", Immediate(wanted)) for p in group]
                    summary = f"count {wanted} instead of {own} in {len(group)} places"
                    yield combined("named barrier", summary, 3 + cost + more, edits)


def take_free_number(subject: Subject) -> Iterator[Patch]:
    """Yield a number that no barrier has for a wait and an arrival that share theirs with others."""
    if not subject.finding.rule.startswith("NB0"):
        return
    instructions, writer = subject.view.body.instructions, Writer(subject.view)
    points = points_of(subject.view, *_NAMED)
    numbers = {point: _constant(subject, point, "barrier") for point in points}
    free = next((n for n in range(1, _NUMBERS) if n not in numbers.values()), None)
    waits = [p for p in points if instructions[p].operation.op is not Op.BAR_ARRIVE]
    arrivals = [p for p in points if instructions[p].operation.op is Op.BAR_ARRIVE]
    for rank, (wait, arrival) in enumerate(product(waits, arrivals)):
        if free is not None and numbers[wait] is not None and numbers[wait] == numbers[arrival]:
            edits = [writer.with_operand(p, "barrier", Immediate(free)) for p in (wait, arrival)]
            yield combined("named barrier", f"a barrier of their own, {free}", 3 + rank, edits)


def meet_at_new_barrier(subject: Subject) -> Iterator[Patch]:
    """Yield a barrier of those threads that come to a place: inserted, or instead of one that others do not reach."""
    if not subject.finding.rule.startswith(_MEETINGS) or not subject.violations:
        return
    writer = Writer(subject.view)
    numbers = {_constant(subject, p, "barrier") for p in points_of(subject.view, *_NAMED)}
    free = next((n for n in range(1, _NUMBERS) if n not in numbers), None)
    for rank, point in enumerate(subject.around if free is not None else ()):
        threads = _threads_at(subject, point)
        if threads % _WARP or not threads:
            continue
        text = f"bar.sync {free}, {threads};"
        if subject.view.body.instructions[point].operation.op is Op.BAR_SYNC:
            edit = writer.rewritten(point, text)
            yield combined("named barrier", f"'{text}' instead", 3 + rank, [edit])
            continue
        for more, edit in enumerate((writer.before_step(point, text), writer.after_step(point, text))):
            yield combined("named barrier", f"insert '{text}'", 4 + rank + more, [edit])


def _threads_at(subject: Subject, point: int) -> int:
    """Return how many threads of a CTA come to the block of a point in the run, whole warps where lanes are picked."""
    graph = subject.view.cfg.graph
    strands = subject.violations[0].run.protocol.strands
    return sum(
        strand.threads
        for strand in strands
        if strand.cta == 0
        and any(graph.block_of[action.point] == graph.block_of[point] for action in strand.actions)
    )


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
