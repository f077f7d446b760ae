"""Instructions of whole warps (`shfl.sync`, `bar.warp.sync`, `ldmatrix`): do the lanes that they name execute them?

Property: for a point that `open_collectives` does not give, a lane that executes it is in its mask, and each other
lane of the warp that the mask names executes it as well, names the same lanes, or has ended by then.

Argument: where all branches over the point are taken alike by a warp, or end the lanes that go the other way, all
lanes of the warp that are left execute it. Else the solver is asked for two lanes of a warp of which one executes the
point and names the other one, which does not: in one round of the loops around it, if it gives no two lanes that are in
the same round of such a loop and of which one leaves it (by induction over the rounds all leave together then).

Not covered: masks that lanes compute for themselves from what they exchange; they are open under a divergent branch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ...cfg import Uniformity
from ...ir import Instruction, Operand
from ...opcodes.spec import Trait
from ...terms.bitvectors import Bits
from ..typestate.member_mask import FULL, member_mask
from .intervals import Interval
from .kernel import Kernel
from .meetings import Meetings, is_block_barrier
from .mirrored import two_threads
from .passages import Context, Passage, Round
from .questions import UndecidedError
from .thread_terms import ThreadTerms

_WARP_WIDE = frozenset({Trait.COLLECTIVE, Trait.ALIGNED})


@dataclass(frozen=True, slots=True)
class OpenCollective:
    """A point of which it is not known that the lanes that it names execute it."""

    point: int
    why: str


_LANES = "whether all lanes that its mask names execute this is not known"
_OWN = "whether a lane that executes this is in its mask is not known"
_MASKS = "whether lanes that execute this together name the same lanes is not known"


def is_collective(instruction: Instruction) -> bool:
    """Tell whether an instruction is one of a whole warp, and no barrier of the block."""
    return not _WARP_WIDE.isdisjoint(instruction.operation.traits) and not is_block_barrier(instruction)


def open_collectives(kernel: Kernel, agreed: frozenset[int]) -> Iterator[OpenCollective]:
    """Yield the collectives that are not decided."""
    points = [
        point for point, instruction in enumerate(kernel.cfg.instructions)
        if is_collective(instruction) and not kernel.facts.never_runs(point)
    ]  # fmt: skip
    meetings = Meetings(kernel.facts, Uniformity.WARP, agreed, tuple(points))
    for point in points:
        instruction = kernel.cfg.instructions[point]
        why = _why(LanesAt(kernel, meetings, point, member_mask(instruction)))
        if why is not None:
            yield OpenCollective(point, why)


def _why(lanes: LanesAt) -> str | None:
    """Return what is not known, None where all is in order."""
    instruction, facts = lanes.instruction, lanes.kernel.facts
    divided = lanes.meetings.divided_at(lanes.point)
    if instruction.guard is not None:
        divided |= facts.uniform(lanes.point, instruction.guard.register) > Uniformity.WARP
    mask = lanes.mask
    constant = None if mask is None else facts.constant(lanes.point, mask)
    if mask is None or (constant is not None and constant & FULL == FULL):
        return _LANES if divided and lanes.may_part() else None
    if lanes.may_be_outside():
        return _OWN
    is_shared = constant is not None or facts.uniform(lanes.point, mask) <= Uniformity.WARP
    if not is_shared and lanes.may_disagree():
        return _MASKS
    return _LANES if divided and lanes.may_part() else None


class LanesAt:
    """Lanes of one warp at a point, two of them as terms."""

    def __init__(self, kernel: Kernel, meetings: Meetings, point: int, mask: Operand | None) -> None:
        self.kernel = kernel
        self.meetings = meetings
        self.point = point
        self.mask = mask
        self.instruction = kernel.cfg.instructions[point]
        self.block = kernel.cfg.graph.block_of[point]

    @cached_property
    def threads(self) -> tuple[ThreadTerms, ThreadTerms]:
        """Two lanes of one warp."""
        return two_threads(self.kernel, Uniformity.WARP)

    @cached_property
    def context(self) -> Context:
        """The rounds that two lanes are in which come to the point, as far as meetings say."""
        return Interval(self.kernel, self.meetings, None).around(self.block)

    def condition(self, thread: ThreadTerms) -> Bits:
        """Return that a thread executes the point."""
        context = self.context
        return self.kernel.pool.both(thread.arrives(self.block, context), thread.guard(self.point, context))

    def names(self, thread: ThreadTerms, other: ThreadTerms) -> Bits:
        """Return that the mask of a thread has the lane of another one."""
        pool = self.kernel.pool
        if self.mask is None:
            return pool.true
        lane = pool.and_(other.index.number, pool.number(31, 32))
        bit = pool.and_(pool.lshr(self.named(thread), lane), pool.number(1, 32))
        return pool.eq(bit, pool.number(1, 32))

    def named(self, thread: ThreadTerms) -> Bits:
        """Return the mask of a thread."""
        return self.operand(thread, self.mask)

    def operand(self, thread: ThreadTerms, operand: Operand | None) -> Bits:
        """Return an operand of the point as a thread reads it."""
        return thread.operand(self.point, operand, 32, self.context)

    def may_be_outside(self) -> bool:
        """Tell whether a lane may execute the point and not be in its own mask."""
        one, pool = self.threads[0], self.kernel.pool
        claims = (
            self.kernel.geometry.claims(pool, one.index), self.condition(one), pool.not_(self.names(one, one)),
        )  # fmt: skip
        return self.possible(claims)

    def may_disagree(self) -> bool:
        """Tell whether a lane may name another one that names other lanes."""
        one, two = self.threads
        pool = self.kernel.pool
        claims = (
            *self.of_one_warp(), self.condition(one), self.condition(two), self.names(one, two),
            pool.not_(pool.eq(self.named(one), self.named(two))),
        )  # fmt: skip
        return self.possible(claims)

    def of_one_warp(self) -> tuple[Bits, ...]:
        """Return that both threads are in the block, and in one warp."""
        one, two = self.threads
        pool, geometry = self.kernel.pool, self.kernel.geometry
        together = pool.eq(geometry.warp(pool, one.index), geometry.warp(pool, two.index))
        return geometry.claims(pool, one.index), geometry.claims(pool, two.index), together

    def may_part(self) -> bool:
        """Tell whether a lane may execute the point and name one that does not."""
        one, two = self.threads
        if not self.come_together():
            return True
        apart = self.kernel.pool.not_(self.condition(two))
        return self.possible((*self.of_one_warp(), self.condition(one), apart, self.names(one, two)))

    def come_together(self) -> bool:
        """Tell whether lanes are in one round of the loops around the point, and take it from there that they are."""
        is_one_round = self.in_one_round()
        if is_one_round:
            self.context = self._held(self.block)
        return is_one_round

    def in_one_round(self) -> bool:
        """Tell whether the lanes of a warp leave all loops around the point in the same round."""
        cfg, facts = self.kernel.cfg, self.kernel.facts
        return all(
            facts.branch_uniformity(source) <= Uniformity.WARP
            or not self._may_leave_alone(loop.header, source)
            for loop in cfg.loops_around(self.block)
            for source, _ in loop.exits
        )

    def _may_leave_alone(self, header: int, source: int) -> bool:
        """Tell whether one of two lanes in the same round of a loop may leave it at a branch, and the other not."""
        cfg, pool = self.kernel.cfg, self.kernel.pool
        loop = self.kernel.headers[header]
        edges = [edge for edge in cfg.edges_from(source) if edge.target not in loop.blocks]
        context = self._held(source)
        leaves: list[Bits] = []
        for thread in self.threads:
            arrives = thread.arrives(source, context)
            found = pool.false
            for edge in edges:
                found = pool.either(found, pool.both(arrives, thread.taken(edge, context)))
            leaves.append(found)
        there = (thread.arrives(header, self._held(header)) for thread in self.threads)
        return self.possible((*self.of_one_warp(), *there, pool.xor(*leaves)))

    def _held(self, block: int) -> Context:
        """Return the context of lanes that are in the same round of each loop around a block."""
        context = Context()
        for loop in self.kernel.cfg.loops_around(block):
            context = context.within(loop.index, Passage(Round.HELD))
        return context

    def possible(self, claims: tuple[Bits, ...]) -> bool:
        """Tell whether claims may hold together."""
        try:
            return self.kernel.questions.numbers(claims) is not None
        except UndecidedError:
            return True
