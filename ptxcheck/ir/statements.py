"""The IR: what a PTX module says, in order, immutable. Program points are indices of instructions.

Spans do not take part in equality, so that printing and parsing again gives an equal module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import chain
from typing import NamedTuple, TypeAlias

from .opcodes.spec import (
    Direction,
    OperandKind,
    OperandSpec,
    Operation,
    Trait,
)
from .opcodes.target import Target, Version
from .source import Source, Span, SyntaxProblem

# ---------------------------------------------------------------- operands


class Register(NamedTuple):
    """A register or special register. `scope` tells registers of one name in nested blocks apart.

    A tuple, because analyses look registers up by the million.
    """

    name: str
    scope: int = 0


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable, parameter, label or function by name; `scope` as for registers."""

    name: str
    scope: int = 0


@dataclass(frozen=True, slots=True)
class Immediate:
    """An integer constant, after folding of constant expressions."""

    value: int


@dataclass(frozen=True, slots=True)
class FloatImmediate:
    """A floating-point constant: its bits, as a 32- or 64-bit number (decimal literals are 64-bit)."""

    bits: int
    width: int


@dataclass(frozen=True, slots=True)
class Component:
    """One element of a vector register: `%tid.x`, `v.w`."""

    base: Register
    field: str


@dataclass(frozen=True, slots=True)
class Sink:
    """The `_` destination."""


@dataclass(frozen=True, slots=True)
class Negated:
    """A negated predicate source `!p`."""

    operand: Register


@dataclass(frozen=True, slots=True)
class Pair:
    """A destination pair `p|q`."""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class SymbolOffset:
    """`symbol+constant` outside brackets (in `mov`)."""

    symbol: Symbol
    offset: int


