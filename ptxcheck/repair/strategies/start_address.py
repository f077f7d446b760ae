"""Put the start of a tile into its matrix descriptor as the hardware reads it: bits 4 to 17, one for the warpgroup."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Register
from ...opcodes.op import Op
from ...parser.show import show_operand
from ..patch import Patch, Writer, combined
from ..subject import Subject
from .offset import behind

_ENCODED = frozenset({"WG015", "TM020"})
_UNIFORM = "WG020"
_FIELD = 0x3FFF
"""14 bits, in units of 16 bytes."""


def encode_start_address(subject: Subject) -> Iterator[Patch]:
    """Yield the address masked behind its shift, or shifted where it is masked; for WG020, without what varies."""
    rule, instruction = subject.finding.rule, subject.instruction
    if instruction is None or rule not in {*_ENCODED, _UNIFORM}:
        return
    points = dict.fromkeys(
        point
        for name in ("a_desc", "b_desc")
        if (operand := instruction.get(name)) is not None
        for point in behind(subject, operand)
    )
    for point in points:
        yield from _encoded(subject, point) if rule in _ENCODED else _without_offset(subject, point)


def _encoded(subject: Subject, point: int) -> Iterator[Patch]:
    instruction, writer = subject.view.body.instructions[point], Writer(subject.view)
    target, kind = instruction.operands[0], instruction.operation.text.rpartition(".")[2]
    if not isinstance(target, Register):
        return
    bits = kind[1:]
    if instruction.operation.op is Op.SHR:
        text = f"and.b{bits} {target.name}, {target.name}, {_FIELD:#x};"
        yield combined("start address", f"insert '{text}'", 1, [writer.after(point, text)])
    elif instruction.operation.op is Op.AND:
        text = f"bfe.u{bits} {target.name}, {show_operand(instruction.operands[1])}, 4, 14;"
        yield combined(
            "start address", f"'{text}': the field counts 16 bytes", 1, [writer.rewritten(point, text)]
        )


def _without_offset(subject: Subject, point: int) -> Iterator[Patch]:
    """Yield a sum without one of its terms: one that threads of a warpgroup differ in."""
    instruction, writer = subject.view.body.instructions[point], Writer(subject.view)
    if instruction.operation.op is not Op.ADD:
        return
    target, kind = instruction.operands[0], instruction.operation.text.rpartition(".")[2]
    for cost, kept in enumerate(instruction.operands[1:3]):
        text = f"mov.b{kind[1:]} {show_operand(target)}, {show_operand(kept)};"
        summary = f"'{text}': one tile for the warpgroup"
        yield combined("start address", summary, 2 + cost, [writer.rewritten(point, text)])
