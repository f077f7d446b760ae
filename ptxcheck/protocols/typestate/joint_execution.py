"""Whether two warps pass two points in the same runs, where flags decide that loops set.

Persistent kernels allocate tensor memory in the first round with work, and remember it in a flag; another warp goes
through copies of the same rounds and frees at the end if its own flag is set.

Property: `once(point, warp)` means that no thread of the warp passes the point twice. `together(…)` gives the branches
that rest on the same question in both warps: in every run in which both come to their end, each thread of the first
warp passes its point exactly when each of the second passes its own, as far as branches on one question go the same way
in the same round. Questions are expressions of the numbers of the launch, of parameters, constants and global memory,
and of numbers that loops step in the same way from the same start.

Not followed: loops inside loops that hold the flag, flags that are more than constants.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from ...cfg import (
    AtomKind,
    Edge,
    EdgeKind,
    Loop,
    Name,
    ThreadSet,
    Uniformity,
)
from ...cfg.addresses import linear_uniformity
from ...cfg.definitions import ENTRY, part_of
from ...cfg.values import Value, exactly
from ...ir import (
    Address,
    Immediate,
    Negated,
    Operand,
    Register,
    Vector,
)
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from .divergence import controlling

if TYPE_CHECKING:
    from ...view import KernelView

_ORDINARY_LOADS = frozenset({Op.LD, Op.LDU, Op.LD_NC})
_OF_LAUNCH = frozenset({AtomKind.SPECIAL, AtomKind.PARAMETER, AtomKind.ADDRESS})
_SPACES = frozenset({".param", ".const", ".global"})
_FLAG_BITS = 32
_MOST_QUESTIONS = 6
"""Questions whose answers are combined."""
_MOST_STATES = 20_000
_END = -1

Ways = Mapping[int, int]
"""Where branches go, by their blocks."""


class Stop(NamedTuple):
    """Where a thread has come to: the block, or its end; what flags are, and whether it has passed its point."""

    block: int
    flags: tuple[int | None, ...]
    passed: bool


@dataclass(frozen=True, slots=True)
class Trip:
    """A warp, and the point that it is asked about."""

    point: int
    warp: ThreadSet


class SameRounds:
    """Flags and rounds of one kernel."""

    def __init__(self, view: KernelView) -> None:
        self._view = view

    def once(self, trip: Trip) -> bool:
        """Tell whether no thread of the warp passes the point twice."""
        return self._stops(trip, self._start(trip), frozenset(), {}) is not None

    def together(self, first: Trip, then: Trip, before: Iterator[Ways]) -> frozenset[int] | None:
        """Return the branches that go the same way by the same global memory, None where the points may differ.

        `before` are the ways that branches outside loops may go together.
        """
        loops = [self._loop(trip) for trip in (first, then)]
        if loops[0] is None or loops[1] is None:
            return None
        asked = _Shared(self._view, loops[0], loops[1])
        stops = [frozenset({loop.header}) for loop in loops if loop is not None]
        for ways in before:
            mine = self._stops(first, self._start(first), stops[0], ways)
            its = self._stops(then, self._start(then), stops[1], ways)
            if mine is None or its is None or not self._agree(mine, its):
                return None
            work = list(product(_going_on(mine), _going_on(its)))
            seen = set(work)
            while work:
                one, other = work.pop()
                for way in asked.ways():
                    mine = self._stops(first, one, stops[0], {**ways, **way})
                    its = self._stops(then, other, stops[1], {**ways, **way})
                    if mine is None or its is None or not self._agree(mine, its):
                        return None
                    new = set(product(_going_on(mine), _going_on(its))) - seen
                    seen |= new
                    work.extend(sorted(new, key=repr))
        return asked.of_memory

    @staticmethod
    def _agree(mine: frozenset[Stop], its: frozenset[Stop]) -> bool:
        """Tell whether both go on, or both have come to their end and have passed their points, or neither has."""
        kinds = {None if stop.block != _END else stop.passed for stop in mine | its}
        return len(kinds) <= 1

    def _start(self, trip: Trip) -> Stop:
        return Stop(0, (None,) * len(self._flags(trip)), False)

    def _loop(self, trip: Trip) -> Loop | None:
        """Return the only loop around the point, or around what sets the flags in front of it."""
        cfg = self._view.cfg
        flags = set(self._flags(trip))
        sites = [trip.point, *(p for p, register in self._moves.items() if register in flags)]
        threads = self._view.facts.execution
        blocks = {
            cfg.graph.block_of[p]
            for p in sites
            if (own := threads(p).threads) is None or bool((own & trip.warp).bits)
        }
        found = {around[-1].header: around[-1] for block in blocks if (around := cfg.loops_around(block))}
        return next(iter(found.values())) if len(found) == 1 else None

    # ---- flags

    @cached_property
    def _moves(self) -> Mapping[int, Register]:
        """Points that set a register which nothing but constants is ever moved into."""
        moves: dict[int, Register] = {}
        others: set[Register] = set()
        for point, instruction in enumerate(self._view.body.instructions):
            target = instruction.operands[0] if instruction.operands else None
            is_plain = (
                instruction.operation.op is Op.MOV
                and instruction.guard is None
                and isinstance(instruction.operands[-1], Immediate)
            )
            if is_plain and isinstance(target, Register):
                moves[point] = target
            else:
                others.update(instruction.writes())
        return {point: register for point, register in moves.items() if register not in others}

    def _flags(self, trip: Trip) -> tuple[Register, ...]:
        """Return the flags that branches in front of a point ask for."""
        cfg = self._view.cfg
        constant = set(self._moves.values())
        found: set[Register] = set()
        for block, _ in controlling(cfg, cfg.graph.block_of[trip.point]):
            guard = self._view.body.instructions[cfg.blocks[block].last].guard
            if guard is not None:
                found |= self._read_for(cfg.blocks[block].last, guard.register, block) & constant
        return tuple(sorted(found, key=repr))

    def _read_for(self, point: int, register: Register, block: int) -> set[Register]:
        """Return the registers that a block computes another one from."""
        facts, cfg = self._view.facts, self._view.cfg
        found: set[Register] = set()
        work, seen = [facts.name(point, register)], set[Name]()
        while work:
            name = work.pop()
            if name in seen:
                continue
            seen.add(name)
            found.add(name.register)
            if name.site >= 0 and cfg.graph.block_of[name.site] == block:
                work.extend(
                    facts.name(name.site, each) for each in self._view.body.instructions[name.site].reads()
                )
        return found

    # ---- ways of one warp

    def _stops(self, trip: Trip, start: Stop, headers: frozenset[int], ways: Ways) -> frozenset[Stop] | None:
        """Return where a thread may come to next: headers, or its end; None where it may pass its point twice."""
        flags = self._flags(trip)
        found: set[Stop] = set()
        work, seen = [start], {start}
        while work:
            here = work.pop()
            then = self._through(trip, here, flags)
            if then is None or len(seen) > _MOST_STATES:
                return None
            for edge in self._edges(trip, here, flags, ways):
                if edge.target == self._view.cfg.exit:
                    found.add(Stop(_END, (), then.passed))
                    continue
                next_stop = then._replace(block=edge.target)
                if edge.target in headers:
                    found.add(next_stop)
                elif next_stop not in seen:
                    seen.add(next_stop)
                    work.append(next_stop)
        return frozenset(found)

    def _through(self, trip: Trip, here: Stop, flags: tuple[Register, ...]) -> Stop | None:
        """Return what a thread has behind a block, None where it may pass its point for a second time."""
        values, passed = list(here.flags), here.passed
        for point in self._view.cfg.blocks[here.block].points:
            register = self._moves.get(point)
            if register in flags:
                moved = self._view.body.instructions[point].operands[-1]
                values[flags.index(register)] = moved.value if isinstance(moved, Immediate) else None
            if point == trip.point:
                if passed:
                    return None
                passed = True
        return Stop(here.block, tuple(values), passed)

    def _edges(self, trip: Trip, here: Stop, flags: tuple[Register, ...], ways: Ways) -> Iterator[Edge]:
        cfg, facts = self._view.cfg, self._view.facts
        block = cfg.blocks[here.block]
        for edge in cfg.edges_from(here.block):
            if edge.kind is EdgeKind.TRAP or ways.get(here.block, edge.target) != edge.target:
                continue
            if edge.guard is not None:
                truth = not edge.guard.negated
                name = facts.name(block.last, edge.guard.register)
                holding = facts.holding(name, truth)
                if holding is not None and not (holding & trip.warp).bits:
                    continue
                known = {
                    facts.name(block.start, register): exactly(value, _FLAG_BITS)
                    for register, value in zip(flags, here.flags, strict=True)
                    if value is not None
                }
                value = facts.value_given(name, known) if known else None
                if value is not None and value.constant is not None and bool(value.constant) != truth:
                    continue
            yield edge


def _going_on(stops: frozenset[Stop]) -> list[Stop]:
    return sorted((stop for stop in stops if stop.block != _END), key=repr)


class _Shared:
    """Questions that two loops ask in each round."""

    def __init__(self, view: KernelView, first: Loop, then: Loop) -> None:
        self._view = view
        asked = [self._asked(first), self._asked(then)]
        shared = sorted(asked[0].keys() & asked[1].keys(), key=repr)[:_MOST_QUESTIONS]
        self._blocks = [[block for each in asked for block, _ in each[key]] for key in shared]
        self.of_memory = frozenset(
            view.cfg.blocks[block].last
            for key in shared
            for each in asked
            for block, is_of_memory in each[key]
            if is_of_memory
        )

    def ways(self) -> Iterator[Ways]:
        """Yield where the branches may go in one round."""
        for answers in product((False, True), repeat=len(self._blocks)):
            yield {
                block: edge.target
                for blocks, answer in zip(self._blocks, answers, strict=True)
                for block in blocks
                for edge in self._view.cfg.edges_from(block)
                if edge.guard is not None and answer != edge.guard.negated
            }

    def _asked(self, loop: Loop) -> dict[Hashable, list[tuple[int, bool]]]:
        """Return the branches that a loop comes to once in each round, by what they ask."""
        cfg, found = self._view.cfg, dict[Hashable, list[tuple[int, bool]]]()
        for block in sorted(loop.blocks):
            last = cfg.blocks[block].last
            guard = self._view.body.instructions[last].guard
            if guard is None or len(cfg.successors[block]) < 2 or cfg.loop_of(last) is not loop:
                continue
            question = _Question(self._view, loop)
            key = question.key(self._view.facts.name(last, guard.register))
            if key is not None:
                found.setdefault(key, []).append((block, question.is_of_memory))
        return found


class _Question:
    """What a branch in a loop asks, in terms of what is one number for the whole CTA."""

    def __init__(self, view: KernelView, loop: Loop) -> None:
        self._view = view
        self._loop = loop
        self._stepped: Name | None = None
        self._keys: dict[tuple[Name, Name | None], Hashable | None] = {}
        self.is_of_memory = False

    def key(self, name: Name) -> Hashable | None:
        """Return an expression that is the same number wherever it is computed in the same round."""
        place = name, self._stepped
        if place not in self._keys:
            self._keys[place] = None
            self._keys[place] = self._expression(name)
        return self._keys[place]

    def _expression(self, name: Name) -> Hashable | None:
        value = self._view.facts.value_of(name)
        if value is not None and (constant := _of_launch(value)) is not None:
            return constant
        if name == self._stepped:
            return ("of the round",)
        if name.phi_block is not None:
            return self._iterated(name)
        if name.site == ENTRY:
            return None
        instruction = self._view.body.instructions[name.site]
        traits, op, slots = (
            instruction.operation.traits,
            instruction.operation.op,
            instruction.operation.slots,
        )
        is_load = op in _ORDINARY_LOADS and slots.get("space", "") in _SPACES and slots.get("sem") is None
        if instruction.guard is not None or Trait.VOLATILE in traits:
            return None
        if not (is_load or Trait.PURE in traits or op is Op.MOV):
            return None
        self.is_of_memory |= is_load and slots.get("space") == ".global"
        inputs = tuple(self._operand(name.site, operand) for operand in instruction.operands[1:])
        if None in inputs:
            return None
        return instruction.operation, part_of(instruction.operands[0], name.register), inputs

    def _iterated(self, name: Name) -> Hashable | None:
        """Return how a number steps from round to round."""
        if name.phi_block != self._loop.header or self._stepped is not None:
            return None
        starts, steps = set[Hashable](), set[Hashable]()
        for edge, other in self._view.facts.merged(name):
            if edge.source in self._loop.blocks:
                self._stepped = name
                steps.add(self.key(other))
                self._stepped = None
            else:
                starts.add(self.key(other))
        if len(starts) != 1 or len(steps) != 1 or None in starts | steps:
            return None
        return "stepped", *starts, *steps

    def _operand(self, point: int, operand: Operand | None) -> Hashable | None:
        match operand:
            case Register():
                return self.key(self._view.facts.name(point, operand))
            case Negated(operand=inner):
                found = self._operand(point, inner)
                return None if found is None else ("not", found)
            case Address(base=Register() as base, extra=()):
                found = self._operand(point, base)
                return None if found is None else ("at", found, operand.offset)
            case Vector():
                parts = tuple(self._operand(point, element) for element in operand.elements)
                return None if None in parts else parts
            case None | Address(base=Register()):
                return None
            case _:
                return _of_launch(self._view.facts.value(point, operand))


def _of_launch(value: Value) -> Hashable | None:
    """Return an expression of the numbers of the launch, None for others and for those that differ in a CTA."""
    form = value.linear
    if form is None or any(atom.kind not in _OF_LAUNCH for atom, _ in form.terms):
        return None
    return ("sum", value.width, form) if linear_uniformity(form) <= Uniformity.CTA else None


__all__ = ["SameRounds", "Trip"]
