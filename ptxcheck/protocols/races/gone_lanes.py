"""Lanes of a warp that have ended, or have left a loop, when others come to an instruction of the whole warp.

Property: a barrier that `gone_lanes` does not give is executed, whenever a lane executes it, by all lanes of the warp
that it is for; a `shfl.sync`, by the lane that it reads from.

Argument: as in `collectives`, where lanes that end count as elsewhere. A barrier is for the lanes of its mask, or,
where it is aligned, for the whole warp; PTX exempts lanes that have ended from neither (9.7.14.2). `shfl.sync` waits
for lanes that have not exited only, but what it gives from a lane that is not active is undefined (9.7.9.6): the lane
that is read is a term of the operands.

Not covered: `vote`, `match`, `redux` and `elect`, from which PTX exempts threads that have exited.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...cfg import Uniformity
from ...ir import Instruction
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ...terms.bit_pool import Pool
from ...terms.bitvectors import Bits
from ..typestate.member_mask import member_mask
from .collectives import LanesAt, is_collective
from .kernel import Kernel
from .meetings import Meetings

_LANE = 31


@dataclass(frozen=True, slots=True)
class GoneLanes:
    """A point at which lanes may be missing that it is for."""

    point: int
    is_read: bool
    """Whether a lane reads from one that is missing, by `shfl.sync`."""
    is_left_alone: bool
    """Whether lanes leave a loop around it in different rounds."""


def gone_lanes(kernel: Kernel, agreed: frozenset[int]) -> Iterator[GoneLanes]:
    """Yield the barriers and shuffles that lanes may be missing at."""
    instructions = kernel.cfg.instructions
    collectives = tuple(point for point, each in enumerate(instructions) if is_collective(each))
    meetings = Meetings(kernel.facts, Uniformity.WARP, agreed, collectives)
    for point, instruction in enumerate(instructions):
        if not _is_for_all(instruction) or kernel.facts.never_runs(point) or not meetings.parted_at(point):
            continue
        lanes = LanesAt(kernel, meetings, point, member_mask(instruction))
        is_read = instruction.operation.op is Op.SHFL_SYNC
        if _may_miss_source(lanes) if is_read else lanes.may_part():
            yield GoneLanes(point, is_read, not lanes.in_one_round())


def _is_for_all(instruction: Instruction) -> bool:
    operation = instruction.operation
    return Trait.ALIGNED in operation.traits or operation.op in (Op.SHFL_SYNC, Op.BAR_WARP_SYNC)


def _may_miss_source(lanes: LanesAt) -> bool:
    """Tell whether a lane may read from one that its mask names and that does not execute the shuffle."""
    if not lanes.come_together():
        return True
    one, two = lanes.threads
    pool = lanes.kernel.pool
    lane, other = (pool.and_(each.index.number, pool.number(_LANE, 32)) for each in lanes.threads)
    offset, bounds = (lanes.operand(one, lanes.instruction[name]) for name in ("b", "c"))
    source = source_lane(pool, lanes.instruction.operation.slots["mode"], lane, offset, bounds)
    return lanes.possible(
        (
            *lanes.of_one_warp(), lanes.condition(one), pool.not_(lanes.condition(two)), lanes.names(one, two),
            pool.eq(other, source),
        )
    )  # fmt: skip


def source_lane(pool: Pool, mode: str, lane: Bits, offset: Bits, bounds: Bits) -> Bits:
    """Return the lane that a shuffle reads from (PTX ISA 9.7.9.6): its own one where the other is out of bounds."""
    low = pool.number(_LANE, 32)
    offset, clamp = pool.and_(offset, low), pool.and_(bounds, low)
    segment = pool.and_(pool.lshr(bounds, pool.number(8, 32)), low)
    inside = pool.xor(segment, low)
    most = pool.or_(pool.and_(lane, segment), pool.and_(clamp, inside))
    if mode == ".up":
        found = pool.sub(lane, offset)
        is_there = pool.both(pool.ule(offset, lane), pool.ule(most, found))
    else:
        if mode == ".down":
            found = pool.add(lane, offset)
        elif mode == ".bfly":
            found = pool.xor(lane, offset)
        else:
            found = pool.or_(pool.and_(lane, segment), pool.and_(offset, inside))
        is_there = pool.ule(found, most)
    return pool.choice(is_there, found, lane)


__all__ = ["GoneLanes", "gone_lanes", "source_lane"]
