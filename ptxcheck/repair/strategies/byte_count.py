"""Expect the bytes that complete: the machine's own equation of the phase gives the number."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Immediate
from ...protocols.actions import Arrive, Expect
from ..patch import Patch, Writer, combined
from ..subject import Subject

_NAME = "tx_count"


def solve_byte_count(subject: Subject) -> Iterator[Patch]:
    """Yield a patch for each instruction that expects bytes on the barrier of a violation."""
    violation, barrier, held = subject.violation, subject.barrier, subject.held
    if violation is None or barrier is None or held is None:
        return
    difference = _difference(held.expected, held.completed)
    if difference is None or difference == 0:
        return
    amounts = {
        action.point: amount
        for strand in violation.run.protocol.strands
        for action in strand.actions
        if isinstance(action, Expect | Arrive) and action.barrier == barrier
        if isinstance(amount := action.amount if isinstance(action, Expect) else action.expect, int)
        and amount
    }
    for point, amount in sorted(amounts.items()):
        wanted = amount - difference
        if wanted >= 0 and subject.view.body.instructions[point].get(_NAME) is not None:
            edit = Writer(subject.view).with_operand(point, _NAME, Immediate(wanted))
            yield combined("byte count", f"expect {wanted} bytes instead of {amount}", 1, [edit])


def _difference(expected: object, completed: object) -> int | None:
    if isinstance(expected, int) and isinstance(completed, int):
        return expected - completed
    return None
