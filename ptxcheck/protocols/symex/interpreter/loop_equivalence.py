"""Loops that compute the same: what each of several roles works out for itself by the same code.

Property: results with equal names are equal numbers.

Argument: two loops whose ways, decisions and carried values have the same names make the same steps, round by round:
what a name stands for at the start of a round follows from its first number and from what such names were a round
before.

Not covered: loops that read shared memory, or anything else that threads of the kernel write; and wrap-around:
numbers are those of forms, symbols are ordered as signed numbers.

Roles of a kernel often look for their next tile on their own: each runs a copy of one loop over tables of the host.
What such a loop leaves in a register follows from its code and from what it starts with, as long as it only computes
and reads memory that no thread of the kernel is taken to write. So results are named by what is computed: equal names
are equal numbers.

Copies differ in their registers, in the order of their instructions, and in how they count: one adds to a pointer
where another one multiplies an index. So values are named and not instructions. A register that a loop changes by one
number in each round is what it starts with plus that number times the round; others that are carried around are told
apart as far as what they start with and what each round leaves in them differ, at first not at all (Alpern, Wegman and
Zadeck, "Detecting equality of variables in programs", 1988). Two loops whose ways, decisions and carried values have
the same names make the same steps, round by round: what a name stands for at the start of a round follows from its
first number and from what such names were a round before, and two loops that name the same have the same rules for it.
Numbers are those of forms: symbols are ordered as signed numbers, and nothing wraps around.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from ....cfg.special import changes, special_name
from ....ir import (
    Address,
    Component,
    Instruction,
    Operand,
    Pair,
    Register,
    Vector,
)
from ....opcodes.spec import Trait
from ..slice.accesses import is_strong
from ..slice.loop_outline import Outline, Way
from ..slice.loop_results import Keys
from ..values import lane_arithmetic as lanes
from ..values.kinds import Kind
from ..values.register_file import SplitError
from ..values.symbol import (
    Atom,
    Condition,
    Decisions,
    Form,
    Value,
    children,
    plus,
)
from ..values.trace import NotFollowedError, ThreadSet
from .cta import Cta
from .execution import Execution

_MUST_NOT = frozenset({Trait.VOLATILE, Trait.ATOMIC, Trait.CALL, Trait.CROSS_LANE})
_OUTSIDE = (".global", ".const", ".param")
_WIDEST = 64
_MOST_ROUNDS = 40

_Carried: TypeAlias = tuple[int, Register]
"""A register at the header of a loop."""
_Held: TypeAlias = dict[Register, Value | None]
"""What registers hold; None: not known."""
_Said: TypeAlias = tuple[tuple[Condition, bool], ...]
"""Conditions that were decided, with their truth."""


def keys_behind(cta: Cta, apart: Callable[[], Execution], block: int, threads: ThreadSet) -> Keys:
    """Return what names the numbers that registers hold behind a branch and its region.

    Registers are left out that are not given by code alone. `apart` gives what computes with nothing decided.
    """
    outline = cta.program.regions.outline(block)
    if outline is None:
        return {}
    starts = {register: _start(cta, register, threads) for register in outline.live[0]}
    asked = (
        block,
        cta.shape,
        cta.rank,
        threads,
        *(None if each is None else lanes.key_of(each) for each in starts.values()),
    )
    return cta.program.loop_results.keys(asked, lambda: _Reckoning(apart(), outline, starts, threads).keys())


def _start(cta: Cta, register: Register, threads: ThreadSet) -> Value | None:
    try:
        value = cta.operands.value(register, threads)
    except SplitError:
        return None
    return None if isinstance(value, np.ndarray) else value


class _Reckoning:
    """What the nodes of an outline compute from what they start with."""

    def __init__(
        self,
        execution: Execution,
        outline: Outline,
        starts: Mapping[Register, Value | None],
        threads: ThreadSet,
    ) -> None:
        self._execution = execution
        self._outline = outline
        self._starts = starts
        self._threads = threads
        self._steps: dict[_Carried, int] = {}
        """By how much a round changes a register."""
        self._lost: set[_Carried] = set()
        """Registers that do not hold what code alone gives."""
        self._width_of = execution.cta.program.width_of

    def keys(self) -> Keys:
        """Return the names of the results."""
        outline = self._outline
        carried = [
            (node, each) for node in outline.order if node in outline.latches for each in outline.live[node]
        ]
        apart = {each: lanes.opaque(Kind.CARRIED, each[0], each[1].name, each[1].scope) for each in carried}
        ends = self._walk(apart)
        while self._find_steps(apart, ends):
            ends = self._walk(apart)
        left = [each for each in carried if each not in self._steps and each not in self._lost]
        named = self._told_apart(left)
        if named is None:
            return {}
        names, leaving = named
        ways = self._decided(leaving)
        if ways is None:
            return {}
        reached = self._reaching(left, ends)
        results: dict[Register, tuple[object, ...]] = {}
        for register, value in leaving[outline.join].items():
            own = ends[outline.join].get(register)
            if value is None or own is None:
                continue
            used = reached(own)
            turning = tuple(
                sorted({names[each] for each in used}, key=lambda pair: (pair[0].digest, pair[1].digest))
            )
            results[register] = ways, turning, lanes.key_of(value)
        return results

    # -- one walk through the code

    def _walk(self, heads: Mapping[_Carried, Value]) -> list[_Held]:
        """Run each node once, with given values for what loops carry; return what registers hold at its end."""
        ends: list[_Held] = [{} for _ in self._outline.ways]
        for node in self._outline.order:
            held = self._entering(node, ends, heads)
            for point in self._outline.points[node]:
                self._perform(point, held)
            ends[node] = held
        return ends

    def _entering(self, node: int, ends: Sequence[_Held], heads: Mapping[_Carried, Value]) -> _Held:
        outline = self._outline
        if not node:
            return dict(self._starts)
        latches = outline.latches.get(node, frozenset())
        sources = [each for each in outline.sources[node] if each not in latches]
        held: _Held = {}
        for register in outline.live[node]:
            at = node, register
            step = self._steps.get(at) if latches else 0
            if at in self._lost:
                held[register] = None
            elif step is None:
                held[register] = heads[at]
            else:
                first = self._merged(node, [ends[each].get(register) for each in sources])
                turn = lanes.opaque(Kind.TURN, outline.numbers[node])
                held[register] = (
                    first if first is None or not step else plus(self._signed(register, first), turn, step)
                )
        return held

    def _signed(self, register: Register, value: Value) -> int | Form:
        """Return what a register holds as it stands in a form: a number that fills it is negative."""
        assert isinstance(value, int | Form)
        if isinstance(value, Form):
            return value
        return int(lanes.signed(value, self._width_of(register)))

    def _merged(self, node: int, values: Sequence[Value | None]) -> Value | None:
        """Return what one of several ways brings."""
        known = [each for each in values if isinstance(each, int | Form)]
        if len(known) < len(values) or not known:
            return None
        if all(_same(each, known[0]) for each in known):
            return known[0]
        return lanes.opaque(Kind.PHI, self._outline.numbers[node], *known)

    def _perform(self, point: int, held: _Held) -> None:
        cta = self._execution.cta
        instruction = cta.program.cfg.instructions[point]
        written = list(dict.fromkeys(instruction.writes()))
        read = [each for each in instruction.reads() if special_name(each) is None]
        involved = read if instruction.guard is None else [*read, *written]
        known = point in cta.program.points and is_code(instruction)
        if not known or any(held.get(each) is None for each in involved):
            held.update(dict.fromkeys(written))
            return
        for register in written:
            cta.registers.restore(register, None)
        for register in involved:
            value = held[register]
            assert value is not None
            cta.registers.write(register, self._threads, value)
        try:
            self._execution.step(point, self._threads)
            found = {register: cta.registers.read(register, self._threads) for register in written}
        except (SplitError, NotFollowedError):
            found = dict.fromkeys(written)
        held.update((name, None if isinstance(v, np.ndarray) else v) for name, v in found.items())

    # -- what loops carry

    def _find_steps(self, heads: Mapping[_Carried, Value], ends: Sequence[_Held]) -> bool:
        """Find registers that each round changes by one number, and lost ones; tell whether there are more."""
        before = len(self._steps) + len(self._lost)
        for (node, register), head in heads.items():
            if (node, register) in self._steps or (node, register) in self._lost:
                continue
            values = [ends[each].get(register) for each in self._outline.sources[node]]
            if any(each is None for each in values):
                self._lost.add((node, register))
                continue
            latches = self._outline.latches[node]
            moves = {
                _number(ends[each].get(register), head)
                for each in self._outline.sources[node]
                if each in latches
            }
            if len(moves) == 1 and (move := moves.pop()) is not None:
                self._steps[node, register] = move
        return len(self._steps) + len(self._lost) > before

    def _told_apart(
        self, left: Sequence[_Carried]
    ) -> tuple[dict[_Carried, tuple[Atom, Atom]], list[_Held]] | None:
        """Return names of what is carried, each with what rounds make it in such names, and a walk with them."""
        outline = self._outline
        names = {each: _atom(lanes.opaque(Kind.PHI, outline.numbers[each[0]])) for each in left}
        for _ in range(_MOST_ROUNDS):
            ends = self._walk({each: Form(((name, 1),)) for each, name in names.items()})
            finer: dict[_Carried, Atom] = {}
            for node, register in left:
                values = [ends[each].get(register) for each in outline.sources[node]]
                known = [each for each in values if each is not None]
                if len(known) < len(values):
                    return None
                finer[node, register] = _atom(lanes.opaque(Kind.PHI, outline.numbers[node], *known))
            if len({(names[each], finer[each]) for each in left}) == len(set(names.values())):
                return {each: (names[each], finer[each]) for each in left}, ends
            names = finer
        return None

    def _decided(self, ends: Sequence[_Held]) -> tuple[object, ...] | None:
        """Return the ways through the nodes with what decides them, None when that is not code alone."""
        outline = self._outline
        found: dict[int, object] = {}
        said: dict[int, _Said] = {}
        for node in outline.order:
            said[node] = self._said_on_the_way(node, said, ends)
            ways = outline.ways[node]
            if len(ways) < 2 and len(outline.sources[node]) == 1 and node:
                continue
            described: list[object] = []
            for way in ways:
                decided = _decides(way, ends[node], said[node])
                if decided is None:
                    return None
                described.append((outline.numbers[way.target] if way.target >= 0 else -1, *decided))
            found[outline.numbers[node]] = tuple(described)
        return tuple(sorted(found.items()))  # numbers differ, so that nothing else is compared

    def _said_on_the_way(self, node: int, said: Mapping[int, _Said], ends: Sequence[_Held]) -> _Said:
        """Return what holds at a node as it decided the ways there."""
        outline = self._outline
        sources, parent = outline.sources[node], outline.parents[node]
        if not node or parent is None:
            return ()
        ways = [way for way in outline.ways[sources[0]] if way.target == node]
        guard = ways[0].guard if len(sources) == 1 and len(ways) == 1 else None
        value = None if guard is None else ends[sources[0]].get(guard.register)
        if guard is None or not isinstance(value, Form):
            return said[parent]
        condition, positive = lanes.condition_of(value)
        return (*said[parent], (condition, positive != guard.negated))

    def _reaching(self, left: Sequence[_Carried], ends: Sequence[_Held]) -> _Reaching:
        outline = self._outline
        into = {
            (node, register): [ends[each].get(register) for each in outline.sources[node]]
            for node, register in left
        }
        deciding = [
            ends[node].get(register)
            for node in outline.order
            for way in outline.ways[node]
            for register in (way.guard.register if way.guard else None, way.index)
            if register is not None
        ]
        return _Reaching(into, deciding)


class _Reaching:
    """Which carried registers a value depends on, and all decisions besides."""

    def __init__(
        self, into: Mapping[_Carried, Sequence[Value | None]], deciding: Sequence[Value | None]
    ) -> None:
        self._into = into
        self._by_text: dict[tuple[object, ...], _Carried] = {
            (node, name.name, name.scope): (node, name) for node, name in into
        }
        self._inside: dict[Atom, frozenset[_Carried]] = {}
        self._always = self._closed(deciding)

    def __call__(self, value: Value) -> frozenset[_Carried]:
        return self._always | self._closed([value])

    def _closed(self, values: Sequence[Value | None]) -> frozenset[_Carried]:
        found: set[_Carried] = set()
        waiting = list(values)
        while waiting:
            value = waiting.pop()
            if not isinstance(value, Form):
                continue
            for name, _ in value.terms:
                fresh = self._named(name) - found
                found |= fresh
                for each in fresh:
                    waiting.extend(self._into[each])
        return frozenset(found)

    def _named(self, name: Atom) -> frozenset[_Carried]:
        known = self._inside.get(name)
        if known is None:
            if name.inner_kind is Kind.CARRIED:
                at = self._by_text.get(name.inner[1:])
                known = frozenset() if at is None else frozenset({at})
            else:
                known = frozenset[_Carried]()
                for part in children(name.inner):
                    known |= self._named(part)
            self._inside[name] = known
        return known


def _decides(way: Way, held: _Held, said: _Said) -> tuple[object, ...] | None:
    """Return what decides about a way: the truth of its guard, or the index of its jump table and the cases."""
    if way.index is not None:
        value = held.get(way.index)
        return None if value is None else (lanes.key_of(value), way.cases)
    if way.guard is None:
        return ()
    value = held.get(way.guard.register)
    if not isinstance(value, Form):
        return None if value is None else (lanes.key_of(lanes.negate(value) if way.guard.negated else value),)
    condition, positive = lanes.condition_of(value)
    relation, form = condition.relation, condition.form
    if relation == "below" and _is_positive(form, said):
        relation = "lt"  # compilers write `n < 8` as `n - 1 < 7` where n is positive
    if relation == "below":
        return relation, form.terms, form.constant, condition.bound, positive != way.guard.negated
    return relation, form.terms, condition.bound - form.constant, positive != way.guard.negated


def _is_positive(form: Form, said: _Said) -> bool:
    """Tell whether a number is not negative, by what was decided before."""
    decisions = Decisions()
    for condition, truth in said:
        decisions.assume(condition, truth)
    return decisions.implied(Condition("lt", form, 0)) is False


def _number(value: Value | None, head: Value) -> int | None:
    """Return by how much a value is more than another one, None when that is no number."""
    assert value is not None
    apart = lanes.subtract(value, head, _WIDEST)
    return int(lanes.signed(apart, _WIDEST)) if isinstance(apart, int) else None


def _same(one: Value, other: Value) -> bool:
    return one is other or (type(one) is type(other) and bool(one == other))


def _atom(form: Form) -> Atom:
    return form.terms[0][0]


def is_code(instruction: Instruction) -> bool:
    """Tell whether what an instruction gives follows from what it reads, and from memory that does not change."""
    operation = instruction.operation
    if any(map(_changes, instruction.operands)):
        return False
    if Trait.LOAD in operation.traits:
        space = operation.slots.get("space", "")
        return space.startswith(_OUTSIDE) and not is_strong(operation)
    return Trait.PURE in operation.traits and _MUST_NOT.isdisjoint(operation.traits)


def _changes(operand: Operand | None) -> bool:
    """Tell whether an operand differs from read to read."""
    match operand:
        case Register() | Component():
            name = special_name(operand)
            return name is not None and changes(name)
        case Pair():
            return _changes(operand.first) or _changes(operand.second)
        case Vector():
            return any(map(_changes, operand.elements))
        case Address():
            return _changes(operand.base) or any(map(_changes, operand.extra))
        case _:
            return False


__all__ = ["is_code", "keys_behind"]
