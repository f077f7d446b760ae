"""One kernel as the race analysis sees it: its shared variables, its block, how its loops change registers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, cast

from ...cfg import Cfg, Edge, EdgeKind, Facts, Loop, Name, Uniformity
from ...cfg.optypes import typing_of
from ...cfg.special import changes, special_name
from ...ir import Component, Immediate, Instruction, Operand, Register
from ...opcodes.op import Op
from ...terms.bit_pool import Pool
from ...terms.bitvectors import Bits
from ...terms.effort import Effort
from .geometry import Geometry, ThreadIndex
from .layout import SharedLayout
from .questions import Questions

_T = TypeVar("_T")
_MOST_BLOCKS = 64
"""Blocks between a merge and its dominator; where there are more, the merge is a variable."""
_MOST_STEPS = 16
_MOST_ROUNDS = (1 << 31) - 1
_PLAIN = frozenset({EdgeKind.FALL, EdgeKind.BRANCH, EdgeKind.INDIRECT})


@dataclass(frozen=True, slots=True)
class Step:
    """What a loop adds to a register in each round, or takes from it."""

    point: int
    operand: Operand
    sign: int


class Kernel:
    """What terms of all threads are made from: one kernel, its shared variables, its block."""

    def __init__(self, facts: Facts, layout: SharedLayout, geometry: Geometry, effort: Effort) -> None:
        self.facts = facts
        self.cfg: Cfg = facts.cfg
        self.pool = Pool()
        self.layout = layout
        self.geometry = geometry
        self.effort = effort
        self.questions = Questions(self.pool, effort)
        self._made: dict[tuple[object, ...], object] = {}
        self._threads: dict[int, ThreadIndex] = {}
        self._steps: dict[Name, tuple[Step, ...] | None] = {}
        self._regions: dict[int, tuple[int, ...] | None] = {}
        self._left_together: dict[Uniformity, frozenset[int]] = {}

    def once(self, key: tuple[object, ...], make: Callable[[], _T]) -> _T:
        """Return what all questions about a kernel share: it is made when it is first asked for."""
        if key not in self._made:
            self._made[key] = make()
        return cast(_T, self._made[key])

    def thread(self, thread: int) -> ThreadIndex:
        """Return the place of a thread in the block, which is the same whoever asks."""
        found = self._threads.get(thread)
        if found is None:
            found = self._threads[thread] = self.geometry.thread(self.pool, thread)
        return found

    def steps(self, phi: Name, loop: Loop) -> tuple[Step, ...] | None:
        """Return by what a loop changes a register in each round, None when not by numbers that stay the same."""
        if phi not in self._steps:
            self._steps[phi] = self._find_steps(phi, loop)
        return self._steps[phi]

    def _find_steps(self, phi: Name, loop: Loop) -> tuple[Step, ...] | None:
        found: tuple[Step, ...] | None = None
        for edge, name in self.facts.merged(phi):
            if edge.source not in loop.blocks:
                continue
            steps = self._chain(name, phi, loop)
            if steps is None or (found is not None and steps != found):
                return None
            found = steps
        return found

    def _chain(self, name: Name, phi: Name, loop: Loop) -> tuple[Step, ...] | None:
        steps: list[Step] = []
        for _ in range(_MOST_STEPS):
            if name == phi:
                return tuple(steps)
            if name.site < 0:
                return None
            instruction = self.cfg.instructions[name.site]
            op, operands = instruction.operation.op, instruction.operands
            if (
                instruction.guard is not None
                or op not in (Op.ADD, Op.SUB, Op.MOV)
                or not _is_plain(instruction)
            ):
                return None
            changing = [each for each in operands[1:] if not self._stays(name.site, each, loop)]
            if len(changing) != 1 or not isinstance(changing[0], Register):
                return None
            if op is Op.SUB and changing[0] is not operands[1]:
                return None
            sign = -1 if op is Op.SUB else 1
            steps += [Step(name.site, each, sign) for each in operands[1:] if each is not changing[0]]
            name = self.facts.name(name.site, changing[0])
        return None

    def most_rounds(self, loop: Loop) -> int:
        """Return how often threads go round a loop at most, by what a register that counts in it may be.

        All its numbers are within bounds, and its step is less than what lies outside of these: it does not wrap.
        """
        return self.once((self.most_rounds, loop.index), lambda: self._find_most_rounds(loop))

    def _find_most_rounds(self, loop: Loop) -> int:
        most = _MOST_ROUNDS
        blocks = (self.cfg.blocks[block] for block in sorted(loop.blocks))
        points = (point for block in blocks for point in range(block.start, block.end))
        read = (name for point in points for name in self.facts.read_at(point))
        for phi in dict.fromkeys(name for name in read if name.phi_block == loop.header):
            value, steps = self.facts.value_of(phi), self.steps(phi, loop)
            if value is None or not steps:
                continue
            numbers = [self.facts.constant(step.point, step.operand) for step in steps]
            by = sum(
                step.sign * number for step, number in zip(steps, numbers, strict=True) if number is not None
            )
            span = value.high - value.low
            if None not in numbers and 0 < abs(by) < (1 << value.width) - span:
                most = min(most, span // abs(by))
        return most

    def _stays(self, point: int, operand: Operand, loop: Loop) -> bool:
        """Tell whether an operand is the same in all rounds of a loop."""
        if isinstance(operand, Register) and special_name(operand) is None:
            return self.facts.block_of(self.facts.name(point, operand)) not in loop.blocks
        special = special_name(operand) if isinstance(operand, (Register, Component)) else None
        return isinstance(operand, Immediate) or (special is not None and not changes(special))

    def region(self, block: int) -> tuple[int, ...] | None:
        """Return the dominator of a block and the blocks between, in order; None when they are many."""
        if block not in self._regions:
            self._regions[block] = self._find_region(block)
        return self._regions[block]

    def _find_region(self, block: int) -> tuple[int, ...] | None:
        top = self.cfg.dominators.parent[block]
        if top is None:
            return None
        inside: set[int] = set()
        work = [block]
        while work:
            current = work.pop()
            for edge in self.entering(current):
                if edge.kind not in _PLAIN:
                    return None
                if edge.source != top and edge.source not in inside:
                    inside.add(edge.source)
                    work.append(edge.source)
            if len(inside) > _MOST_BLOCKS:
                return None
        return tuple(each for each in self.cfg.order if each == top or each in inside)

    def into(self, block: int, taken: Callable[[Edge], Bits]) -> dict[Edge, Bits] | None:
        """Return what holds on each edge into a block, for a thread that has come to its dominator.

        None where the blocks between are many.
        """
        region = self.region(block)
        if region is None:
            return None
        here = {region[0]: self.pool.true}
        into: dict[Edge, Bits] = {}
        inside = {*region, block}
        for source in (each for each in region if each in here):
            for edge in self.cfg.edges_from(source):
                if edge.target not in inside or self.cfg.dominators.dominates(edge.target, source):
                    continue
                passing = self.pool.both(here[source], taken(edge))
                if edge.target == block:
                    into[edge] = passing
                else:
                    here[edge.target] = self.pool.either(here.get(edge.target, self.pool.false), passing)
        return into

    def entering(self, block: int) -> Iterator[Edge]:
        """Yield the edges into a block that do not close a loop."""
        for edge in self.cfg.edges_into(block):
            if self.cfg.dominators.reached(edge.source) and not self.cfg.dominators.dominates(
                block, edge.source
            ):
                yield edge

    @cached_property
    def headers(self) -> dict[int, Loop]:
        return {loop.header: loop for loop in self.cfg.loops}

    def left_together(self, level: Uniformity) -> frozenset[int]:
        """Return the loops that all threads of a group leave in the same round: of a block at most."""
        level = min(level, Uniformity.CTA)
        if level not in self._left_together:
            self._left_together[level] = frozenset(
                loop.index for loop in self.cfg.loops
                if all(self.facts.branch_uniformity(source) <= level for source, _ in loop.exits)
            )  # fmt: skip
        return self._left_together[level]


def _is_plain(instruction: Instruction) -> bool:
    typing = typing_of(instruction.operation)
    return typing.is_integer and bool(typing.types) and not typing.has(".sat")
