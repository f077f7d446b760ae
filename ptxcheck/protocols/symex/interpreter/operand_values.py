"""Values of operands: registers, special registers, numbers, addresses and parameters, for a set of threads.

Property: `Operands.value` returns what each of the threads reads in the operand, as a number, a number for each thread,
or a symbol; SplitError where they hold different symbols.

Argument: registers are those of the register file; what nobody has written is a symbol of its own, and special
registers are given by the shape of the launch, or are symbols with the same name for all that read one number.

Not covered: operands of kinds that no followed instruction has: these are symbols that may differ in every thread.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....cfg.optypes import Typing
from ....cfg.special import changes, special_name, special_uniformity
from ....cfg.uniform import Uniformity
from ....ir import (
    Address,
    Component,
    FloatImmediate,
    Guard,
    Immediate,
    Negated,
    Operand,
    Register,
    Symbol,
    SymbolOffset,
)
from ..slice.layout import Layout
from ..values import lane_arithmetic as lanes
from ..values.kinds import Kind
from ..values.register_file import RegisterFile, SplitError
from ..values.substitution import with_pins
from ..values.symbol import LANE, WARP, Atom, Form, Value
from ..values.trace import Shape, ThreadSet
from .decider import Decider
from .host import Host
from .observation import Observation
from .special import special_register
from .visits import Visits

_MASK64 = (1 << 64) - 1
_DEEP = 8
"""Symbols nested deeper are computed again with what the decisions have made numbers."""


class Operands:
    """What the threads of one CTA read."""

    def __init__(
        self,
        layout: Layout,
        shape: Shape,
        rank: int,
        registers: RegisterFile,
        decider: Decider,
        visits: Visits,
        *,
        observation: Observation | None,
        host: Host | None,
    ) -> None:
        self._layout = layout
        self._shape = shape
        self._rank = rank
        self._registers = registers
        self._decider = decider
        self._visits = visits
        self._observation = observation
        self._host = host
        self._specials: dict[tuple[str, str], Value] = {}

    def read(self, register: Register, threads: ThreadSet) -> Value:
        """Return the value of a register. Raises SplitError."""
        value = self._registers.read(register, threads)
        if value is None:
            if special_name(register) is None:
                return lanes.undefined(register)
            return self._special(register.name, "")
        if isinstance(value, Form) and any(name.depth > _DEEP for name, _ in value.terms):
            self.note_use(value)
            return self._decider.reduced(value)
        return value

    def value(self, operand: Operand, threads: ThreadSet) -> Value:
        """Return the value of an operand; for an address the number in the brackets. Raises SplitError."""
        match operand:
            case Register():
                return self.read(operand, threads)
            case Immediate(value=value):
                return value & _MASK64
            case FloatImmediate(bits=bits):
                return bits
            case Component(base=base, field=name):
                return self._special(base.name, name)
            case Negated(operand=inner):
                return lanes.negate(self.read(inner, threads))
            case Symbol():
                return self._layout.address(operand, self._rank)
            case SymbolOffset(symbol=symbol, offset=offset):
                return lanes.add(self._layout.address(symbol, self._rank), offset & _MASK64, 64)
            case Address(base=base, offset=offset):
                if base is None:
                    return offset
                start = self.value(base, threads)
                return lanes.add(start, offset & _MASK64, 64) if offset else start
            case _:
                return lanes.opaque(Kind.OPERAND, differs=LANE | WARP)

    def truths(self, guard: Guard, threads: ThreadSet) -> Iterator[tuple[ThreadSet, Value]]:
        """Yield whether a guard holds, for each set of threads that holds one value of its predicate."""
        for held, value in self.pieces(guard.register, threads):
            yield held, lanes.negate(value) if guard.negated else value

    def pieces(self, register: Register, threads: ThreadSet) -> list[tuple[ThreadSet, Value]]:
        """Return what threads hold in a register, by the sets that hold one value."""
        try:
            return [(threads, self.read(register, threads))]
        except SplitError as split:
            return [(part, self.read(register, part)) for part in split.parts]

    def values(self, operand: Operand, threads: ThreadSet) -> Iterator[tuple[ThreadSet, Value]]:
        """Yield the value of an operand for each set of threads that holds one symbol, or numbers."""
        try:
            yield threads, self.value(operand, threads)
        except SplitError as split:
            rest = threads & ~sum(split.parts)
            for part in (*split.parts, rest) if rest else split.parts:
                yield part, self.value(operand, part)

    def parameter(self, offset: int, types: Typing) -> Value:
        """Return a parameter word: a number that is given, or that the host passes, else a symbol."""
        size = types.width // 8
        found = self._layout.parameter(offset, size)
        if self._host is None or isinstance(found, int):
            return found
        number = self._host.parameter(offset, size, is_float=not types.is_integer)
        return found if number is None else number

    def note_use(self, value: Value) -> None:
        """Note what an operand depends on, before decisions make it a number."""
        if self._observation is not None:
            self._observation.use(value)

    def _special(self, name: str, axis: str) -> Value:
        if changes(name):
            differs = WARP if special_uniformity(name) <= Uniformity.WARP else LANE | WARP
            return lanes.opaque(Kind.VOLATILE, name, self._visits.count(("special", name)), differs=differs)
        known = self._specials.get((name, axis))
        if known is None:
            found = self._with_grid(special_register(name, axis, self._shape, self._rank))
            known = (
                found if found is not None else lanes.opaque(Kind.UNKNOWN, name + axis, differs=LANE | WARP)
            )
            self._specials[(name, axis)] = known
        return known

    def _with_grid(self, special: Value | None) -> Value | None:
        """Return a special register with the numbers of the grid that the host has launched."""
        if self._host is None or not isinstance(special, Form):
            return special
        known: dict[Atom, int] = {}
        for name, _ in special.terms:
            register, _, axis = str(name[1]).partition(".")
            number = self._host.special(register, "xyz".index(axis)) if axis else None
            if number is not None:
                known[name] = number
        return with_pins(special, known, self._shape.threads)
