"""What loops leave in registers that say how they ended: constants, by the block that the loop came through last.

Property: `Ends.value` is what the register holds behind the region, given which block ran last and what it held
before.

Argument: nothing but the named blocks writes the register in the region, and each moves a constant into it.

Not covered: registers that are written under a guard, or with what is computed.

A search leaves "found" and "nothing left" in flags that are set together: where each of two blocks moves a constant
into every one of some registers and nothing else in the loop writes them, all of them tell which block ran last. So
does one block with such constants, together with what the registers held before.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ....cfg.cfg import Cfg
from ....cfg.definitions import Definitions
from ....cfg.optypes import typing_of
from ....ir import Immediate, Instruction, Register
from ....opcodes.op import Op
from ..values import lane_arithmetic as lanes
from ..values.symbol import Value


@dataclass(frozen=True, slots=True)
class Ends:
    """Blocks that write a register, in order, what each of them leaves in it, and the first point that does.

    A second block of None stands for the way that comes through no block which writes the register.
    """

    blocks: tuple[int, int | None]
    values: tuple[int, int | None]
    point: int

    def value(self, is_first: Value, before: Value | None, threads: int) -> Value | None:
        """Return what the register holds, given whether the first block ran last and what it held before."""
        first, second = self.values
        other = before if second is None else second
        if not isinstance(other, int):
            return None
        if (first, other) == (1, 0):
            return is_first
        return (
            lanes.negate(is_first)
            if (first, other) == (0, 1)
            else lanes.choose(is_first, first, other, threads)
        )


def ends_of(
    cfg: Cfg, definitions: Definitions, join: int, region: AbstractSet[int], register: Register
) -> Ends | None:
    """Return how a register tells at a join which block of a region ran last, None when it does not."""
    behind = cfg.blocks[join]
    if not behind.points:
        return None
    sites = definitions.instructions_behind(definitions.before(behind.start, register))
    inside = [site for site in sites if cfg.graph.block_of[site] in region]
    blocks = [cfg.graph.block_of[site] for site in inside]
    values = [_constant(cfg.instructions[site]) for site in inside]
    match blocks, values:
        case [one], [int(first)] if len(sites) > 1:
            return Ends((one, None), (first, None), inside[0])
        case [one, other], [int(first), int(second)] if one != other and len(sites) == 2:
            return Ends((one, other), (first, second), inside[0])
        case _:
            return None


def _constant(instruction: Instruction) -> int | None:
    """Return the bits that an instruction moves whatever its inputs are: of a predicate 0 or 1."""
    operation = instruction.operation
    if operation.op is not Op.MOV or instruction.guard is not None or len(instruction.operands) != 2:
        return None
    target, source = instruction.operands
    if not isinstance(target, Register) or not isinstance(source, Immediate):
        return None
    width = typing_of(operation).width
    return source.value & ((1 << width) - 1)
