"""Expect the bytes that complete: the machine's own equation of the phase gives the number."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ...ir import Immediate
from ...protocols.model.actions import Arrive, Expect
from ..arrivals import bytes_of_a_phase
from ..patch import Patch, Writer, combined
from ..subject import Subject

_NAME = "tx_count"
_RULES = ("TX", "MB02")


def solve_byte_count(subject: Subject) -> Iterator[Patch]:
    """Yield a patch for each instruction that expects bytes on an mbarrier that is stuck."""
    if subject.violation is None:
        return
    strands = subject.violation.run.protocol.strands
    constants, writer = _constants(subject), Writer(subject.view)
    for rank, (barrier, held) in enumerate(subject.stuck):
        difference = _difference(held.expected, held.completed)
        if difference is None or difference == 0:
            continue
        amounts = {
            action.point: amount
            for strand in strands
            for action in strand.actions
            if isinstance(action, Expect | Arrive) and action.barrier == barrier
            if isinstance(amount := action.amount if isinstance(action, Expect) else action.expect, int)
            and amount
        }
        for point, amount in sorted(amounts.items()):
            same_amount = [p for p, n in constants.items() if n == amount] or [point]
            groups = dict.fromkeys(((point,), tuple(same_amount)))
            values = dict.fromkeys((amount - difference, *bytes_of_a_phase(strands, barrier)))
            for cost, (wanted, points) in enumerate(product(values, groups)):
                has_count = subject.view.body.instructions[point].get(_NAME) is not None
                if wanted > 0 and wanted != amount and has_count:
                    edits = [writer.with_operand(p, _NAME, Immediate(wanted)) for p in points]
                    where = f" in {len(points)} places" if len(points) > 1 else ""
                    summary = f"expect {wanted} bytes instead of {amount}{where}"
                    yield combined("byte count", summary, 1 + rank + cost, edits)


def agree_on_bytes(subject: Subject) -> Iterator[Patch]:
    """Yield, for each number of bytes that the kernel expects somewhere, the numbers that it expects elsewhere.

    The bytes of a box of a map that the host makes are not known, but the same wherever that map is used.
    """
    if not subject.finding.rule.startswith(_RULES):
        return
    amounts = _constants(subject)
    values = list(amounts.values())
    writer = Writer(subject.view)
    for amount in sorted(set(values), key=lambda value: (values.count(value), value)):
        points = [point for point, value in amounts.items() if value == amount]
        for wanted in sorted(set(values) - {amount}, key=lambda value: (-values.count(value), value)):
            edits = [writer.with_operand(point, _NAME, Immediate(wanted)) for point in points]
            cost = 2 + max(0, values.count(amount) - values.count(wanted) + 1)
            yield combined(
                "byte count", f"expect {wanted} bytes instead of {amount}, as elsewhere", cost, edits
            )


def _constants(subject: Subject) -> dict[int, int]:
    """Return the bytes that are expected at each point, where the number is known."""
    return {
        point: amount
        for point, instruction in enumerate(subject.view.body.instructions)
        if (amount := subject.view.facts.constant(point, instruction.get(_NAME))) is not None
    }


def _difference(expected: object, completed: object) -> int | None:
    if isinstance(expected, int) and isinstance(completed, int):
        return expected - completed
    return None
