"""Registers that the slice reads, from the start of a block on, before it writes them.

Property: a register that is not in the set of a block is written before any instruction of the slice, or the place of
an access, reads it on any path from there.

Argument: backward data flow to the least fixed point; only writes without a guard end the life of a register.

Not covered: what instructions outside the slice read.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....ir import Register, registers_of
from .kernel import Kernel


def read_from(
    kernel: Kernel, sliced: frozenset[int], steps: Sequence[Sequence[int]]
) -> Sequence[frozenset[Register]]:
    """Return the registers by block, that of the exit included; `steps` are the points of each block that matter."""
    cfg = kernel.cfg
    effects = [_read_and_written(kernel, sliced, points) for points in steps]
    found: list[frozenset[Register]] = [frozenset()] * (len(cfg.blocks) + 1)
    waiting = list(range(len(cfg.blocks)))
    while waiting:
        block = waiting.pop()
        read, written = effects[block]
        later = frozenset[Register]().union(*(found[each] for each in cfg.successors[block]))
        now = read | (later - written)
        if now != found[block]:
            found[block] = now
            waiting.extend(cfg.predecessors[block])
    return found


def _read_and_written(
    kernel: Kernel, sliced: frozenset[int], points: Sequence[int]
) -> tuple[frozenset[Register], frozenset[Register]]:
    """Return what a block reads before it writes it, and what it surely writes."""
    read, written = set[Register](), set[Register]()
    for point in points:
        instruction = kernel.cfg.instructions[point]
        names = set(instruction.reads())
        kind = kernel.accesses.get(point)
        if point not in sliced:
            operand = kernel.open_masks[point] if kind is None else kind.operand
            names = set(registers_of(operand))
            names |= {instruction.guard.register} if instruction.guard is not None else set()
        read |= names - written
        if point in sliced and instruction.guard is None:
            written |= set(instruction.writes())
    return frozenset(read), frozenset(written)
