"""What threads leave behind that outlives their CTA."""

from __future__ import annotations

from collections.abc import Iterable, Set

from ...cfg.cfg import Cfg
from ...ir import Instruction
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..symex.slice.kernel import NO_EVENTS

_ACTING = frozenset({Trait.ASYNC, Trait.BARRIER})
"""Traits of instructions that are actions of each thread that comes to them."""
_OWN = (".shared", ".local", ".param")
"""State spaces that end with the CTA."""


def writes_outside(instruction: Instruction) -> bool:
    """Tell whether an instruction may write memory other than that of its CTA and of its threads."""
    operation = instruction.operation
    traits = operation.traits
    if traits & {Trait.CALL, Trait.ANYTHING}:
        return True
    if Trait.TENSOR_MEMORY in traits:
        return False
    target = operation.slots.get("dst_space", operation.slots.get("space", ""))
    if traits & {Trait.STORE, Trait.ATOMIC}:
        return not target.startswith(_OWN)
    return Trait.ASYNC in traits and target.startswith(".global")


def leaves_results(cfg: Cfg, done: Set[int], start: int) -> bool:
    """Tell whether threads may write memory that outlives their CTA on their way from a point to their end.

    They have not come to blocks in which they would have arrived or copied something that is not among what was done.
    """
    home = cfg.graph.block_of[start]
    seen = {cfg.exit}
    waiting = [(home, range(start, cfg.blocks[home].points.stop))]
    while waiting:
        block, points = waiting.pop()
        if any(writes_outside(cfg.instructions[point]) for point in points):
            return True
        onward = {edge.target for edge in cfg.graph.outgoing[block]} - seen
        seen |= onward
        entered = [(each, cfg.blocks[each].points) for each in onward]
        waiting.extend((each, points) for each, points in entered if not _would_act(cfg, points, done))
    return False


def _would_act(cfg: Cfg, points: Iterable[int], done: Set[int]) -> bool:
    """Tell whether threads that come to some points do something there that is not among what was done."""
    return any(
        cfg.instructions[point].guard is None
        and not cfg.instructions[point].operation.traits.isdisjoint(_ACTING)
        and cfg.instructions[point].operation.op not in NO_EVENTS
        and cfg.instructions[point].operation.op
        is not Op.BAR_ARRIVE  # those that nobody hears are no actions
        and point not in done
        for point in points
    )
