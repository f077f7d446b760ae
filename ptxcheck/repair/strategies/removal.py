"""Remove a statement that is one too many."""

from __future__ import annotations

from collections.abc import Iterator

from ...opcodes.op import Op
from ..patch import Patch, Writer, combined
from ..sites import nearest, points_of
from ..subject import Subject

_RULES = frozenset(
    {
        "MB004",
        "MB023",
        "MB026",
        "CL002",
        "CA004",
        "NB011",
        "NB012",
        "MB005",
        "TM005",
        "TM027",
        "WG007",
        "WG009",
        "CL003",
    }
)
_OF_PHASES = "MB02"
_ARRIVALS = 6


def leave_out_arrival(subject: Subject) -> Iterator[Patch]:
    """Yield the removal of each arrival without bytes, the nearest first: one a round may be too many."""
    if not subject.finding.rule.startswith(_OF_PHASES) or subject.finding.counterexample is None:
        return
    view, writer = subject.view, Writer(subject.view)
    arrivals = [
        point
        for point in points_of(view, Op.MBARRIER_ARRIVE)
        if view.body.instructions[point].get("tx_count") is None
    ]
    for far, point in enumerate(
        nearest(tuple(arrivals), subject.around)[:_ARRIVALS] if len(arrivals) > 1 else ()
    ):
        summary = f"leave out '{writer.statement(point)}'"
        yield combined("removal", summary, 5 + far, [writer.delete(point)], needs_proof=True)


def remove_statement(subject: Subject) -> Iterator[Patch]:
    """Yield the removal of the instruction at the finding, and at its related places."""
    if subject.finding.rule not in _RULES:
        return
    for cost, point in enumerate(dict.fromkeys((subject.point, *subject.related))):
        if point >= 0:
            writer = Writer(subject.view)
            text = writer.statement(point)
            yield combined("removal", f"remove '{text}'", 3 + cost, [writer.delete(point)])
