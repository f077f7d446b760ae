"""Host code as far as the values of tensor maps and launches need it: one small form for C++ and Python.

The front ends (`cpp.py`, `python.py`) translate to this form; `interpret.py` reads nothing else. What has no
form here becomes `Opaque`, with the names it may change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from ptxcheck.hostcode.types import Type
from ptxcheck.source import Span


@dataclass(frozen=True, slots=True)
class Number:
    """An integer literal, with its type."""

    value: int
    type: Type | None
    span: Span


@dataclass(frozen=True, slots=True)
class Text:
    """A string literal."""

    value: str
    span: Span


@dataclass(frozen=True, slots=True)
class Null:
    """`nullptr`, `NULL` or `None`."""

    span: Span


@dataclass(frozen=True, slots=True)
class Name:
    """A name without its qualifiers."""

    id: str
    span: Span
    scope: str = ""
    """The qualifiers: `ns::inner`."""
    types: tuple[Type | Expr, ...] = ()
    """Template arguments."""


@dataclass(frozen=True, slots=True)
class Unary:
    """`-`, `~`, `!`, `+`."""

    op: str
    operand: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic, comparison and logic, with C++'s signs; `//` and `/` divide integers as the language does."""

    op: str
    left: Expr
    right: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Choice:
    """`test ? body : other`."""

    test: Expr
    body: Expr
    other: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Cast:
    """A conversion to a type."""

    type: Type
    operand: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class SizeOf:
    """`sizeof` of a type, or of an expression."""

    type: Type | None
    operand: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Member:
    """`object.name` or `object->name`."""

    object: Expr
    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Item:
    """`object[index]`."""

    object: Expr
    index: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Sequence:
    """`{a, b}`, `[a, b]`, `(a, b)`."""

    items: tuple[Expr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class AddressOf:
    """`&operand`."""

    operand: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    """`callee<types>(arguments)`; `Construct` of a known type is a `Cast`."""

    callee: Expr
    types: tuple[Type | Expr, ...]
    arguments: tuple[Expr, ...]
    span: Span
    launch: tuple[Expr, ...] = ()
    """Of a kernel: what stands in `<<<grid, block, shared memory, stream>>>`."""


@dataclass(frozen=True, slots=True)
class Lambda:
    """A function without a name."""

    function: Function
    span: Span


@dataclass(frozen=True, slots=True)
class Keyword:
    """An argument that is passed by the name of its parameter."""

    name: str
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Opaque:
    """Anything else; `names` are the variables it may change."""

    names: frozenset[str]
    span: Span


UNORDERED = "*"
"""Among the names of an opaque argument: it stands for several, or for one that is passed by name."""

Expr: TypeAlias = (
    Number
    | Text
    | Null
    | Name
    | Unary
    | Binary
    | Choice
    | Cast
    | SizeOf
    | Member
    | Item
    | Sequence
    | AddressOf
    | Call
    | Lambda
    | Keyword
    | Opaque
)


@dataclass(frozen=True, slots=True)
class Declare:
    """A variable. `lengths` are the extents of an array, None where one is not written."""

    name: str
    type: Type
    lengths: tuple[Expr | None, ...]
    value: Expr | None
    span: Span
    is_list: bool = False
    """True for a container that `value` lists the elements of; False also for `(count, element)`."""


@dataclass(frozen=True, slots=True)
class Assign:
    """`target op= value`; op is empty for a plain assignment."""

    target: Expr
    op: str
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Evaluate:
    """An expression for its effects."""

    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class If:
    """A branch; `test` is None where the preprocessor chooses, or an exception."""

    test: Expr | None
    body: tuple[Stmt, ...]
    other: tuple[Stmt, ...]
    span: Span
    is_preprocessed: bool = False


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop: `first` once, then `body` and `step` while `test`. A test of None may end at any time."""

    first: tuple[Stmt, ...]
    test: Expr | None
    body: tuple[Stmt, ...]
    step: tuple[Stmt, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Switch:
    """Cases in order, each with its labels (None: default); control falls through."""

    subject: Expr
    cases: tuple[tuple[Expr | None, tuple[Stmt, ...]], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Return:
    """The end of a function."""

    value: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Leave:
    """`throw`, `raise`, or a call that does not return."""

    span: Span


@dataclass(frozen=True, slots=True)
class Jump:
    """`break` or `continue`."""

    is_break: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Require:
    """An assertion: what follows runs only where `test` holds."""

    test: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Block:
    """A scope of its own."""

    body: tuple[Stmt, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Define:
    """A function within a function."""

    name: str
    function: Function
    span: Span


Stmt: TypeAlias = (
    Declare | Assign | Evaluate | If | Loop | Switch | Return | Leave | Jump | Require | Block | Define
)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function. `changes` is True where the caller's variable is what is passed."""

    name: str
    type: Type
    default: Expr | None
    changes: bool
    is_array: bool


@dataclass(frozen=True)
class Function:
    """A function with a body, which is translated when it is first read."""

    name: str
    parameters: tuple[Parameter, ...]
    type_parameters: tuple[tuple[str, bool], ...]
    """Names of template parameters in order; True for a value, False for a type."""
    result: Type
    text: str = field(repr=False)
    span: Span
    translate: Callable[[], tuple[Stmt, ...]] = field(repr=False, compare=False)
    is_included: bool = False
    """True for one of a file that the source includes; all places in it are the `#include`."""
    is_kernel: bool = False
    """`__global__`."""
    is_preprocessed: bool = False
    """True where the preprocessor decides whether it is compiled."""

    @cached_property
    def body(self) -> tuple[Stmt, ...]:
        """Return the statements."""
        return self.translate()


@dataclass(frozen=True)
class Program:
    """One file. Of names that are defined more than once, or that a build may redefine, `constants` has none."""

    functions: tuple[Function, ...]
    constants: Mapping[str, tuple[Type, Expr | None, Declare | None]]
    aliases: Mapping[str, Type]
    passes_variables: bool
    """True where a call may change a variable that is passed to it by name (C++)."""
    kernels: frozenset[str] = frozenset()
    """Names of functions that are declared `__global__`."""
