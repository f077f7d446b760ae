"""Functions, and the module that they are in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TypeAlias

from ..opcodes.target import Target, Version
from ..source import Source, Span, SyntaxProblem
from .body import Body
from .statements import Directive, Variable


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
    def bodies(self) -> Mapping[str, Function]:
        """Kernels and device functions with a body, by name."""
        return {f.name: f for f in self.functions if f.body is not None}

    @cached_property
    def variables(self) -> Mapping[str, Variable]:
        """Module-scope variables by name."""
        return {item.name: item for item in self.items if isinstance(item, Variable)}

    @cached_property
    def files(self) -> Mapping[int, str]:
        return {item.index: item.path for item in self.items if isinstance(item, FileEntry)}
