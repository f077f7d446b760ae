"""Tensor maps that the kernel makes: numbers in PTX's own units, and fields that nothing sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from ...descriptors.device.field import BYTE_STRIDES_SINCE, ELEMENT_TYPES, Field
from ...descriptors.fields import DataType
from ...ir import Address, Immediate, Register
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ...parser.show import show_operand
from ..patch import Patch, Writer, combined
from ..sites import guard_text, points_of, unread
from ..subject import Subject

_DIMENSIONS = 5
_UNIT_BITS = 4
"""Strides were given in units of 16 bytes before PTX ISA 8.5."""


def change_map_field(subject: Subject) -> Iterator[Patch]:
    """Yield the number that PTX has for what a field was set to, or the step 1 where none is set."""
    match subject.finding.rule:
        case "TD051":
            yield from _replaced(subject, lambda rank: rank - 1, "the rank counts from zero")
        case "TD053":
            yield from _stride(subject)
        case "TD054":
            yield from _replaced(subject, _element_type, "the element type has another number in PTX")
        case "TD055":
            yield from _steps(subject)
            yield from _sizes(subject)
        case "TD056":
            yield from _copied_to(subject)
        case _:
            return


def _replaced(subject: Subject, change: Callable[[int], int], why: str) -> Iterator[Patch]:
    instruction = subject.instruction
    value = (
        None if instruction is None else subject.view.facts.constant(subject.point, instruction.get("value"))
    )
    if value is None or change(value) < 0:
        return
    edit = Writer(subject.view).with_operand(subject.point, "value", Immediate(change(value)))
    yield combined("map field", f"{change(value)} instead of {value}: {why}", 1, [edit], local=True)


def _element_type(number: int) -> int:
    """Return PTX's number of the type that `number` names in the driver's header, -1 for none."""
    try:
        return ELEMENT_TYPES.index(DataType(number))
    except ValueError:
        return -1


def _stride(subject: Subject) -> Iterator[Patch]:
    """Yield the stride in the unit of the module's version."""
    instruction = subject.instruction
    value = None if instruction is None else instruction.get("value")
    if not isinstance(value, Register):
        yield from _replaced(subject, lambda stride: stride << _UNIT_BITS, "strides are in bytes")
        return
    in_bytes = subject.view.module.version >= BYTE_STRIDES_SINCE
    name, head = f"%ptxcheck_stride{subject.point}", "shl.b64" if in_bytes else "shr.u64"
    writer = Writer(subject.view)
    changed = writer.with_operand(subject.point, "value", Register(name))
    lines = (f".reg .b64 {name};", f"{head} {name}, {value.name}, {_UNIT_BITS};")
    unit = "bytes" if in_bytes else "units of 16 bytes"
    yield combined(
        "map field",
        f"give the stride in {unit}",
        1,
        [writer.within(subject.point, lines, changed.replacement)],
        local=True,
    )


def _steps(subject: Subject) -> Iterator[Patch]:
    """Yield the element step 1 for each dimension that has none, behind another field of the same map."""
    view, writer = subject.view, Writer(subject.view)
    points = points_of(view, Op.TENSORMAP_REPLACE)
    known = {
        view.facts.constant(point, view.body.instructions[point].get("ordinal"))
        for point in points
        if view.body.instructions[point].operation.slots.get("field") == Field.STEP.value
    }
    indexed = [
        point
        for point in points
        if view.body.instructions[point].operation.slots.get("field") in (Field.BOX.value, Field.STEP.value)
    ]
    for ordinal in range(_DIMENSIONS) if indexed else ():
        if ordinal in known:
            continue
        instruction = view.body.instructions[indexed[-1]]
        address = instruction.get("addr")
        if address is None:
            return
        head = instruction.operation.text.replace(Field.BOX.value, Field.STEP.value)
        text = f"{guard_text(instruction)}{head} {show_operand(address)}, {ordinal}, 1;"
        yield combined("map field", f"insert '{text}'", 2 + ordinal, [writer.after(indexed[-1], text)])


def _sizes(subject: Subject) -> Iterator[Patch]:
    """Yield each 32-bit value that the kernel loads and never uses as the size of a dimension that has none."""
    view, writer = subject.view, Writer(subject.view)
    sized = [
        point
        for point in points_of(view, Op.TENSORMAP_REPLACE)
        if view.body.instructions[point].operation.slots.get("field") == Field.DIM.value
    ]
    known = {view.facts.constant(point, view.body.instructions[point].get("ordinal")) for point in sized}
    missing = next((ordinal for ordinal in range(_DIMENSIONS) if ordinal not in known), None)
    if not sized or missing is None:
        return
    instruction = view.body.instructions[sized[-1]]
    address = instruction.get("addr")
    lost = [
        register
        for point, register in unread(view)
        if Trait.LOAD in view.body.instructions[point].operation.traits
        and view.cfg.dominates(point, sized[-1])
    ]
    if address is None:
        return
    head = f"{guard_text(instruction)}{instruction.operation.text} {show_operand(address)}"
    for cost, register in enumerate(lost):
        text = f"{head}, {missing}, {register.name};"
        yield combined("map field", f"insert '{text}'", 2 + cost, [writer.after(sized[-1], text)])


def _copied_to(subject: Subject) -> Iterator[Patch]:
    """Yield the places that the kernel copies maps to as the map of the copy."""
    instruction = subject.instruction
    address = None if instruction is None else instruction.get("tensor_map")
    for cost, point in enumerate(points_of(subject.view, Op.TENSORMAP_CP_FENCEPROXY)):
        target = subject.view.body.instructions[point].get("dst")
        if isinstance(address, Address) and isinstance(target, Address):
            operand = replace(target, extra=address.extra)
            edit = Writer(subject.view).with_operand(subject.point, "tensor_map", operand)
            yield combined("map field", f"the map at {show_operand(target)}", 1 + cost, [edit])
