"""What a kernel takes its parameters for, as far as its text shows: pointers, divisors, amounts of shifts, bytes.

Property: none that a verdict rests on: these are guesses at what a host would pass.

Argument: parameters are followed through sums and copies to where they are an address, an amount of a shift, a factor
of a high product, or compared with a constant.

Not covered: what a parameter is used for behind memory or loops of other shapes.

For runs in which the host passes numbers (`machine.host`): these should be such as a host would pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ....cfg.cfg import Cfg
from ....cfg.definitions import Name
from ....cfg.facts import Facts
from ....cfg.linear import Atom, AtomKind, Linear
from ....ir import (
    Address,
    Immediate,
    Instruction,
    Operand,
    Register,
    Vector,
)
from ....opcodes.op import Op
from ....opcodes.spec import Trait

_OWN = (".param", ".shared", ".local")
_PASSING = frozenset({Op.MOV, Op.SELP, Op.CVT, Op.CVTA, Op.ADD, Op.SUB, Op.MIN, Op.MAX})
"""Operations of which one operand, changed a little, may be the result."""
_WRITING = frozenset({Trait.STORE, Trait.ATOMIC, Trait.ASYNC})
_ADDRESS = 8


@dataclass(frozen=True, slots=True)
class Divisor:
    """Parameters of a division by a high product and a shift: where the multiplier is, its bytes, and the shift."""

    multiplier: int
    size: int
    shift: int


@dataclass(frozen=True, slots=True)
class ParameterKinds:
    """Offsets in parameter space by what is found there."""

    pointers: frozenset[int]
    written: frozenset[int]
    """Pointers to what the kernel may write."""
    divisors: tuple[Divisor, ...]
    shifts: frozenset[int]
    """Amounts of shifts, those of divisors left out."""
    bytes: frozenset[int]
    """What decides how many bytes an mbarrier expects, or a copy moves."""
    flags: frozenset[int]
    """What is compared with constants for equality."""
    packed: frozenset[int]
    """What is read as one number and taken apart into two."""
    pointer_loads: frozenset[int]
    """Points of loads that give pointers."""
    written_loads: frozenset[int]
    """Those of pointers to what the kernel may write."""


def parameter_kinds(cfg: Cfg, facts: Facts, starts: Mapping[str, int]) -> ParameterKinds:
    """Return what a kernel takes its parameters for; `starts` has their offsets by name."""
    found = _Finder(cfg, facts, starts)
    found.look()
    divisors, shifts = _divisors(found.multipliers, found.shifts)
    return ParameterKinds(
        frozenset(found.pointers), frozenset(found.written), divisors, shifts, frozenset(found.bytes),
        frozenset(found.flags), frozenset(found.packed), frozenset(found.pointer_loads),
        frozenset(found.written_loads),
    )  # fmt: skip


class _Finder:
    def __init__(self, cfg: Cfg, facts: Facts, starts: Mapping[str, int]) -> None:
        self._cfg = cfg
        self._facts = facts
        self._starts = starts
        self.pointers: set[int] = set()
        self.written: set[int] = set()
        self.multipliers: set[tuple[int, int]] = set()
        self.shifts: set[int] = set()
        self.bytes: set[int] = set()
        self.flags: set[int] = set()
        self.packed: set[int] = set()
        self.pointer_loads: set[int] = set()
        self.written_loads: set[int] = set()

    def look(self) -> None:
        for point, instruction in enumerate(self._cfg.instructions):
            if self._cfg.connected(point):
                self._look_at(point, instruction)

    def _look_at(self, point: int, instruction: Instruction) -> None:
        operation = instruction.operation
        if not operation.slots.get("space", "").startswith(_OWN):
            self._look_at_addresses(point, instruction)
        for spec, operand in zip(operation.operand_specs, instruction.operands, strict=False):
            if spec.name in ("tx_count", "size"):
                self.bytes |= {at for at, _ in self._behind(point, operand)[0]}
        match operation.op:
            case Op.MUL if operation.has(".hi"):
                for operand in instruction.operands[1:3]:
                    self.multipliers |= set(self._named(point, operand))
            case Op.SHL | Op.SHR:
                self.shifts |= {at for at, _ in self._named(point, instruction.operands[2])}
            case Op.MOV if isinstance(instruction.operands[0], Vector):
                named = self._named(point, instruction.operands[1])
                self.packed |= {at for at, size in named if size == _ADDRESS}
            case Op.SETP if operation.has(".eq") or operation.has(".ne"):
                a, b = instruction.operands[1:3]
                for one, other in ((a, b), (b, a)):
                    if isinstance(other, Immediate):
                        self.flags |= {at for at, _ in self._named(point, one)}

    def _look_at_addresses(self, point: int, instruction: Instruction) -> None:
        writes = not instruction.operation.traits.isdisjoint(_WRITING)
        for operand in instruction.operands:
            if isinstance(operand, Address) and operand.base is not None:
                found, loads = self._behind(point, operand.base)
                named = {at for at, size in found if size == _ADDRESS}
                self.pointers |= named
                self.pointer_loads |= loads
                if writes:
                    self.written |= named
                    self.written_loads |= loads

    def _named(self, point: int, operand: Operand | None) -> Iterator[tuple[int, int]]:
        """Yield the parameter that an operand is, with its bytes."""
        form = self._facts.value(point, operand).linear
        if form is not None and len(form.terms) == 1 and form.terms[0][1] == 1 and not form.constant:
            yield from self._parameter(form.terms[0][0])

    def _parameter(self, atom: Atom) -> Iterator[tuple[int, int]]:
        start = self._starts.get(atom.name)
        if atom.kind is AtomKind.PARAMETER and start is not None:
            yield start + atom.at, atom.width // 8

    def _behind(self, point: int, operand: Operand | None) -> tuple[set[tuple[int, int]], set[int]]:
        """Return the parameters and loads that a number is computed from by what keeps addresses and sums."""
        waiting = [self._facts.value(point, operand).linear]
        seen = set[Atom]()
        found, loads = set[tuple[int, int]](), set[int]()
        while waiting:
            form = waiting.pop()
            for atom, factor in () if form is None else form.terms:
                if factor != 1 or atom in seen:
                    continue
                seen.add(atom)
                found.update(self._parameter(atom))
                if atom.kind is AtomKind.DEFINITION and self._loads(atom.at):
                    loads.add(atom.at)
                waiting.extend(self._inputs(atom))
        return found, loads

    def _loads(self, point: int) -> bool:
        operation = self._cfg.instructions[point].operation
        return Trait.LOAD in operation.traits and not operation.slots.get("space", "").startswith(_OWN)

    def _inputs(self, atom: Atom) -> Iterator[Linear | None]:
        register = (
            Register(atom.name, atom.scope) if atom.kind in (AtomKind.DEFINITION, AtomKind.PHI) else None
        )
        if register is None:
            return
        if atom.kind is AtomKind.PHI:
            for _, name in self._facts.merged(Name(register, -2 - atom.at)):
                yield self._linear(name)
        elif self._cfg.instructions[atom.at].operation.op in _PASSING:
            for operand in self._cfg.instructions[atom.at].operands[1:]:
                yield self._facts.value(atom.at, operand).linear

    def _linear(self, name: Name) -> Linear | None:
        value = self._facts.value_of(name)
        return None if value is None else value.linear


def _divisors(
    multipliers: Iterable[tuple[int, int]], shifts: set[int]
) -> tuple[tuple[Divisor, ...], frozenset[int]]:
    """Return the divisions, and the amounts of shifts that are of none."""
    found = []
    for at, size in sorted(multipliers):
        shift = next((at + more for more in (size, 2 * size) if at + more in shifts and more < 9), None)
        if shift is not None:
            found.append(Divisor(at, size, shift))
    return tuple(found), frozenset(shifts) - {each.shift for each in found}