@dataclass(frozen=True, slots=True)
class Vector:
    """`{a, b, c, d}`."""

    elements: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Address:
    """`[base+offset]`; base is None for `[imm]`. `extra` holds the further items of `[map, {x, y}]`."""

    base: Register | Symbol | Component | None
    offset: int = 0
    extra: tuple[Operand, ...] = ()
    unified: bool = False
    """`.unified` after the bracket: the address is the same in host and device memory."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """A parenthesised list of a call."""

    items: tuple[Operand, ...]


Operand: TypeAlias = (
    Register
    | Symbol
    | Immediate
    | FloatImmediate
    | Component
    | Sink
    | Negated
    | Pair
    | SymbolOffset
    | Vector
    | Address
    | Arguments
)


class Guard(NamedTuple):
    """`@p` or `@!p` before an instruction."""

    register: Register
    negated: bool


# ---------------------------------------------------------------- statements


@dataclass(slots=True, eq=True, unsafe_hash=True)
class Instruction:
    """One instruction. Not frozen for speed of construction only: nothing assigns to it after parsing."""

    operation: Operation
    guard: Guard | None
    operands: tuple[Operand, ...]
    start: int = field(compare=False)
    end: int = field(compare=False)

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)

    def get(self, name: str) -> Operand | None:
        """Return the operand that the table calls `name`, or None when it is not there."""
        index = self.operation.operand_index.get(name)
        return None if index is None else self.operands[index]

    def __getitem__(self, name: str) -> Operand:
        """Return the operand that the table calls `name`. Raises KeyError when it is not there."""
        return self.operands[self.operation.operand_index[name]]

    def has_trait(self, trait: Trait) -> bool:
        return trait in self.operation.traits

    def reads(self) -> Iterator[Register]:
        """Yield every register whose value the instruction uses, its guard included."""
        if self.guard is not None:
            yield self.guard.register
        for operand, direction in self._directed():
            if direction is not Direction.WRITE:
                if type(operand) is Register:
                    yield operand
                else:
                    yield from registers_of(operand)
            elif type(operand) is Address:
                yield from registers_of(operand)

    def writes(self) -> Iterator[Register]:
        """Yield every register that the instruction (re)defines, whatever its guard."""
        for operand, direction in self._directed():
            if type(operand) is Register:
                if direction is not Direction.READ:
                    yield operand
            elif direction is not Direction.READ and not isinstance(operand, Address):
                yield from registers_of(operand)

    def _directed(self) -> Iterator[tuple[Operand, Direction]]:
        specs = self.operation.operand_specs
        if len(specs) != len(self.operands):
            yield from ((operand, Direction.READ_WRITE) for operand in self.operands)
            return
        for operand, spec in zip(self.operands, specs, strict=True):
            if type(operand) is Pair and spec.second is not None:
                yield operand.first, spec.direction
                yield operand.second, spec.second.direction
            else:
                yield operand, spec.direction

    def operand_spec(self, name: str) -> OperandSpec | None:
        index = self.operation.operand_index.get(name)
        return None if index is None else self.operation.operand_specs[index]


def registers_of(operand: Operand) -> Iterator[Register]:
    """Yield the registers named anywhere in an operand."""
    match operand:
        case Register():
            yield operand
        case Component(base=base):
            yield base
        case Negated(operand=inner):
            yield inner
        case Pair(first=first, second=second):
            yield from registers_of(first)
            yield from registers_of(second)
        case Vector(elements=items) | Arguments(items=items):
            for item in items:
                yield from registers_of(item)
        case Address(base=base, extra=extra):
            if base is not None:
                yield from registers_of(base)
            for item in extra:
                yield from registers_of(item)
        case _:
            return


@dataclass(frozen=True, slots=True)
class Label:
    name: str
    scope: int = 0
    span: Span = field(default=Span(0, 0), compare=False)


@dataclass(frozen=True, slots=True)
class ScopeBegin:
    scope: int
    span: Span = field(default=Span(0, 0), compare=False)


@dataclass(frozen=True, slots=True)
class ScopeEnd:
    scope: int
    span: Span = field(default=Span(0, 0), compare=False)


class SourceLine(NamedTuple):
    """File index of `.file`, line, column."""

    file: int
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Loc:
    """A `.loc` directive: where the following instructions come from.

    `function` is the label (and offset in `.debug_str`) of the inlined function's name, `inlined_at` the
    place of the call.
    """

    place: SourceLine
    function: str | None = None
    function_offset: int = 0
    inlined_at: SourceLine | None = None
    span: Span = field(default=Span(0, 0), compare=False)


@dataclass(frozen=True, slots=True)
class Variable:
    """A declaration in a state space, `.reg` included; also a parameter of a function."""

    space: str
    """`.shared`, `.global`, `.const`, `.local`, `.param`, `.reg`, `.tex` …"""
    type: str
    name: str
    vector: str = ""
    """`.v2`, `.v4` or ""."""
    count: int | None = None
    """N of a parameterised `%r<N>`."""
    align: int | None = None
    dims: tuple[int | None, ...] = ()
    """Array extents; None for `[]`."""
    initializer: str | None = None
    """Text of the initialiser with white space normalised, or None."""
    linkage: tuple[str, ...] = ()
    """`.visible`, `.extern`, `.weak`, `.common`, in the order written."""
    attributes: tuple[str, ...] = ()
    """`.attribute(...)` items, `.ptr` and its space and alignment: normalised text of each."""
    scope: int = 0
    span: Span = field(default=Span(0, 0), compare=False)

    @property
    def size(self) -> int | None:
        """Bytes of the variable, or None when an extent is open or the type has no size."""
        width = TYPE_BYTES.get(self.type)
        if width is None:
            return None
        total = width * (int(self.vector[2:]) if self.vector else 1)
        for extent in self.dims:
            if extent is None:
                return None
            total *= extent
        return total

    @property
    def is_sized_elsewhere(self) -> bool:
        """Tell whether its bytes are not known here: `.extern`, or dynamic shared memory, which the launch sizes."""
        return not self.size or ".extern" in self.linkage


TYPE_BYTES: Mapping[str, int] = {
    ".b8": 1, ".u8": 1, ".s8": 1, ".e4m3": 1, ".e5m2": 1,
    ".b16": 2, ".u16": 2, ".s16": 2, ".f16": 2, ".bf16": 2,
    ".b32": 4, ".u32": 4, ".s32": 4, ".f32": 4, ".f16x2": 4, ".bf16x2": 4, ".tf32": 4,
    ".b64": 8, ".u64": 8, ".s64": 8, ".f64": 8, ".f32x2": 8,
    ".b128": 16,
    ".texref": 8, ".samplerref": 8, ".surfref": 8,
}  # fmt: skip
"""Size in bytes of each fundamental type (PTX ISA 5.2)."""


@dataclass(frozen=True, slots=True)
class Directive:
    """Any other directive, as its keyword and normalised text (`.pragma "nounroll"`, `.callprototype …`)."""

    keyword: str
    text: str
    label: str | None = None
    """Label in front of `.branchtargets`, `.calltargets`, `.callprototype`."""
    names: tuple[str, ...] = ()
    """Labels or functions it lists, in order."""
    span: Span = field(default=Span(0, 0), compare=False)


Statement: TypeAlias = Instruction | Label | ScopeBegin | ScopeEnd | Loc | Variable | Directive


@dataclass(frozen=True)
class Body:
    """The statements of one function, and what derives from them."""

    statements: tuple[Statement, ...]
    problems: tuple[SyntaxProblem, ...] = field(default=(), compare=False)

    @cached_property
    def instructions(self) -> tuple[Instruction, ...]:
        """All instructions in order; the index in this tuple is the program point."""
        return tuple(s for s in self.statements if type(s) is Instruction)

    @cached_property
    def labels(self) -> Mapping[tuple[str, int], int]:
        """Point of the instruction after each label (name, scope); may equal the number of instructions."""
        found: dict[tuple[str, int], int] = {}
        point = 0
        for statement in self.statements:
            if type(statement) is Instruction:
                point += 1
            elif isinstance(statement, Label):
                found[(statement.name, statement.scope)] = point
        return found

    @cached_property
    def locs(self) -> tuple[Loc | None, ...]:
        """The `.loc` in force at each point."""
        current: Loc | None = None
        found: list[Loc | None] = []
        for statement in self.statements:
            if type(statement) is Instruction:
                found.append(current)
            elif type(statement) is Loc:
                current = statement
        return tuple(found)

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """Declarations in the body, registers included."""
        return tuple(s for s in self.statements if isinstance(s, Variable))

    @cached_property
    def directives(self) -> tuple[Directive, ...]:
        return tuple(s for s in self.statements if isinstance(s, Directive))

    @cached_property
    def points_by_operation(self) -> Mapping[Operation, tuple[int, ...]]:
        """Points of each operation, operations in order of their first point."""
        found: dict[Operation, list[int]] = {}
        for point, instruction in enumerate(self.instructions):
            points = found.get(instruction.operation)
            if points is None:
                found[instruction.operation] = [point]
            else:
                points.append(point)
        return {operation: tuple(points) for operation, points in found.items()}

    def points_where(self, holds: Callable[[Operation], bool]) -> tuple[int, ...]:
        """Return the points, in order, whose operation passes a test; each operation is tested once."""
        chosen = [points for operation, points in self.points_by_operation.items() if holds(operation)]
        return chosen[0] if len(chosen) == 1 else tuple(sorted(chain.from_iterable(chosen)))

    @cached_property
    def distinct_operands(self) -> tuple[tuple[int, Operand], ...]:
        """Each operand object with the point where it is first used, guards first; the parser shares them."""
        seen: set[int] = set()
        found: list[tuple[int, Operand]] = []
        for point, instruction in enumerate(self.instructions):
            guard = instruction.guard
            if guard is not None and id(guard.register) not in seen:
                seen.add(id(guard.register))
                found.append((point, guard.register))
            for operand in instruction.operands:
                if id(operand) not in seen:
                    seen.add(id(operand))
                    found.append((point, operand))
        return tuple(found)

    @cached_property
    def register_types(self) -> Mapping[Register, str]:
        """Declared type of each register that an instruction names; special registers are not in it."""
        ranges: dict[tuple[str, int], Variable] = {}
        exact: dict[tuple[str, int], Variable] = {}
        for variable in self.variables:
            if variable.space == ".reg":
                table = exact if variable.count is None else ranges
                table[(variable.name, variable.scope)] = variable
        found: dict[Register, str] = {}
        for _, operand in self.distinct_operands:
            for register in registers_of(operand):
                if register not in found:
                    _add_type(register, exact, ranges, found)
        return found


def _add_type(
    register: Register,
    exact: Mapping[tuple[str, int], Variable],
    ranges: Mapping[tuple[str, int], Variable],
    found: dict[Register, str],
) -> None:
    variable = exact.get((register.name, register.scope))
    if variable is None:
        stem = register.name.rstrip("0123456789")
        variable = ranges.get((stem, register.scope))
    if variable is not None:
        found[register] = variable.type


class FunctionKind(Enum):
    ENTRY = "entry"
    DEVICE = "func"


@dataclass(frozen=True)
class Function:
    """An entry or device function. A prototype has no body."""

    kind: FunctionKind
    name: str
    linkage: tuple[str, ...]
    returns: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    attributes: Mapping[str, tuple[int, ...]]
    """Launch bounds and cluster directives by keyword: `.reqntid` → (384,), `.explicitcluster` → ()."""
    directives: tuple[Directive, ...]
    """Other directives of the header, in order (`.pragma`, `.abi_preserve 8`, `.attribute(…)`)."""
    body: Body | None
    span: Span = field(default=Span(0, 0), compare=False)
    """The whole function; `header` its part before the body."""

    @property
    def is_entry(self) -> bool:
        return self.kind is FunctionKind.ENTRY

    @property
    def parameter_places(self) -> tuple[tuple[int, int, Variable], ...]:
        """Return the offset in parameter space and the size in bytes of each parameter, in order."""
        found: list[tuple[int, int, Variable]] = []
        offset = 0
        for parameter in self.parameters:
            size = parameter.size or 8
            align = parameter.align or min(size, 8)
            offset = -(-offset // align) * align
            found.append((offset, size, parameter))
            offset += size
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Section:
    """A `.section` of debug data, its text normalised."""

    name: str
    text: str = field(repr=False)
    span: Span = field(default=Span(0, 0), compare=False)


@dataclass(frozen=True, slots=True)
class FileEntry:
    """`.file index "path"`."""

    index: int
    path: str
    extra: tuple[int, ...] = ()
    span: Span = field(default=Span(0, 0), compare=False)


ModuleItem: TypeAlias = Function | Variable | Directive | Section | FileEntry


@dataclass(frozen=True)
class Module:
    """One PTX module."""

    source: Source = field(compare=False, repr=False)
    version: Version
    targets: tuple[str, ...]
    """Everything listed after `.target`: architecture and options."""
    address_size: int | None
    items: tuple[ModuleItem, ...]
    problems: tuple[SyntaxProblem, ...] = field(default=(), compare=False)
    """Located syntax errors outside function bodies; those of bodies are in their `Body`."""

    @cached_property
    def target(self) -> Target | None:
        """The architecture, or None when the module names none that is known."""
        for text in self.targets:
            try:
                return Target.parse(text)
            except ValueError:
                continue
        return None

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        return tuple(item for item in self.items if isinstance(item, Function))

    @cached_property
    def entries(self) -> tuple[Function, ...]:
        """Kernels with a body."""
        return tuple(f for f in self.functions if f.is_entry and f.body is not None)

    @cached_property
    def variables(self) -> Mapping[str, Variable]:
        """Module-scope variables by name."""
        return {item.name: item for item in self.items if isinstance(item, Variable)}

    @cached_property
    def files(self) -> Mapping[int, str]:
        return {item.index: item.path for item in self.items if isinstance(item, FileEntry)}


__all__ = [
    "TYPE_BYTES", "Address", "Arguments", "Body", "Component", "Directive", "FileEntry", "FloatImmediate",
    "Function", "FunctionKind", "Guard", "Immediate", "Instruction", "Label", "Loc", "Module", "ModuleItem",
    "Negated", "Operand", "OperandKind", "Pair", "Register", "ScopeBegin", "ScopeEnd", "Section", "Sink",
    "SourceLine", "Statement", "Symbol", "SymbolOffset", "Variable", "Vector", "registers_of",
]  # fmt: skip
