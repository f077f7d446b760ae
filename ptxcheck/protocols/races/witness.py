"""Runs with numbers that show a race or a divergent barrier, whatever is loaded.

Property: a `Race` is in the runs of two threads of a block for two sizes that follow each other, a `Divergence` for
each size that is tried: it does not hang on one odd number that no host passes.

Argument: the solver finds two threads for each setting; both are executed (`replay`), and the accesses of one
interval are compared byte for byte. Stores of one value are no race.

Not covered: races that only some parameters have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ...cfg import AtomKind, Linear, Name, Uniformity, Value
from ...ir import Address
from ...launch import Dim
from ...opcodes.spec import Trait
from ...terms.bitvectors import Bits, Kind, Numbers, in_order, variables_of
from ..typestate.global_arrays import Array
from .accesses import Access, Action
from .agreement import Disagreement
from .kernel import Kernel
from .meetings import Meetings
from .pairs import Pair, Pairs, Relation
from .program import Program
from .questions import UndecidedError
from .replay import AT_THREAD, Event, Replay, Run
from .thread_terms import LOADED, ThreadTerms

if TYPE_CHECKING:
    from ...view import KernelView

_SIZES = (1024, 2048, 4096)
"""Numbers that parameters are given, beside the number of threads: common ones that many things divide."""
_SETTINGS = 3
_IN_A_ROW = 2
_POINTER = 1 << 32
_SHARED_LOAD = "ld.shared"
_LANES = (0, 1, 31)
"""Lanes of each warp that are executed beside the two threads of a model, as loops may have other numbers there."""


@dataclass(frozen=True, slots=True)
class Race:
    """Two accesses of one byte in one barrier interval."""

    points: tuple[int, int]
    """The write first, if the other one is none."""
    actions: tuple[Action, Action]
    threads: tuple[Dim, Dim]
    block: Dim
    relation: Relation
    place: str
    inputs: Mapping[str, int]
    with_data: bool = False
    """Whether it takes numbers in global memory to show it."""
    only_with: str = ""
    """What numbers in global memory showed it, where others did not."""
    ctas: tuple[Dim, Dim] | None = None
    """Where in the grid the CTAs of the two threads are, if they differ."""

    @property
    def written_threads(self) -> tuple[str, str]:
        """Return the two threads as people write them."""
        one, two = (written_thread(thread, self.block) for thread in self.threads)
        return one, two

    @property
    def message(self) -> str:
        """Say what meets where."""
        shown = " (in runs with made-up data)" if self.with_data else ""
        if self.only_with:
            shown = f", if the numbers in global memory {self.only_with}"
        one, two = self.written_threads
        mine, its = (f"{each.article} {each.value}" for each in self.actions)
        if self.ctas is not None:
            one, two = (
                f"{thread} of CTA {written_thread(cta, (1, 2, 2) if any(cta[1:]) else (1, 1, 1))}"
                for thread, cta in zip((one, two), self.ctas, strict=True)
            )
            return (
                f"thread {one} makes {mine} of {self.place} here, and thread {two} {its} of the same byte: "
                "nothing orders CTAs of one launch"
            )
        return (
            f"thread {one} makes {mine} of {self.place} here, and thread {two} {its} of the same byte: "
            f"no barrier lies between{shown}"
        )


@dataclass(frozen=True, slots=True)
class Divergence:
    """Two threads that come to different barriers."""

    points: tuple[int, int]
    branch: int
    threads: tuple[Dim, Dim]
    block: Dim

    @property
    def written_threads(self) -> tuple[str, str]:
        """Return the two threads as people write them."""
        one, two = (written_thread(thread, self.block) for thread in self.threads)
        return one, two

    @property
    def message(self) -> str:
        """Say who waits where."""
        one, two = self.written_threads
        return f"thread {one} waits at this barrier while thread {two} waits at another one"


def written_thread(thread: Dim, block: Dim) -> str:
    """Return a thread as people write it: one number where the block is a line."""
    if block[1] == block[2] == 1:
        return str(thread[0])
    return f"({', '.join(str(index) for index in (thread if block[2] > 1 else thread[:2]))})"


class Witnesses:
    """Looks for runs that show what the solver has found."""

    def __init__(
        self, view: KernelView, kernel: Kernel, accesses: Sequence[Access], block: Dim, agreed: frozenset[int]
    ) -> None:
        self._view = view
        self.kernel = kernel
        self.accesses = {access.point: access for access in accesses}
        self.block = block
        self._agreed = agreed
        self._programs: dict[bool, Program] = {}
        self._of_thread: dict[Bits, bool] = {}
        self._runs: dict[tuple[int, Dim, bool], Run] = {}

    def program(self, *, with_values: bool) -> Program:
        if with_values not in self._programs:
            facts = self._view.facts
            meetings = frozenset(Meetings(facts, Uniformity.CTA).barriers)
            of_warps = Meetings(facts, Uniformity.WARP, self._agreed).points
            self._programs[with_values] = Program(
                self.kernel, self.accesses, meetings, of_warps, with_values=with_values
            )
        return self._programs[with_values]

    @cached_property
    def parameters(self) -> tuple[tuple[str, bool], ...]:
        """Names of the numbers in parameter space that are read, and whether they are pointers."""
        return tuple((name, is_pointer) for name, is_pointer, _ in self._passed)

    @cached_property
    def _passed(self) -> tuple[tuple[str, bool, Value | None], ...]:
        """The numbers in parameter space that are read, whether they are pointers, and what is known of them."""
        pointers: set[str] = set()
        names: dict[str, Value | None] = {}
        for point, instruction in enumerate(self._view.body.instructions):
            if instruction.operation.traits & {Trait.LOAD, Trait.STORE, Trait.ATOMIC}:
                for operand in instruction.operands:
                    if isinstance(operand, Address):
                        pointer = self._view.facts.address(point, operand)
                        if (
                            pointer is not None
                            and pointer.base is not None
                            and pointer.base.kind is AtomKind.PARAMETER
                        ):
                            pointers.add(str(pointer.base))
                for register in instruction.writes():
                    value = self._view.facts.value_of(Name(register, point))
                    linear = None if value is None else value.linear
                    for atom, _ in () if linear is None else linear.terms:
                        if atom.kind is AtomKind.PARAMETER:
                            known = names.setdefault(str(atom), None)
                            names[str(atom)] = value if known is None and _is_alone(linear) else known
        return tuple((name, name in pointers, value) for name, value in names.items())

    def settings(self, block: Dim) -> Iterator[tuple[int, dict[str, int]]]:
        """Yield numbers for parameters and the grid, of those that a host may pass."""
        threads = block[0] * block[1] * block[2]
        for size in tuple(dict.fromkeys((threads, *_SIZES)))[:_SETTINGS]:
            yield size, self.inputs(size)

    def inputs(self, size: int) -> dict[str, int]:
        inputs = {
            name: size if value is None else _admitted(size, value)
            for name, is_pointer, value in self._passed
            if not is_pointer
        }
        pointers = (name for name, is_pointer in self.parameters if is_pointer)
        inputs |= {name: (place + 1) * _POINTER for place, name in enumerate(pointers)}
        for axis in "xyz":
            inputs |= {f"%ctaid.{axis}": 0, f"%nctaid.{axis}": 64 if axis == "x" else 1}
        return inputs

    def race(self, pair: Pair) -> Race | None:
        """Return a race that two settings in a row have; None when there are none such."""
        addresses = variables_of(pair.first.address, pair.second.address)
        if any(variable.name.startswith(LOADED) for variable in addresses):
            return None
        in_a_row: list[Race] = []
        chosen = [thread_of(terms, pair.numbers) for terms in pair.threads]
        settings = [*self.settings(self.block)]
        left = len(settings)
        for size, inputs in settings:
            race = self.shown(pair, chosen, size, inputs) or self.searched(pair, size, inputs)
            in_a_row = [*in_a_row, race] if race is not None else []
            if len(in_a_row) == _IN_A_ROW or (race is not None and not self.has_sizes):
                return in_a_row[0]
            left -= 1
            if len(in_a_row) + left < _IN_A_ROW and self.has_sizes:
                break
        return None

    @cached_property
    def has_sizes(self) -> bool:
        """Tell whether numbers that are no pointers are passed: else all settings are alike."""
        return any(not is_pointer for _, is_pointer in self.parameters)

    def searched(self, pair: Pair, size: int, inputs: Mapping[str, int]) -> Race | None:
        """Return a race of the threads of which the solver says that they meet in a setting."""
        asked = Pairs(self.kernel, pair.relation, (), threads=pair.threads)
        try:
            numbers = self.kernel.questions.numbers(
                (*asked.base, *self.fixed(pair.claim, inputs), pair.claim)
            )
        except UndecidedError:
            return None
        if numbers is None:
            return None
        return self.shown(pair, [thread_of(terms, numbers) for terms in pair.threads], size, inputs)

    def fixed(self, claim: Bits, inputs: Mapping[str, int]) -> Iterator[Bits]:
        pool = self.kernel.pool
        for variable in variables_of(claim):
            number = inputs.get(variable.name)
            if number is not None:
                yield pool.eq(variable, pool.number(number, variable.width))

    def shown(self, pair: Pair, chosen: Sequence[Dim], size: int, inputs: Mapping[str, int]) -> Race | None:
        found = self._among(pair, chosen, size, inputs)
        if found is not None or self._stores_what_all_may_know(pair, chosen, size, inputs):
            return found
        return self._among(pair, list(dict.fromkeys((*chosen, *_spread(self.block)))), size, inputs)

    def _stores_what_all_may_know(
        self, pair: Pair, threads: Sequence[Dim], size: int, inputs: Mapping[str, int]
    ) -> bool:
        """Tell whether some threads only store values that others may have, too: more of them show no race either."""
        if any(self.accesses[point].action is not Action.WRITE for point in pair.points):
            return False
        runs = [self._run(size, thread, inputs, with_values=True) for thread in threads]
        stored = [
            event.value for run in runs for point in set(pair.points) for event in events_at(run, point)
        ]
        return bool(stored) and not any(value is not None and self._is_of_thread(value) for value in stored)

    def _among(self, pair: Pair, sample: Sequence[Dim], size: int, inputs: Mapping[str, int]) -> Race | None:
        block = self.block
        stores = all(self.accesses[point].action is Action.WRITE for point in pair.points)
        runs = {thread: self._run(size, thread, inputs, with_values=stores) for thread in sample}
        at: dict[tuple[int, int], list[tuple[Dim, Event]]] = {}
        for thread in sample:
            for event in events_at(runs[thread], pair.points[0]):
                at.setdefault((event.met, event.address >> 4), []).append((thread, event))
        for thread in sample:
            for its in events_at(runs[thread], pair.points[1]):
                for other, mine in at.get((its.met, its.address >> 4), ()):
                    related = (_warp(thread, block) == _warp(other, block)) == (
                        pair.relation is Relation.SAME_WARP
                    )
                    if (
                        other != thread
                        and related
                        and self.is_race(mine, its, pair.relation)
                        and _have_met_alike(runs[other], runs[thread], mine.met)
                    ):
                        return self.told(pair, (other, thread), inputs, mine, its)
        return None

    def told(
        self, pair: Pair, threads: tuple[Dim, Dim], inputs: Mapping[str, int], mine: Event, its: Event
    ) -> Race:
        place = self._place(max(mine.address, its.address), mine.access.array)
        if mine.access.action is Action.READ:
            mine, its, threads = its, mine, (threads[1], threads[0])
        points, actions = (mine.access.point, its.access.point), (mine.access.action, its.access.action)
        return Race(points, actions, threads, self.block, pair.relation, place, inputs)

    def _place(self, address: int, array: Array | None) -> str:
        if array is not None:
            offset = address % _POINTER
            return f"'{array}' + {offset - _POINTER if offset >= _POINTER // 2 else offset}"
        placed = self.kernel.layout.at(address)
        return "shared memory" if placed is None else f"'{placed.name}' + {address - placed.start}"

    def is_race(self, mine: Event, its: Event, relation: Relation) -> bool:
        if relation is not Relation.OTHER_BLOCKS and mine.met != its.met:
            return False
        if relation is Relation.SAME_WARP and mine.met_in_warp != its.met_in_warp:
            return False
        if mine.access.strong and its.access.strong:
            return False
        if mine.address >= its.address + its.access.size or its.address >= mine.address + mine.access.size:
            return False
        stores = mine.access.action is Action.WRITE and its.access.action is Action.WRITE
        return not stores or self._surely_differ(mine.value, its.value)

    def _surely_differ(self, one: Bits | None, two: Bits | None) -> bool:
        """Tell whether two stored values are of different data: other numbers, or other places of global memory."""
        if one is None or two is None or one is two:
            return False
        return self._is_of_thread(one) and self._is_of_thread(two)

    def _is_of_thread(self, value: Bits) -> bool:
        """Tell whether a value has nothing that lanes exchange or that comes from shared memory: all may know it."""
        found = self._of_thread.get(value)
        if found is None:
            unknown = (each.name for each in in_order(value) if each.kind is Kind.APPLY)
            found = self._of_thread[value] = all(
                AT_THREAD not in name and not name.startswith(_SHARED_LOAD) for name in unknown
            )
        return found

    def divergence(self, open_: Disagreement) -> Divergence | None:
        """Return that two threads come to different barriers, in all settings."""
        found: Divergence | None = None
        for size, inputs in self.settings(self.block):
            fixed = [each for claim in open_.claims for each in self.fixed(claim, inputs)]
            try:
                numbers = self.kernel.questions.numbers((*open_.claims, *fixed))
            except UndecidedError:
                return None
            if numbers is None:
                return None
            one, two = self._first_apart(size, inputs) or tuple(
                thread_of(terms, numbers) for terms in open_.threads
            )
            runs = (self._run(size, one, inputs), self._run(size, two, inputs))
            points = _parting(*runs, same_warp=_warp(one, self.block) == _warp(two, self.block))
            if points is None:
                return None
            if points[1] == open_.barrier:
                points, one, two = points[::-1], two, one
            found = found or Divergence(points, open_.point, (one, two), self.block)
        return found

    def _first_apart(self, size: int, inputs: Mapping[str, int]) -> tuple[Dim, Dim] | None:
        """Return the first two of some threads that come to different barriers."""
        first, *others = _spread(self.block)
        for other in others:
            runs = (self._run(size, first, inputs), self._run(size, other, inputs))
            if _parting(*runs, same_warp=_warp(first, self.block) == _warp(other, self.block)) is not None:
                return first, other
        return None

    def _run(self, size: int, thread: Dim, inputs: Mapping[str, int], *, with_values: bool = False) -> Run:
        key = (size, thread, with_values)
        if key not in self._runs:
            program = self.program(with_values=with_values)
            self._runs[key] = Replay(program, inputs, self.block, thread).result()
        return self._runs[key]


def _is_alone(linear: Linear | None) -> bool:
    """Tell whether a number is one parameter as it is."""
    return linear is not None and not linear.constant and [factor for _, factor in linear.terms] == [1]


def _admitted(size: int, value: Value) -> int:
    """Return a number near a size that a parameter may have."""
    number = min(max(size, value.low), value.high)
    if value.modulus > 1:
        number += (value.residue - number) % value.modulus
        number -= value.modulus if number > value.high else 0
    return number


def thread_of(terms: ThreadTerms, numbers: Numbers) -> Dim:
    x, y, z = (
        axis.number if axis.constant is not None else numbers.get(axis, 0) for axis in terms.index.axes
    )
    return x, y, z


def _spread(block: Dim) -> Iterator[Dim]:
    """Yield some lanes of each warp."""
    x, y, z = block
    for number in range(x * y * z):
        if number % 32 in _LANES:
            yield number % x, number // x % y, number // (x * y)


def _warp(thread: Dim, block: Dim) -> int:
    return (thread[0] + block[0] * (thread[1] + block[1] * thread[2])) // 32


def events_at(run: Run, point: int) -> list[Event]:
    return [event for event in run.events if event.access.point == point]


def _have_met_alike(one: Run, two: Run, count: int) -> bool:
    return one.meetings[:count] == two.meetings[:count]


def _parting(one: Run, two: Run, *, same_warp: bool) -> tuple[int, int] | None:
    """Return the barriers at which two threads wait for each other in vain."""
    for mine, its in zip(one.meetings, two.meetings, strict=False):
        if mine != its:
            apart = same_warp or (one.complete and two.complete and len(one.meetings) != len(two.meetings))
            return (mine, its) if apart else None
    return None
