"""Definitions in a region that give one number, however often the region runs.

Property: run in the order of `steady_points`, with what registers hold in front of the region, each definition gives
what it gives in every round of the region that comes to it.

Argument: it computes, or loads a parameter, and reads nothing that the region changes but results of other such
definitions, which are in front of it.

Not covered: whether a round comes to it at all; who uses it asks what the register held before (`loop_constants`).
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from ....cfg.addresses import PARAMETER_SPACES
from ....cfg.cfg import Cfg
from ....ir import Instruction, Register
from ....opcodes.op import Op
from ....opcodes.spec import Trait
from ..values.compute import COMPUTE

_MORE = frozenset({Op.SETP, Op.CVTA})


def steady_points(cfg: Cfg, steps: Sequence[Sequence[int]], blocks: AbstractSet[int]) -> tuple[int, ...]:
    """Return the definitions in some blocks that depend on nothing they change, in an order to run them in."""
    defined: dict[Register, list[int]] = {}
    for block in sorted(blocks):
        for point in steps[block]:
            for register in cfg.instructions[point].writes():
                defined.setdefault(register, []).append(point)
    changed = set(defined)
    order: list[int] = []
    found = True
    while found:
        found = False
        for register in sorted(changed):
            if all(_is_steady(cfg.instructions[point], changed) for point in defined[register]):
                changed.discard(register)
                order.extend(point for point in defined[register] if point not in order)
                found = True
    return tuple(order)


def _is_steady(instruction: Instruction, changed: set[Register]) -> bool:
    operation = instruction.operation
    computes = operation.op in COMPUTE or operation.op in _MORE
    loads = Trait.LOAD in operation.traits and operation.slots.get("space", "") in PARAMETER_SPACES
    return (computes or loads) and changed.isdisjoint(instruction.reads())
