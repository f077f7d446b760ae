"""Leave out a wait for a phase that nobody completes, or that the waiting thread itself would have to complete."""

from __future__ import annotations

from collections.abc import Iterator

from ...protocols.symex.slice.polling import POLLS
from ..patch import Patch, Writer, combined
from ..sites import nearest, points_of, step_at
from ..subject import Subject

_RULES = ("MB02", "TX00")


def leave_out_wait(subject: Subject) -> Iterator[Patch]:
    """Yield the removal of each wait in a loop, nearest to the finding first."""
    if not subject.finding.rule.startswith(_RULES) or subject.finding.counterexample is None:
        return
    writer = Writer(subject.view)
    for far, point in enumerate(nearest(points_of(subject.view, *POLLS), subject.around)):
        step = step_at(subject.view, point)
        if step.last > step.first:
            edits = [writer.delete(p) for p in range(step.first, step.last + 1)]
            summary = f"leave out the wait '{writer.statement(point)}'"
            yield combined("needless wait", summary, 9 + far, edits, needs_proof=True)
