"""Branches that go by the place of a CTA in the grid, through whatever is computed from it or chosen by it.

Property: a branch that is left out goes the same way in all CTAs that differ in their place in the grid alone.

Argument: closure over registers that are computed from the place, or written in a region behind such a branch.

Not covered: places that go through memory.

CTAs of one cluster have their work together: where such a branch parts them, the grid is not one that a host launches.
"""

from __future__ import annotations

from ....ir import (
    Component,
    Operand,
    Pair,
    Register,
    Vector,
)
from ....opcodes.spec import Trait
from .sliced_program import Program

_PLACE = frozenset({"%ctaid", "%clusterid"})


def placed_branches(program: Program) -> frozenset[int]:
    """Return the points of branches whose guard may depend on the place in the grid: rather too many than too few."""
    cfg = program.cfg
    placed: set[Register] = set()
    branches: set[int] = set()
    changed = True
    while changed:
        changed = False
        for block in cfg.blocks:
            for point in block.points:
                instruction = cfg.instructions[point]
                if placed.isdisjoint(instruction.reads()) and not any(map(_is_place, instruction.operands)):
                    continue
                fresh = set(instruction.writes())
                if Trait.BRANCH in instruction.operation.traits and point not in branches:
                    branches.add(point)
                    changed = True
                    region = program.regions.of(block.index)
                    fresh |= set() if region.acts else set(region.written)
                changed |= not fresh <= placed
                placed |= fresh
    return frozenset(branches)


def _is_place(operand: Operand | None) -> bool:
    match operand:
        case Component(base=base):
            return base.name in _PLACE
        case Register(name=name):
            return name in _PLACE
        case Vector(elements=elements):
            return any(map(_is_place, elements))
        case Pair(first=first, second=second):
            return _is_place(first) or _is_place(second)
        case _:
            return False
