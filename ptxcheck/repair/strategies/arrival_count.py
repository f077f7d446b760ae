"""Initialise a barrier with the arrivals that come: the state where the run is stuck gives the number."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Immediate
from ...protocols.actions import Arrive, AsyncArrive, Init
from ..patch import Patch, Writer, combined
from ..subject import Subject


def solve_arrival_count(subject: Subject) -> Iterator[Patch]:
    """Yield a patch for each count that the arrivals of one phase may mean."""
    violation, barrier, held = subject.violation, subject.barrier, subject.held
    if violation is None or barrier is None or held is None:
        return
    strands = violation.run.protocol.strands
    inits = {
        a.point: a.count for s in strands for a in s.actions if isinstance(a, Init) and a.barrier == barrier
    }
    everywhere = {a.point: a.count for s in strands for a in s.actions if isinstance(a, Init)}
    for point, count in sorted(inits.items()):
        if subject.view.body.instructions[point].get("count") is None:
            continue
        for cost, wanted in enumerate(_counts(subject, count)):
            edit = Writer(subject.view).with_operand(point, "count", Immediate(wanted))
            yield combined(
                "arrival count", f"initialise with {wanted} arrivals instead of {count}", 1 + cost, [edit]
            )
            alike = [p for p, other in sorted(everywhere.items()) if other == count]
            edits = [Writer(subject.view).with_operand(p, "count", Immediate(wanted)) for p in alike]
            if len(edits) > 1:
                summary = f"initialise {len(edits)} mbarriers with {wanted} arrivals instead of {count}"
                yield combined("arrival count", summary, 2 + cost, edits)


def _counts(subject: Subject, count: int) -> list[int]:
    """Return the counts that make a phase complete: by the state, then by what one instruction brings."""
    violation, barrier, held = subject.violation, subject.barrier, subject.held
    assert violation is not None
    assert held is not None
    found = [count - held.pending]
    by_point: dict[int, int] = {}
    for strand in violation.run.protocol.strands:
        seen: set[int] = set()
        for action in strand.actions:
            if (
                isinstance(action, Arrive | AsyncArrive)
                and action.barrier == barrier
                and action.point not in seen
            ):
                seen.add(action.point)
                by_point[action.point] = by_point.get(action.point, 0) + action.count
    found += [sum(by_point.values()), *sorted(by_point.values())]
    return [n for n in dict.fromkeys(found) if n > 0 and n != count]
