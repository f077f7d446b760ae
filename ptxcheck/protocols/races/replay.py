"""One thread executed with numbers, to confirm what the solver has found.

Property: each `Event` is an access that the thread makes in a run with the given parameters and block, after the
meetings that it names, whatever is loaded from memory.

Argument: instructions are executed one after the other with the semantics of `semantics`; what is loaded is an
unknown, as is what is computed from it. Where a branch depends on one, the run goes on where its ways meet again, and
what they may have changed is unknown; accesses on these ways are no events. The run ends where the ways have a loop or
a meeting, as threads may wait in loops for each other; where a meeting itself depends on an unknown; and after a number
of steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...cfg import AtomKind, EdgeKind, Name
from ...ir import Address, Operand, Register, Vector
from ...terms.bit_pool import Pool
from ...terms.bitvectors import Bits
from ...terms.effort import Work
from .accesses import Access
from .geometry import Geometry, ThreadIndex
from .program import Program, Step
from .semantics import Call, Sources, computed, fitted

AT_THREAD = "@"
"""In the name of what an instruction gives that another thread may or may not get, too: lanes exchange, atomics."""
_MOST_STEPS = 15_000


@dataclass(frozen=True, slots=True)
class Event:
    """An access in a run of one thread."""

    access: Access
    address: int
    value: Bits | None
    """What a write stores, if that was asked for."""
    met: int
    """How many barriers of the block came before."""
    met_in_warp: int
    """How many meetings of the warp came before."""


@dataclass
class Run:
    """What one thread does."""

    events: list[Event] = field(default_factory=list)
    meetings: list[int] = field(default_factory=list)
    """The points of the barriers of the block, in order."""
    complete: bool = False
    """Whether the thread came to its end."""


class Replay:
    """One thread of one launch."""

    def __init__(
        self,
        program: Program,
        inputs: Mapping[str, int],
        block: tuple[int, int, int],
        thread: tuple[int, int, int],
    ) -> None:
        self._program = program
        self._kernel = kernel = program.kernel
        self.pool: Pool = kernel.pool
        self._inputs = inputs
        self._geometry = Geometry(block)
        x, y, z = thread
        pool = kernel.pool
        number = x + block[0] * (y + block[1] * z)
        axes = (pool.number(x, 32), pool.number(y, 32), pool.number(z, 32))
        self._index = ThreadIndex(axes, pool.number(number, 32))
        self._values: dict[int, Bits] = {}
        """What registers hold, by their places in the program."""
        self._sources = Sources(kernel.pool, self._register, self._special, kernel.layout.start)
        self._steps = 0
        self._in_warp = 0
        self.run = Run()

    def result(self) -> Run:
        """Execute the thread."""
        cfg = self._kernel.cfg
        block: int | None = cfg.order[0]
        while block != cfg.exit:
            if block is None or not self._through(block):
                return self.run
            following = self._next(block)
            block = self._behind(block) if following is None else following
        self.run.complete = True
        return self.run

    def _through(self, block: int) -> bool:
        """Execute a block; False where that is not known to its end."""
        true, false = self.pool.true, self.pool.false
        points = len(self._kernel.cfg.blocks[block].points)
        self._steps += points
        self._kernel.effort.spend(Work.REPLAY, points)
        if self._steps > _MOST_STEPS or self._kernel.effort.is_over:
            return False
        for step in self._program.steps(block):
            runs = true if step.guard is None else self._guard(step.guard, step.negated)
            if runs is false:
                continue
            if step.meets_warp:
                if runs is not true:
                    return False
                self._in_warp += 1
                if step.meets_block:
                    self.run.meetings.append(step.point)
            if step.access is not None:
                if runs is not true:
                    continue
                self._note(step, step.access)
            if step.written:
                self._execute(step, runs)
        return True

    def _guard(self, place: int, negated: bool) -> Bits:
        test = fitted(self.pool, self._at(place), 1)
        return self.pool.not_(test) if negated else test

    def _next(self, block: int) -> int | None:
        """Return the block that the thread goes to, None when that is not known."""
        cfg = self._kernel.cfg
        for edge in cfg.edges_from(block):
            if edge.kind is EdgeKind.INDIRECT:
                index = self.operand(cfg.instructions[cfg.blocks[block].last].operands[0], 32).constant
                if index is None:
                    return None
                if index in edge.cases:
                    return edge.target
                continue
            if edge.kind is EdgeKind.UNKNOWN:
                return None
            if edge.guard is None:
                return edge.target
            test = fitted(self.pool, self._register(edge.guard.register), 1).constant
            if test is None:
                return None
            if bool(test) != edge.guard.negated:
                return edge.target
        return None

    def _behind(self, block: int) -> int | None:
        """Return where the ways out of a block meet again, having forgotten what they change; None where not known."""
        join = self._kernel.cfg.postdominators.parent[block]
        if join is None or join == self._kernel.cfg.exit:
            return None
        ways = self._ways(block, join)
        if ways is None:
            return None
        for each in sorted(ways):
            for step in self._program.steps(each):
                if step.meets_warp:
                    return None
                for written in step.written:
                    register = written.register
                    name = f"{register.name}.{register.scope}{AT_THREAD}{block}"
                    name += f".{self._index.number.number}.{len(self.run.meetings)}.{self._steps}"
                    self._values[written.place] = self.pool.variable(name, step.width)
        return join

    def _ways(self, block: int, join: int) -> frozenset[int] | None:
        """Return the blocks between a branch and where its ways meet again; None where they have a loop."""
        cfg = self._kernel.cfg
        seen: set[int] = set()
        work = [block]
        while work:
            for edge in cfg.edges_from(work.pop()):
                if edge.kind is EdgeKind.UNKNOWN or cfg.dominators.dominates(edge.target, edge.source):
                    return None
                if edge.target not in (join, *seen) and edge.kind is not EdgeKind.TRAP:
                    seen.add(edge.target)
                    work.append(edge.target)
        return frozenset(seen)

    def _note(self, step: Step, access: Access) -> None:
        if self._index.number.number % 32 >= access.lanes:
            return
        key = (~step.point, 0, self._read(step.accessed))
        found = self._program.results.get(key)
        if found is None:
            stored = self._program.stored(access)
            values = [] if stored is None else [self.operand(stored, 8 * access.size)]
            found = (self._address(access.address, access.address_bits), *values)
            self._program.note(key, found)
        address, *values = found
        if address.constant is not None:
            value = values[0] if values else None
            event = Event(access, address.constant, value, len(self.run.meetings), self._in_warp)
            self.run.events.append(event)

    def _read(self, places: tuple[int, ...]) -> tuple[Bits, ...]:
        values = self._values
        try:
            return tuple([values[place] for place in places])
        except KeyError:
            return tuple([self._at(place) for place in places])

    def _address(self, operand: Operand, width: int = 32) -> Bits:
        if not isinstance(operand, Address):
            return self.operand(operand, width)
        offset = self.pool.number(operand.offset, width)
        return offset if operand.base is None else self.pool.add(self.operand(operand.base, width), offset)

    def _execute(self, step: Step, runs: Bits) -> None:
        for written, new in zip(step.written, self._results(step), strict=True):
            if runs is not self.pool.true:
                old = fitted(self.pool, self._at(written.place), new.width)
                self._values[written.place] = self.pool.choice(runs, new, old)
            else:
                self._values[written.place] = new

    def _results(self, step: Step) -> tuple[Bits, ...]:
        """Return what a step leaves in the registers that it writes."""
        if step.parameters is not None:
            return tuple(
                self._parameter(name) or self._result(step, written.part)
                for name, written in zip(step.parameters, step.written, strict=True)
            )
        if not step.repeats:
            return tuple([self._result(step, written.part) for written in step.written])
        key = (step.point, len(self.run.meetings) if step.loads else 0, self._read(step.sources))
        found = self._program.results.get(key)
        if found is None:
            found = tuple([self._result(step, written.part) for written in step.written])
            self._program.note(key, found)
        return found

    def _result(self, step: Step, part: int) -> Bits:
        found = computed(Call(self.pool, step.instruction, part, self.operand))
        return self._unknown(step, part) if found is None else found

    def _parameter(self, name: Name) -> Bits | None:
        value = self._kernel.facts.value_of(name)
        if value is None or value.linear is None or len(value.linear.terms) != 1:
            return None
        (atom, factor) = value.linear.terms[0]
        if atom.kind is not AtomKind.PARAMETER or factor != 1 or value.linear.constant:
            return None
        number = self._inputs.get(str(atom))
        if number is None:
            return self.pool.variable(str(atom), value.width, value.low, value.high)
        return self.pool.number(number, value.width)

    def _unknown(self, step: Step, part: int) -> Bits:
        """Return what is only known by where it comes from: equal terms are equal numbers."""
        sources: list[Bits] = []
        for operand in step.instruction.operands[1:]:
            for each in (operand,) if not isinstance(operand, Vector) else operand.elements:
                sources.append(self._address(each) if isinstance(each, Address) else self.operand(each, 64))
        name = f"{step.instruction.operation.text}.{part}"
        if not step.repeats:
            name += f"{AT_THREAD}{step.point}.{self._index.number.number}.{len(self.run.events)}"
        elif step.loads:
            name += f".{len(self.run.meetings)}"
        return self.pool.apply(name, step.width, *sources)

    def _register(self, register: Register) -> Bits:
        return self._at(self._program.place_of(register))

    def _at(self, place: int) -> Bits:
        """Return what a place holds: a register that was never written is a variable."""
        found = self._values.get(place)
        if found is None:
            leaf = self._program.leaf(place)
            if isinstance(leaf, str):
                found = self._special_value(leaf)
            else:
                found = self.pool.variable(f"{leaf.name}.{leaf.scope}", 64)
            self._values[place] = found
        return found

    def _special(self, name: str) -> Bits:
        return self._at(self._program.place(name))

    def _special_value(self, name: str) -> Bits:
        known = self._geometry.special(self.pool, self._index, name)
        if known is not None:
            return known
        number = self._inputs.get(name)
        if number is not None:
            return self.pool.number(number, 32)
        return self.pool.variable(f"{name}", 32)

    def operand(self, operand: Operand | None, width: int) -> Bits:
        """Return what an operand is."""
        found = self._sources.read(operand, width)
        return self.pool.apply(f"operand {operand!r}", width) if found is None else found
