"""What of the host the rounds of loops are computed from, as the text says it: also where a run knows its number.

Only numbers that flow into what decides a loop count, and not what chooses between them: whether one of several
counts is meant is no count.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....cfg.addresses import PARAMETER_SPACES
from ....cfg.cfg import Cfg
from ....cfg.definitions import Definitions
from ....cfg.loops import Loop
from ....cfg.optypes import typing_of
from ....ir import (
    Address,
    Instruction,
    Register,
    Symbol,
)
from ....opcodes.op import Op
from ....opcodes.spec import Trait

Place = tuple[str, int]
"""A parameter, and how many bytes into it."""


def parameters_of(cfg: Cfg, definitions: Definitions, loop: Loop) -> Iterator[Place]:
    """Yield what of parameters is computed with to decide whether a loop goes on."""
    branches = (cfg.blocks[inside].last for inside, _ in loop.exits)
    guards = [(last, guard) for last in branches if (guard := cfg.instructions[last].guard) is not None]
    names = [definitions.before(last, guard.register) for last, guard in guards]
    for point in definitions.computed_from(names, lambda at: _data(cfg.instructions[at])):
        if Trait.PURE not in cfg.instructions[point].operation.traits:
            yield from _places(cfg.instructions[point])


def _data(instruction: Instruction) -> Iterator[Register]:
    """Yield the registers that a result is computed from, without what chooses between them."""
    if Trait.PURE not in instruction.operation.traits:
        return
    operands = instruction.operands[1:]
    if instruction.operation.op is Op.SELP:
        operands = operands[:-1]
    yield from (each for each in operands if isinstance(each, Register))


def _places(instruction: Instruction) -> Iterator[Place]:
    operation = instruction.operation
    source = instruction.operands[1] if len(instruction.operands) > 1 else None
    if (
        operation.op is Op.LD
        and operation.slots.get("space", "") in PARAMETER_SPACES
        and isinstance(source, Address)
        and isinstance(source.base, Symbol)
    ):
        size = typing_of(operation).width // 8
        for number, _ in enumerate(instruction.writes()):
            yield source.base.name, source.offset + number * size
