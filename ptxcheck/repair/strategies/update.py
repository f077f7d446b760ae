"""Leave out a computation or a branch that keeps roles apart: a reset, a skipped round, an early way out."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Register
from ...protocols.symex.slice.polling import POLLS
from ..patch import Patch, Writer, combined
from ..sites import nearest
from ..slices import feeding, has_twin, is_branch
from ..subject import Subject
from .offset import behind_operands

_TOGETHER = 3
"""Updates in a row that are left out together: a stage and its parity."""


def leave_out_update(subject: Subject) -> Iterator[Patch]:
    """Yield the removal of each update of a register that is set before too, and of each conditional branch.

    One that no other place of the kernel has is the likelier fault.
    """
    if subject.finding.counterexample is None:
        return
    view, writer = subject.view, Writer(subject.view)
    instructions = view.body.instructions
    updates = [
        point
        for point in sorted({*feeding(view), *behind_operands(subject)})
        if all(_is_set_before(subject, point, register) for register in instructions[point].writes())
    ]
    branches = [p for p, each in enumerate(instructions) if is_branch(each) and not _closes_poll(subject, p)]
    points = nearest((*updates, *branches), subject.around)
    odd = [point for point in points if not has_twin(view, point)]
    others = [point for point in points if point not in odd]
    for least, chosen in ((2, odd), (5, others)):
        for far, point in enumerate(chosen):
            for more, group in enumerate(_rows(point, updates)):
                texts = " ".join(writer.statement(p) for p in group)
                edits = [writer.delete(p) for p in group]
                cost = least + more + min(far // 2, 4)
                yield combined("update", f"leave out '{texts}'", cost, edits, needs_proof=True)


def _is_set_before(subject: Subject, point: int, register: Register) -> bool:
    """Tell whether a register has a value without what a point writes: another statement always sets it before."""
    instructions, cfg = subject.view.body.instructions, subject.view.cfg
    return any(
        other != point and register in tuple(each.writes()) and cfg.dominates(other, point)
        for other, each in enumerate(instructions)
    )


def _rows(point: int, updates: list[int]) -> Iterator[range]:
    """Yield the statement alone, then with the updates right behind it."""
    for end in range(point, point + _TOGETHER):
        if end > point and not {point, end} <= set(updates):
            return
        yield range(point, end + 1)


def _closes_poll(subject: Subject, point: int) -> bool:
    """Tell whether a branch repeats a poll: without it the wait would be none."""
    instructions = subject.view.body.instructions
    guard = instructions[point].guard
    assert guard is not None
    return any(
        instructions[definition].operation.op in POLLS
        for definition in subject.view.facts.definitions(point, guard.register)
    )
