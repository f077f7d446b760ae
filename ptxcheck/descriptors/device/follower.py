"""One thread, or the elected one of some threads, and which way it goes at guards that depend on who it is.

Property: `decides` answers True or False only where the predicate has that value in every thread that the
follower may stand for. All elected threads of one warp are one thread (PTX ISA §9.7.15.7: the choice depends on
the mask alone).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...cfg import Edge, Name, ThreadSet
from ...ir import (
    Guard,
    Negated,
    Operand,
    Pair,
    Register,
)
from ...opcodes.op import Op

if TYPE_CHECKING:
    from ...view import KernelView

_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Follower:
    """`threads` of the block; with `is_elected` the one of them that `elect.sync` chooses."""

    threads: int
    """As bits."""
    is_elected: bool

    @property
    def warps(self) -> frozenset[int]:
        """Return the warps that the threads are in."""
        return frozenset(w for w in range(32) if self.threads >> 32 * w & 0xFFFFFFFF)

    def covers(self, other: Follower) -> bool:
        """Tell whether this stands for the same thread as the other, or for all that the other may be."""
        if self == other:
            return True
        return not self.is_elected and other.threads & ~self.threads == 0


def follower_at(view: KernelView, point: int) -> Follower | None:
    """Return who executes a point; None when the thread index does not say."""
    execution = view.facts.execution(point)
    threads = execution.threads
    if threads is None or not threads.bits:
        return None
    return Follower(threads.bits, execution.elected and not threads.one_per_warp)


def decides(view: KernelView, follower: Follower, point: int, guard: Guard) -> bool | None:
    """Tell whether a guard lets the follower pass: always, never, or not known."""
    said = _truth(view, follower, view.facts.name(point, guard.register), _DEPTH)
    return None if said is None else said != guard.negated


def takes(view: KernelView, follower: Follower, edge: Edge) -> bool:
    """Tell whether the follower may take an edge."""
    if edge.guard is None:
        return True
    return decides(view, follower, view.cfg.blocks[edge.source].last, edge.guard) is not False


def _truth(view: KernelView, follower: Follower, name: Name, depth: int) -> bool | None:
    holds = view.facts.holding(name, True)
    if holds is not None:
        return _among(follower, holds)
    if depth == 0 or name.site < 0:
        return None
    instruction = view.cfg.instructions[name.site]
    if instruction.guard is not None:
        return None
    operands = instruction.operands
    match instruction.operation.op:
        case Op.ELECT_SYNC:
            target = operands[0]
            chosen = isinstance(target, Pair) and target.second == name.register
            return True if chosen and follower.is_elected and len(follower.warps) == 1 else None
        case Op.AND | Op.OR as op if len(operands) == 3:
            both = [_operand(view, follower, name.site, operand, depth) for operand in operands[1:]]
            absorbing = op is Op.OR
            if absorbing in both:
                return absorbing
            return None if None in both else not absorbing
        case Op.NOT if len(operands) == 2:
            said = _operand(view, follower, name.site, operands[1], depth)
            return None if said is None else not said
        case Op.MOV if len(operands) == 2:
            return _operand(view, follower, name.site, operands[1], depth)
    return None


def _among(follower: Follower, holds: ThreadSet) -> bool | None:
    if follower.threads & ~holds.bits == 0:
        return True
    return False if follower.threads & holds.bits == 0 else None


def _operand(view: KernelView, follower: Follower, site: int, operand: Operand, depth: int) -> bool | None:
    if isinstance(operand, Negated):
        said = _operand(view, follower, site, operand.operand, depth)
        return None if said is None else not said
    if not isinstance(operand, Register):
        return None
    return _truth(view, follower, view.facts.name(site, operand), depth - 1)
