"""Instructions of whole warps (`shfl.sync`, `bar.warp.sync`, `ldmatrix`): do the lanes that they name execute them?

Property: for a point that `open_collectives` does not give, a lane that executes it is in its mask, and each other
lane of the warp that the mask names executes it as well, names the same lanes, or has ended by then.

Argument: where all branches over the point are taken alike by a warp, or end the lanes that go the other way, all
lanes of the warp that are left execute it. Else the solver is asked for two lanes of a warp of which one executes the
point and names the other one, which does not.

Not covered: masks that lanes compute for themselves from what they exchange; they are open under a divergent branch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...cfg import Uniformity
from ...ir import Instruction, Operand
from ...opcodes.spec import Trait
from ...terms.bitvectors import Bits
from ..typestate.member_mask import FULL, member_mask
from .intervals import Interval
from .kernel import Kernel
from .meetings import Meetings, is_block_barrier
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
        why = _Asked(kernel, meetings, point, member_mask(instruction)).why
        if why is not None:
            yield OpenCollective(point, why)


class _Asked:
    def __init__(self, kernel: Kernel, meetings: Meetings, point: int, mask: Operand | None) -> None:
        self._kernel = kernel
        self._meetings = meetings
        self._point = point
        self._mask = mask
        level = Uniformity.WARP
        self._threads = (ThreadTerms(kernel, 1, level), ThreadTerms(kernel, 2, level))

    @property
    def why(self) -> str | None:
        """Return what is not known, None where all is in order."""
        instruction, facts = self._kernel.cfg.instructions[self._point], self._kernel.facts
        divided = self._meetings.divided_at(self._point)
        if instruction.guard is not None:
            divided |= facts.uniform(self._point, instruction.guard.register) > Uniformity.WARP
        constant = None if self._mask is None else facts.constant(self._point, self._mask)
        if self._mask is None or (constant is not None and constant & FULL == FULL):
            return _LANES if divided and self._may_part() else None
        if self._may_be_outside():
            return _OWN
        is_shared = constant is not None or facts.uniform(self._point, self._mask) <= Uniformity.WARP
        if not is_shared and self._may_disagree():
            return _MASKS
        return _LANES if divided and self._may_part() else None

    def _condition(self, thread: ThreadTerms) -> Bits:
        kernel = self._kernel
        block = kernel.cfg.graph.block_of[self._point]
        context = Interval(kernel, self._meetings, None).around(block)
        return kernel.pool.both(thread.arrives(block, context), thread.guard(self._point, context))

    def _names(self, thread: ThreadTerms, other: ThreadTerms) -> Bits:
        """Return that the mask of a thread has the lane of another one."""
        pool = self._kernel.pool
        if self._mask is None:
            return pool.true
        lane = pool.and_(other.index.number, pool.number(31, 32))
        bit = pool.and_(pool.lshr(self._named(thread), lane), pool.number(1, 32))
        return pool.eq(bit, pool.number(1, 32))

    def _named(self, thread: ThreadTerms) -> Bits:
        block = self._kernel.cfg.graph.block_of[self._point]
        context = Interval(self._kernel, self._meetings, None).around(block)
        return thread.operand(self._point, self._mask, 32, context)

    def _may_be_outside(self) -> bool:
        one, pool = self._threads[0], self._kernel.pool
        claims = (
            self._kernel.geometry.claims(pool, one.index), self._condition(one), pool.not_(self._names(one, one)),
        )  # fmt: skip
        return self._possible(claims)

    def _may_disagree(self) -> bool:
        """Tell whether a lane may name another one that names other lanes."""
        one, two = self._threads
        pool = self._kernel.pool
        claims = (
            *self._of_one_warp(), self._condition(one), self._condition(two), self._names(one, two),
            pool.not_(pool.eq(self._named(one), self._named(two))),
        )  # fmt: skip
        return self._possible(claims)

    def _of_one_warp(self) -> tuple[Bits, ...]:
        one, two = self._threads
        pool, geometry = self._kernel.pool, self._kernel.geometry
        together = pool.eq(geometry.warp(pool, one.index), geometry.warp(pool, two.index))
        return geometry.claims(pool, one.index), geometry.claims(pool, two.index), together

    def _may_part(self) -> bool:
        """Tell whether a lane may execute the point and name one that does not."""
        one, two = self._threads
        if not self._in_one_round():
            return True
        apart = self._kernel.pool.not_(self._condition(two))
        return self._possible((*self._of_one_warp(), self._condition(one), apart, self._names(one, two)))

    def _in_one_round(self) -> bool:
        """Tell whether the lanes of a warp leave all loops around the point in the same round."""
        cfg, facts = self._kernel.cfg, self._kernel.facts
        return all(
            facts.branch_uniformity(source) <= Uniformity.WARP
            for loop in cfg.loops_around(cfg.graph.block_of[self._point])
            for source, _ in loop.exits
        )

    def _possible(self, claims: tuple[Bits, ...]) -> bool:
        try:
            return self._kernel.questions.numbers(claims) is not None
        except UndecidedError:
            return True
