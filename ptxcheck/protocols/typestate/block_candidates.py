"""Blocks that the code of a kernel suggests, where nothing states one.

Property: with each block of `suggested_blocks` no barrier counts more threads than there are; and every branch by the
number of the thread alone has threads on both sides, if it decides whether something that synchronises runs.
Argument: such predicates are computed for every thread of the largest block; the first thread that differs from
thread 0 has to be in the block.
Not covered: blocks of two or three dimensions (nothing is suggested), and comparisons with `%ntid`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...cfg.facts import Facts
from ...cfg.synchronising import SYNCHRONISING
from ...cfg.threads import WARP, WARPGROUP, reads_other_axes
from ...launch import MAX_THREADS
from ...opcodes.op import Op

_USUAL = (128, 192, 256, 384, 512, 1024)
_COUNTED = frozenset({Op.BAR_SYNC, Op.BAR_ARRIVE, Op.BAR_RED})


def suggested_blocks(facts: Facts) -> tuple[int, ...]:
    """Return numbers of threads, the likeliest first; nothing where the code tells threads apart in no such way."""
    if reads_other_axes(facts.cfg):
        return ()
    least = max((*_needed_by_branches(facts), *_counted(facts)), default=0)
    rounded = (-(-least // group) * group for group in (WARP, WARPGROUP))
    return tuple(dict.fromkeys(count for count in rounded if WARP <= count <= MAX_THREADS))


def usual_blocks(suggested: Sequence[int]) -> tuple[int, ...]:
    """Return further numbers of threads that hosts launch, each enough for what the code suggests."""
    return tuple(count for count in _USUAL if count > min(suggested) and count not in suggested)


def _needed_by_branches(facts: Facts) -> Iterator[int]:
    """Yield for each branch that parts threads by their number how many it takes for both of its sides."""
    for block in _branches_to_synchronisation(facts):
        point = facts.cfg.blocks[block].last
        guard = facts.cfg.instructions[point].guard
        holding = None if guard is None else facts.threads_where(point, guard.register)
        if holding is None:
            continue
        first = 0 in holding
        differing = next((thread for thread in range(holding.size) if (thread in holding) != first), None)
        if differing is not None:
            yield differing + 1


def _branches_to_synchronisation(facts: Facts) -> frozenset[int]:
    """Return blocks whose branch decides whether something that synchronises is executed."""
    cfg = facts.cfg
    waiting = {
        cfg.block_at(point).index
        for point, instruction in enumerate(cfg.instructions)
        if not SYNCHRONISING.isdisjoint(instruction.operation.traits)
    }
    deciding: set[int] = set()
    while waiting:
        new = {dependence.branch for dependence in cfg.control[waiting.pop()]} - deciding
        deciding |= new
        waiting |= new
    return frozenset(deciding)


def _counted(facts: Facts) -> Iterator[int]:
    """Yield how many threads barriers of a stated count wait for."""
    for point, instruction in enumerate(facts.cfg.instructions):
        count = instruction.get("threads") if instruction.operation.op in _COUNTED else None
        number = None if count is None else facts.constant(point, count)
        if number is not None:
            yield number


__all__ = ["suggested_blocks", "usual_blocks"]
