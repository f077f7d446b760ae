"""Statements of function bodies, in the order in which they are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from ..opcodes.spec import Direction, OperandSpec, Operation, Trait
from ..source import Span
from .operands import Address, Guard, Operand, Pair, Register, Symbol, registers_of


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

    @property
    def callee(self) -> str | None:
        """Name of the function that a call names; None for a call by a pointer."""
        function = self.get("function")
        return function.name if isinstance(function, Symbol) else None

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
    source_name: str = field(default="", compare=False)
    """What the CUDA source calls a parameter, where that is known."""

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


@dataclass(frozen=True, slots=True)
class InlinedCall:
    """The place of a call: a jump to the body of the callee comes next. No parser makes it (see `cfg.inlining`)."""

    callee: str
    span: Span = field(default=Span(0, 0), compare=False)


Statement: TypeAlias = Instruction | Label | ScopeBegin | ScopeEnd | Loc | Variable | Directive | InlinedCall
