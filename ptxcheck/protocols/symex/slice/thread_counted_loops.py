"""Regions whose branches go by the number of the thread and constants alone, so that their loops can be run.

Property: every branch in blocks for which `is_counted` holds goes the same way in every run, for each thread.

Argument: its guard is computed from the number of the thread, sizes of the CTA and constants alone.

Not covered: how many rounds that are; the budget of the run ends long ones.

Such a loop clears a buffer, or copies a tile by elements: each thread takes the same few rounds in every run.
"""

from __future__ import annotations

from collections.abc import Iterable

from ....cfg.cfg import Cfg
from ....cfg.definitions import Definitions, Name
from ....ir import Component, Instruction, Operand
from ....opcodes.op import Op
from ....opcodes.spec import Trait
from ..values.compute import COMPUTE

_KNOWN = frozenset({"%tid", "%ntid", "%laneid"})
_MORE = frozenset({Op.SETP, Op.CVTA})


def is_counted(cfg: Cfg, definitions: Definitions, blocks: Iterable[int]) -> bool:
    """Tell whether every branch in some blocks goes by numbers of threads and constants."""
    waiting: list[Name] = []
    for block in blocks:
        last = cfg.blocks[block].last
        instruction = cfg.instructions[last]
        if len(cfg.successors[block]) < 2:
            continue
        if Trait.BRANCH not in instruction.operation.traits or instruction.guard is None:
            return False
        waiting.append(definitions.before(last, instruction.guard.register))
    return _are_known(cfg, definitions, waiting)


def _are_known(cfg: Cfg, definitions: Definitions, waiting: list[Name]) -> bool:
    """Tell whether names hold what follows from numbers of threads and constants."""
    seen = set[int]()
    while waiting:
        name = waiting.pop()
        sites = definitions.instructions_behind(name)
        if not sites:
            return False
        for point in sites:
            if point in seen:
                continue
            seen.add(point)
            instruction = cfg.instructions[point]
            if not _computes(instruction):
                return False
            read = definitions.read_at(point)
            waiting.extend(each for each in read if each.register.name not in _KNOWN)
            if instruction.guard is not None:
                waiting.append(definitions.before(point, instruction.guard.register))
    return True


def _computes(instruction: Instruction) -> bool:
    """Tell whether an instruction computes a number from registers and what is known of each thread."""
    op = instruction.operation.op
    return (op in COMPUTE or op in _MORE) and all(_is_known(each) for each in instruction.operands)


def _is_known(operand: Operand) -> bool:
    if isinstance(operand, Component):
        return operand.base.name in _KNOWN
    return True


__all__ = ["is_counted"]
