"""setmaxnreg: the registers that a thread has, and the warps that ask for more or fewer.

Property: each `Step` lies on a path that a thread can take. `most` is the largest count that ptxas may start
the kernel with, known where the directives say: `.maxnreg`, or the block and `.minnctapersm`, which share the
65536 registers of a multiprocessor among whole warpgroups, in steps of 8. Without either, ptxas ignores
setmaxnreg. It starts with fewer where no increase of the kernel goes up to that many, so that the count at
the start is `most` exactly where some increase goes beyond.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

from ...cfg import ThreadSet
from ...ir import Immediate
from ...isa.modifier import Mod
from ...opcodes.op import Op
from .paths import Paths, Query
from .warpgroup import WARP, WARPGROUP, is_whole

if TYPE_CHECKING:
    from ...view import KernelView

_REGISTERS = 65536
_STEP = 8
_MOST = 256


@dataclass(frozen=True, slots=True)
class Step:
    """A setmaxnreg that goes the wrong way from the count of the one before."""

    point: int
    before: int | None
    """The one before; None: the count at the start, which is at most `RegisterCount.most`."""


@dataclass(frozen=True, slots=True)
class Absent:
    """A setmaxnreg and the warps of its warpgroups that execute none, or none while others execute this one."""

    point: int
    threads: ThreadSet
    missing: tuple[int, ...]


@dataclass(frozen=True)
class RegisterCount:
    """The setmaxnreg instructions of one kernel."""

    view: KernelView

    @cached_property
    def counts(self) -> Mapping[int, int]:
        """The count of each setmaxnreg that some run gets to."""
        found: dict[int, int] = {}
        for point, instruction in enumerate(self.view.body.instructions):
            if instruction.operation.op is Op.SETMAXNREG and not self.view.facts.never_runs(point):
                count = instruction.get("count")
                if isinstance(count, Immediate):
                    found[point] = count.value
        return found

    @cached_property
    def most(self) -> int | None:
        """Most registers of a thread when the kernel starts, None when the directives do not say."""
        attributes = self.view.function.attributes
        block = attributes.get(".reqntid") or attributes.get(".maxntid")
        blocks = attributes.get(".minnctapersm")
        if ".maxnreg" not in attributes and (not block or not blocks or min(*block, *blocks) < 1):
            return None
        return most_registers(attributes, prod(block or ()))

    def is_increase(self, point: int) -> bool:
        return self.view.body.instructions[point].operation.has(Mod.INC)

    def wrong_steps(self) -> Iterator[Step]:
        """Yield increases to less than the thread has, and decreases to more."""
        for point, wanted in sorted(self.counts.items()):
            if self.most is not None and wanted > self.most and not self.is_increase(point):
                others = (frozenset(self.counts) | frozenset(self.view.facts.calls)) - {point}
                if self.view.get(Paths.of).find(Query(None, frozenset({point}), others)) is not None:
                    yield Step(point, None)
                    continue
            up = self.is_increase(point)
            wrong = {p for p, count in self.counts.items() if (wanted < count if up else wanted > count)}
            barred = (frozenset(self.counts) | frozenset(self.view.facts.calls)) - {point}
            query = Query(frozenset(wrong), frozenset({point}), barred)
            witness = self.view.get(Paths.of).find(query) if wrong else None
            if witness is not None and witness.first is not None:
                yield Step(point, witness.first)

    # ---- warps of a warpgroup

    @cached_property
    def _who(self) -> Mapping[int, ThreadSet] | None:
        """Who executes each setmaxnreg at most; None when that is not known of all."""
        if self.view.launch.threads is None or self.view.facts.calls:
            return None
        found = {point: self.view.facts.execution(point).threads for point in self.counts}
        return {p: t for p, t in found.items() if t is not None} if None not in found.values() else None

    def _exactly(self, point: int) -> ThreadSet | None:
        """Return the threads that execute a setmaxnreg together, in whole warps."""
        execution = self.view.facts.execution(point)
        threads = execution.threads
        if threads is None or not execution.exact or not len(threads) or not threads.whole(WARP):
            return None
        return threads

    def absences(self) -> Iterator[Absent]:
        """Yield the setmaxnreg instructions that other warps of a warpgroup never match with any.

        Or pass by: their guard is false where that of the others is true, and no other one stands beside it.
        """
        if self._who is None:
            return
        anybody = 0
        for threads in self._who.values():
            anybody |= threads.bits
        for point in sorted(self.counts):
            mine = self._exactly(point)
            if mine is None or is_whole(mine):
                continue
            missing = tuple(w for w in _neighbours(mine) if not anybody >> w * WARP & (1 << WARP) - 1)
            missing = missing or self._passing_by(point, mine)
            if missing:
                yield Absent(point, mine, missing)

    def _passing_by(self, point: int, mine: ThreadSet) -> tuple[int, ...]:
        """Return the warps of the same warpgroups that come to the block of a point and execute none there."""
        block = self.view.cfg.blocks[self.view.cfg.graph.block_of[point]]
        instructions = self.view.body.instructions
        plain = next((each for each in block.points if instructions[each].guard is None), None)
        if instructions[point].guard is None or plain is None:
            return ()
        there = self._exactly(plain)
        executed = 0
        for each in block.points:
            threads = self.view.facts.execution(each).threads if each in self.counts else None
            if threads is not None and not (threads & mine).bits:
                executed |= threads.bits
        if there is None:
            return ()
        inside = there.bits & ~executed
        return tuple(w for w in _neighbours(mine) if inside >> w * WARP & (1 << WARP) - 1)

    def differing(self) -> Iterator[tuple[int, int]]:
        """Yield (setmaxnreg, another one) that different warps of one warpgroup execute instead of it."""
        told: set[int] = set()
        for point, other in self._beside():
            if other < point and point not in told:
                told.add(point)
                yield point, other

    def opposed(self) -> Iterator[tuple[int, int]]:
        """Yield (increase, decrease) that different warps of one warpgroup execute in place of each other."""
        told: set[int] = set()
        for point, other in self._beside():
            if self.is_increase(point) and not self.is_increase(other) and point not in told:
                told.add(point)
                yield point, other

    def _beside(self) -> Iterator[tuple[int, int]]:
        """Yield each two setmaxnreg of different warps of one warpgroup, both ways round."""
        if self.view.launch.threads is None:
            return
        known = {p: t for p in sorted(self.counts) if (t := self._exactly(p)) is not None}
        for point, threads in known.items():
            beside = set(_neighbours(threads))
            for other, its in known.items():
                if beside.intersection(its.warps) and not (threads & its).bits:
                    yield point, other

    # ---- the pool of the block

    def demand(self) -> tuple[int, int, int] | None:
        """Return (first increase, registers asked for, registers there), per thread summed over warpgroups.

        None when they suffice, or when it is not known which warpgroup ends up with how many.
        """
        threads = self.view.launch.threads
        if self.most is None or self._who is None or threads is None:
            return None
        groups = -(-threads // WARPGROUP)
        wanted = [self.most] * groups
        changed: set[int] = set()
        for point, count in sorted(self.counts.items()):
            mine = self._exactly(point)
            if mine is None or not is_whole(mine) or self.view.cfg.loop_of(point) is not None:
                return None
            for group in {warp * WARP // WARPGROUP for warp in mine.warps}:
                if group in changed:
                    return None
                changed.add(group)
                wanted[group] = count
        increases = [point for point in sorted(self.counts) if self.is_increase(point)]
        if not increases or sum(wanted) <= self.most * groups:
            return None
        return increases[0], sum(wanted), self.most * groups


def most_registers(attributes: Mapping[str, tuple[int, ...]], threads: int) -> int:
    """Return the most registers of a thread when a kernel of so many threads starts."""
    given = attributes.get(".maxnreg")
    if given:
        return given[0]
    whole = -(-threads // WARPGROUP) * WARPGROUP
    blocks = attributes.get(".minnctapersm", (1,))[0]
    return min(_REGISTERS // (whole * max(blocks, 1)) // _STEP * _STEP, _MOST)


def _neighbours(threads: ThreadSet) -> tuple[int, ...]:
    """Return the warps that belong to warpgroups of a set without being in it."""
    groups = {warp // 4 for warp in threads.warps}
    return tuple(w for g in sorted(groups) for w in range(4 * g, 4 * g + 4) if w not in threads.warps)


__all__ = ["Absent", "RegisterCount", "Step", "most_registers"]
