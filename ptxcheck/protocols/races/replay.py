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
from ...cfg.definitions import part_of
from ...cfg.optypes import typing_of
from ...cfg.special import special_name
from ...ir import Address, Instruction, Operand, Register, Vector
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ...terms.bit_pool import Pool
from ...terms.bitvectors import Bits
from .accesses import Access
from .geometry import Geometry, ThreadIndex
from .kernel import Kernel
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
        kernel: Kernel,
        accesses: Mapping[int, Access],
        meetings: frozenset[int],
        warp_meetings: frozenset[int],
        inputs: Mapping[str, int],
        block: tuple[int, int, int],
        thread: tuple[int, int, int],
    ) -> None:
        self._kernel = kernel
        self.pool: Pool = kernel.pool
        self._accesses = accesses
        self._meetings = meetings
        self._warp_meetings = warp_meetings
        self._inputs = inputs
        self._geometry = Geometry(block)
        x, y, z = thread
        pool = kernel.pool
        number = x + block[0] * (y + block[1] * z)
        axes = (pool.number(x, 32), pool.number(y, 32), pool.number(z, 32))
        self._index = ThreadIndex(axes, pool.number(number, 32))
        self._registers: dict[Register, Bits] = {}
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
        cfg = self._kernel.cfg
        for point in cfg.blocks[block].points:
            instruction = cfg.instructions[point]
            self._steps += 1
            if self._steps > _MOST_STEPS:
                return False
            runs = self._guard(instruction)
            if runs is self.pool.false or Trait.BRANCH in instruction.operation.traits:
                continue
            if point in self._meetings or point in self._warp_meetings:
                if runs is not self.pool.true:
                    return False
                self._in_warp += 1
                if point in self._meetings:
                    self.run.meetings.append(point)
            if point in self._accesses:
                if runs is not self.pool.true:
                    continue
                self._note(point)
            self._execute(point, instruction, runs)
        return True

    def _guard(self, instruction: Instruction) -> Bits:
        if instruction.guard is None:
            return self.pool.true
        test = fitted(self.pool, self._register(instruction.guard.register), 1)
        return self.pool.not_(test) if instruction.guard.negated else test

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
        cfg = self._kernel.cfg
        for each in sorted(ways):
            for point in cfg.blocks[each].points:
                if point in self._meetings or point in self._warp_meetings:
                    return None
                for register in cfg.instructions[point].writes():
                    name = f"{register.name}.{register.scope}{AT_THREAD}{block}"
                    name += f".{self._index.number.number}.{len(self.run.meetings)}.{self._steps}"
                    self._registers[register] = self.pool.variable(name, _width(cfg.instructions[point]))
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

    def _note(self, point: int) -> None:
        access = self._accesses[point]
        address = self._address(access.address).constant
        lane = self._index.number.number % 32
        if address is None or lane >= access.lanes:
            return
        value = None if access.value is None else self.operand(access.value, 8 * access.size)
        self.run.events.append(Event(access, address, value, len(self.run.meetings), self._in_warp))

    def _address(self, operand: Operand) -> Bits:
        if not isinstance(operand, Address):
            return self.operand(operand, 32)
        offset = self.pool.number(operand.offset, 32)
        return offset if operand.base is None else self.pool.add(self.operand(operand.base, 32), offset)

    def _execute(self, point: int, instruction: Instruction, runs: Bits) -> None:
        written = list(dict.fromkeys(instruction.writes()))
        for register, new in [(each, self._result(point, instruction, each)) for each in written]:
            if runs is not self.pool.true:
                new = self.pool.choice(runs, new, fitted(self.pool, self._register(register), new.width))
            self._registers[register] = new

    def _result(self, point: int, instruction: Instruction, register: Register) -> Bits:
        if instruction.operation.op is Op.LD and instruction.operation.slots.get("space", "").startswith(
            ".param"
        ):
            known = self._parameter(point, register)
            if known is not None:
                return known
        part = part_of(instruction.operands[0], register)
        found = computed(Call(self.pool, instruction, part, self.operand))
        return self._unknown(point, instruction, part) if found is None else found

    def _parameter(self, point: int, register: Register) -> Bits | None:
        value = self._kernel.facts.value_of(Name(register, point))
        if value is None or value.linear is None or len(value.linear.terms) != 1:
            return None
        (atom, factor) = value.linear.terms[0]
        if atom.kind is not AtomKind.PARAMETER or factor != 1 or value.linear.constant:
            return None
        number = self._inputs.get(str(atom))
        if number is None:
            return self.pool.variable(str(atom), value.width, value.low, value.high)
        return self.pool.number(number, value.width)

    def _unknown(self, point: int, instruction: Instruction, part: int) -> Bits:
        """Return what is only known by where it comes from: equal terms are equal numbers."""
        width = _width(instruction)
        sources: list[Bits] = []
        for operand in instruction.operands[1:]:
            for each in (operand,) if not isinstance(operand, Vector) else operand.elements:
                sources.append(self._address(each) if isinstance(each, Address) else self.operand(each, 64))
        name = f"{instruction.operation.text}.{part}"
        if Trait.PURE not in instruction.operation.traits and instruction.operation.op not in (
            Op.LD,
            Op.LD_NC,
        ):
            name += f"{AT_THREAD}{point}.{self._index.number.number}.{len(self.run.events)}"
        elif Trait.LOAD in instruction.operation.traits:
            name += f".{len(self.run.meetings)}"
        return self.pool.apply(name, width, *sources)

    def _register(self, register: Register) -> Bits:
        special = special_name(register)
        if special is not None:
            return self._special(special)
        found = self._registers.get(register)
        if found is None:
            found = self.pool.variable(f"{register.name}.{register.scope}", 64)
        return found

    def _special(self, name: str) -> Bits:
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


def _width(instruction: Instruction) -> int:
    """Return the width of what an instruction leaves in a register."""
    types = typing_of(instruction.operation)
    width = max(32, types.width) if types.width > 1 else 1
    return 2 * width if types.has(".wide") else width
