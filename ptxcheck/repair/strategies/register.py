"""Compute from, or synchronise by, another register that the kernel uses in the same way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from ...ir import (
    Address,
    Immediate,
    Operand,
    Register,
)
from ...opcodes.op import Op
from ...parser.show import show_operand
from ...view import KernelView
from ..patch import Patch, Writer, combined
from ..sites import is_site, nearest, unread
from ..slices import feeding, idle
from ..subject import Subject
from .offset import behind_operands

_MOST = 3
"""Registers that are tried for one operand."""
_PLACES = frozenset({"addr", "mbar", "parity"})


def take_other_register(subject: Subject) -> Iterator[Patch]:
    """Yield other registers for the addresses and parities of mbarriers, and for what they are computed from."""
    if subject.finding.counterexample is None:
        return
    view, writer = subject.view, Writer(subject.view)
    instructions = view.body.instructions
    sites = [p for p, each in enumerate(instructions) if is_site(each)]
    spare = _Spare.of(view)
    lost = {*spare.unread, *spare.idle}
    points = tuple(dict.fromkeys((*sites, *feeding(view), *behind_operands(subject))))
    for far, point in enumerate(nearest(points, subject.around)):
        instruction = instructions[point]
        for place, operand in enumerate(instruction.operands):
            for rank, other in enumerate(_others(subject, spare, point, place)):
                edit = writer.with_operand_at(point, place, other)
                summary = f"'{edit.replacement}': {show_operand(other)} instead of {show_operand(operand)}"
                is_lost = _register(other) in lost
                cost = 3 + min(far // 6, 2) if is_lost else 5 + rank + min(far // 3, 5)
                yield combined("register", summary, cost, [edit], needs_proof=True)


@dataclass(frozen=True, slots=True)
class _Spare:
    """Registers of a kernel that may be taken instead of others."""

    unread: tuple[Register, ...]
    idle: tuple[Register, ...]
    by_operation: Mapping[str, tuple[Register, ...]]
    """The registers that instructions of one text of operation name, in order."""
    updated: tuple[tuple[Register, ...], ...]
    """By instruction that has a constant, the registers that it reads and writes."""

    @classmethod
    def of(cls, view: KernelView) -> _Spare:
        named: dict[str, dict[Register, None]] = {}
        for each in view.body.instructions:
            registers = (operand for operand in each.operands if isinstance(operand, Register))
            named.setdefault(each.operation.text, {}).update(dict.fromkeys(registers))
        return cls(
            tuple(register for _, register in unread(view)),
            tuple(register for _, register in idle(view)),
            {text: tuple(registers) for text, registers in named.items()},
            tuple(_updates(view)),
        )


def _others(subject: Subject, spare: _Spare, point: int, place: int) -> list[Operand]:
    instructions = subject.view.body.instructions
    instruction = instructions[point]
    operand = instruction.operands[place]
    names = [name for name, index in instruction.operation.operand_index.items() if index == place]
    candidates: list[Operand]
    if is_site(instruction):
        if not _PLACES.intersection(names):
            return []
        candidates = [
            each.operands[each.operation.operand_index[name]]
            for each in instructions
            for name in names
            if is_site(each) and name in each.operation.operand_index
        ]
        if isinstance(operand, Address):
            candidates = [*(replace(operand, base=register) for register in spare.unread), *candidates]
    elif isinstance(operand, Register) and operand not in tuple(instruction.writes()):
        candidates = [
            *spare.idle,
            *spare.by_operation[instruction.operation.text],
            *(register for each in spare.updated if operand not in each for register in each),
        ]
    else:
        return []
    return list(islice((o for o in dict.fromkeys(candidates) if _fits(subject, o, operand, point)), _MOST))


def _updates(view: KernelView) -> Iterator[tuple[Register, ...]]:
    """Yield the registers that an instruction compares or counts with a constant, and writes."""
    for each in view.body.instructions:
        if any(isinstance(operand, Immediate) for operand in each.operands):
            read, written = frozenset(each.reads()), tuple(each.writes())
            if not read.isdisjoint(written):
                yield tuple(register for register in written if register in read)


def _fits(subject: Subject, other: Operand, operand: Operand, point: int) -> bool:
    """Tell whether another operand has a value there, and reaches as far: the own CTA, or another one."""
    if other == operand or type(other) is not type(operand):
        return False
    register, own = _register(other), _register(operand)
    if register is not None and not subject.view.facts.definitions(point, register):
        return False
    return _is_mapped(subject, point, register) == _is_mapped(subject, point, own)


def _register(operand: Operand) -> Register | None:
    base = operand.base if isinstance(operand, Address) else operand
    return base if isinstance(base, Register) else None


def _is_mapped(subject: Subject, point: int, register: Register | None) -> bool:
    """Tell whether a register holds an address that was mapped to a CTA of the cluster."""
    definitions = () if register is None else subject.view.facts.definitions(point, register)
    return any(subject.view.body.instructions[each].operation.op is Op.MAPA for each in definitions)
