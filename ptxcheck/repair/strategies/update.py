"""Leave out a computation or a branch that keeps roles apart: a reset, a skipped round, an early way out."""

from __future__ import annotations

from collections.abc import Iterator

from ..patch import Patch, Writer, combined
from ..sites import POLLS, nearest
from ..slices import feeding, is_branch, written
from ..subject import Subject


def leave_out_update(subject: Subject) -> Iterator[Patch]:
    """Yield the removal of each update of a register that is set elsewhere too, and of each conditional branch."""
    if subject.finding.counterexample is None:
        return
    view, writer = subject.view, Writer(subject.view)
    instructions = view.body.instructions
    updates = [
        point
        for point in feeding(view)
        if all(written(view, register) > 1 for register in instructions[point].writes())
    ]
    branches = [p for p, each in enumerate(instructions) if is_branch(each) and not _closes_poll(subject, p)]
    for far, point in enumerate(nearest((*updates, *branches), subject.around)):
        text = writer.statement(point)
        yield combined(
            "update", f"leave out '{text}'", 3 + min(far // 3, 5), [writer.delete(point)], needs_proof=True
        )


def _closes_poll(subject: Subject, point: int) -> bool:
    """Tell whether a branch repeats a poll: without it the wait would be none."""
    instructions = subject.view.body.instructions
    guard = instructions[point].guard
    assert guard is not None
    return any(
        instructions[definition].operation.op in POLLS
        for definition in subject.view.facts.definitions(point, guard.register)
    )
