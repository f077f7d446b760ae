"""Let fewer groups stay open at a wait, or wait for completion instead of reads."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Immediate
from ...opcodes.op import Op
from ..patch import Patch, Writer, combined
from ..subject import Subject

_WAITS = frozenset({Op.CP_ASYNC_WAIT_GROUP, Op.CP_ASYNC_BULK_WAIT_GROUP, Op.WGMMA_WAIT_GROUP})


def lower_group_number(subject: Subject) -> Iterator[Patch]:
    """Yield patches for the waits on groups, those of the finding first."""
    if subject.finding.rule[:2] not in ("BG", "CA", "WG", "SM", "PX"):
        return
    instructions = subject.view.body.instructions
    near = (subject.point, *subject.related)
    for point, instruction in enumerate(instructions):
        if instruction.operation.op not in _WAITS:
            continue
        far = 0 if point in near else 1
        number = instruction.get("n") or (instruction.operands[0] if instruction.operands else None)
        if not isinstance(number, Immediate):
            continue
        name = instruction.operation.operand_specs[0].name
        for wanted in range(number.value - 1, -1, -1):
            edit = Writer(subject.view).with_operand(point, name, Immediate(wanted))
            summary = f"leave {wanted} groups open instead of {number.value}"
            yield combined("group number", summary, 1 + far + number.value - wanted, [edit])
