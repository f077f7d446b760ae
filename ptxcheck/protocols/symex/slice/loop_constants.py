"""Registers to which every definition in a region gives one number, however often the region runs.

A compiler sinks `ld.param` and what follows from it alone into loops. What such a register holds behind the loop is
known although the loop is not followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....ir import Instruction, Register
from ....opcodes.op import Op
from ....opcodes.spec import Trait
from ..interpreter import register_instructions as steps
from ..interpreter.compute import COMPUTE
from ..values.register_file import SplitError
from ..values.symbol import Form
from ..values.trace import ThreadSet

if TYPE_CHECKING:
    from ..interpreter.machine import Machine
    from .sliced_program import Program, Region

_MORE = frozenset({Op.SETP, Op.CVTA})


def steady_points(program: Program, region: Region) -> tuple[int, ...]:
    """Return the definitions in a region that depend on nothing it changes, in an order to run them in."""
    defined: dict[Register, list[int]] = {}
    for block in sorted(region.blocks):
        for point in program.steps[block]:
            for register in program.cfg.instructions[point].writes():
                defined.setdefault(register, []).append(point)
    changed = set(defined)
    order: list[int] = []
    found = True
    while found:
        found = False
        for register in sorted(changed):
            if all(_is_steady(program.cfg.instructions[point], changed) for point in defined[register]):
                changed.discard(register)
                order.extend(point for point in defined[register] if point not in order)
                found = True
    return tuple(order)


def _is_steady(instruction: Instruction, changed: set[Register]) -> bool:
    operation = instruction.operation
    computes = operation.op in COMPUTE or operation.op in _MORE
    loads = Trait.LOAD in operation.traits and operation.slots.get("space", "").startswith(".param")
    return (computes or loads) and changed.isdisjoint(instruction.reads())


def keep_steady(machine: Machine, region: Region, threads: ThreadSet) -> frozenset[Register]:
    """Give registers the numbers that a region gives them or leaves them; return which these are."""
    changed: set[Register] = set()
    given: dict[Register, object] = {}
    for point in machine.program.steady(region):
        instruction = machine.cfg.instructions[point]
        written = list(dict.fromkeys(instruction.writes()))
        before = {register: machine.registers.snapshot(register) for register in written}
        is_known = changed.isdisjoint(instruction.reads())
        if is_known:
            try:
                steps.perform(machine, point, instruction, threads)
            except SplitError:
                is_known = False
        for register in written:
            now = list(_held(machine, register, threads))
            then = [value for mask, value in before[register] or () if mask & threads]
            is_one = is_known and len(now) == 1 and all(_same(value, now[0]) for value in then)
            if register in changed or not is_one or not _same(given.setdefault(register, now[0]), now[0]):
                changed.add(register)
                machine.registers.restore(register, before[register])
    return frozenset(given) - changed


def _held(machine: Machine, register: Register, threads: ThreadSet) -> Iterator[object]:
    for _, value in machine.registers.pieces(register, threads):
        yield value


def _same(one: object, other: object) -> bool:
    return type(one) is type(other) and isinstance(one, int | Form) and one == other
