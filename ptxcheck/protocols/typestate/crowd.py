"""How many threads surely execute a point, each for itself.

Property: `crowd(view, point)` is a number of threads of one CTA that execute the point whenever one thread
that took the same uniform branches does. 1 when nothing more is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...cfg import Name, Relation, Uniformity
from ...ir import (
    Component,
    Guard,
    Instruction,
    Pair,
    Register,
    registers_of,
)
from ...opcodes.op import Op
from ...opcodes.spec import Trait

if TYPE_CHECKING:
    from ...view import KernelView

WARP = 32
_DEPTH = 6


def crowd(view: KernelView, point: int) -> int:
    """Return how many threads of a CTA surely execute the point together."""
    execution = view.facts.execution(point)
    if execution.threads is None:
        return _several(view) if execution.uniformity <= Uniformity.WARP else 1
    if execution.exact:
        if view.launch.threads is not None:
            return len(execution.threads)
        whole = 0 in execution.threads and 1 in execution.threads
        return _several(view) if whole else 1
    return elected_warps(view, point)


def elected_warps(view: KernelView, point: int) -> int:
    """Return how many warps elect a thread for the point, when nothing but the election decides."""
    if view.launch.threads is None:
        return 1
    instruction = view.body.instructions[point]
    block = view.cfg.block_at(point)
    if instruction.guard is not None:
        around = _open_point(view, block.index)
        return _whole_warps(view, around) if _elects(view, point, instruction.guard) else 1
    controls = view.cfg.control[block.index]
    if len(controls) != 1:
        return 1
    branch = controls[0].branch
    edges = [e for e in view.cfg.edges_from(branch) if e.target == controls[0].target]
    guard = edges[0].guard if len(edges) == 1 else None
    if guard is None or not _elects(view, view.cfg.blocks[branch].last, guard):
        return 1
    return _whole_warps(view, _open_point(view, branch))


def _whole_warps(view: KernelView, point: int | None) -> int:
    """Return how many whole warps execute a point together."""
    if point is None:
        return 1
    execution = view.facts.execution(point)
    if execution.threads is None or not execution.exact or execution.elected:
        return 1
    return max(len(execution.threads.warps), 1) if execution.threads.whole(WARP) else 1


def _open_point(view: KernelView, block: int) -> int | None:
    """Return a point of the block without a guard."""
    points = view.cfg.blocks[block].points
    return next((point for point in points if view.body.instructions[point].guard is None), None)


def _elects(view: KernelView, point: int, guard: Guard) -> bool:
    """Tell whether a guard holds exactly in the thread that its warp elected."""
    return _is_election(view, view.facts.name(point, guard.register), not guard.negated, _DEPTH)


def _is_election(view: KernelView, name: Name, truth: bool, depth: int) -> bool:
    if name.site < 0 or depth == 0:
        return False
    instruction = view.body.instructions[name.site]
    operands = instruction.operands
    if instruction.guard is not None:
        moved = _moved(view, name.site, instruction)
        before = view.facts.name(name.site, instruction.guard.register)
        return bool(moved) and truth and _is_election(view, before, not instruction.guard.negated, depth - 1)
    match instruction.operation.op:
        case Op.ELECT_SYNC:
            return truth and isinstance(operands[0], Pair) and operands[0].second == name.register
        case Op.SELP if len(operands) == 4 and isinstance(operands[3], Register):
            numbers = [view.facts.constant(name.site, operand) for operand in operands[1:3]]
            if numbers[0] and numbers[1] == 0:
                return _is_election(view, view.facts.name(name.site, operands[3]), truth, depth - 1)
            return False
        case Op.SETP:
            return _tests_election(view, name, truth, depth)
        case _:
            return False


def _tests_election(view: KernelView, name: Name, truth: bool, depth: int) -> bool:
    """Tell whether one comparison with a number says that a chosen number is that of the elected thread."""
    facts = view.facts.said_by(name, truth)
    if len(facts) != 1 or len(view.body.instructions[name.site].operands) != 3:
        return False
    fact = facts[0]
    non_zero = (fact.relation is Relation.NE and fact.number == 0) or (
        fact.relation is Relation.EQ and fact.number == 1
    )
    return non_zero and _is_election(view, fact.name, True, depth - 1)


def _moved(view: KernelView, point: int, instruction: Instruction) -> int | None:
    """Return the number that a guarded move puts where there was 0."""
    target = instruction.operands[0]
    if instruction.operation.op is not Op.MOV or not isinstance(target, Register):
        return None
    if view.facts.constant(point, target) != 0:
        return None
    return view.facts.constant(point, instruction.operands[1])


def _several(view: KernelView) -> int:
    """Return 2 when the kernel is written for more than one thread, else 1."""
    launch = view.launch
    if launch.threads is not None:
        return min(launch.threads, 2)
    if launch.max_threads == 1:
        return 1
    return 2 if any(_tells_threads_apart(i) for i in view.body.instructions) else 1


def _tells_threads_apart(instruction: Instruction) -> bool:
    if instruction.operation.traits & {Trait.COLLECTIVE, Trait.ALIGNED, Trait.WARPGROUP}:
        return True
    if instruction.operation.op is not Op.MOV:
        return False
    source = instruction.operands[-1]
    if isinstance(source, Component):
        return source.base.name == "%tid"
    return any(register.name.startswith("%tid") for register in registers_of(source))


__all__ = ["crowd", "elected_warps"]
