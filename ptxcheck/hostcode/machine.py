"""The state of an interpretation, and what its parts share. See `interpret.py`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ptxcheck.descriptors.fields import Kind
from ptxcheck.descriptors.ranges import Range, Symbol
from ptxcheck.hostcode import code as c
from ptxcheck.hostcode.arithmetic import Arithmetic
from ptxcheck.hostcode.names import entry_of
from ptxcheck.hostcode.types import Type
from ptxcheck.hostcode.values import (
    ANYTHING,
    Entry,
    Integer,
    Kernel,
    Step,
    Symbols,
    Value,
)
from ptxcheck.source import Span

DEEPEST_CALL = 4
MOST_TURNS = 16
MOST_WORK = 40_000
"""Statements and expressions that are run from one function."""
MOST_WORK_OF_A_FILE = 200_000
LONGEST_ARRAY = 64
LONGEST_LOOKUP = 6
"""Arguments of a function that is told an entry point's name: cudaGetDriverEntryPointByVersion has 5."""
LONGEST_GETTER = 3
"""Arguments of a function that looks an encode function up; an encode function has 11 at least."""
ALLOCATORS = frozenset(("cudaMalloc", "cudaMallocAsync", "cudaMallocManaged", "cuMemAlloc", "cuMemAlloc_v2"))
ALLOCATION = 256
"""Bytes: the alignment of device memory from an allocator (CUDA programming guide, device memory accesses)."""


class ExhaustedError(Exception):
    """Too much work from one function."""


@dataclass
class State:
    """Variables by their path, and what is known of the symbols."""

    variables: dict[str, Value] = field(default_factory=dict)
    known: dict[str, Symbol] = field(default_factory=dict)

    def forget_members(self, name: str) -> None:
        """Forget what the members of a variable hold."""
        for key in [key for key in self.variables if key.startswith(name + ".")]:
            del self.variables[key]

    def copy(self) -> State:
        """Return a state that changes by itself."""
        return State(dict(self.variables), dict(self.known))


@dataclass(frozen=True)
class Encode:
    """One call of an encode function: arguments in the order of cuda.h, the map itself left out where `bare`."""

    kind: Kind
    call: c.Call
    arguments: tuple[Value, ...]
    known: dict[str, Symbol]
    bare: bool
    frames: tuple[tuple[str, Span], ...]
    """The functions on the way, innermost first: name, and where the encode or the next function is called."""


@dataclass(frozen=True)
class LaunchCall:
    """One launch of a kernel."""

    kernel: Kernel
    form: str
    """`<<<>>>`, or the function that launches."""
    block: Value
    cluster: Value | None
    """None where the launch does not speak of clusters."""
    arguments: tuple[Value, ...]
    """Of the kernel; none where they are passed by their addresses."""
    span: Span
    known: dict[str, Symbol]
    frames: tuple[tuple[str, Span], ...]
    """The functions on the way, innermost first."""
    is_cooperative: bool = False
    is_programmatic: bool = False
    """Launched before the kernel in front of it on the stream has ended (programmatic stream serialization)."""


@dataclass
class Frame:
    function: c.Function
    types: dict[str, Type]
    unstable: set[str]
    returns: list[tuple[Value, State]] = field(default_factory=list)
    jumps: list[State] = field(default_factory=list)


class Machine:
    """The program, the functions on the way, and what the parts ask of one another."""

    def __init__(self, program: c.Program, text: str) -> None:
        self._program = program
        self._text = text
        self._symbols = Symbols()
        self._arithmetic = Arithmetic(self._symbols)
        self._by_name: dict[str, list[c.Function]] = {}
        for function in program.functions:
            self._by_name.setdefault(function.name, []).append(function)
        self._encodes: list[Encode] = []
        self._launches: list[LaunchCall] = []
        self._unsure = 0
        """Branches that the preprocessor decides about, around what is run."""
        self.given_up: list[c.Function] = []
        """Functions that were not run to their end."""
        self.makers: dict[Span, bool] = {}
        """Calls of CuTe's makers that were reached, and whether their map is known."""
        self._frames: list[Frame] = []
        self._calls: list[Span] = []
        self._work = 0
        self._globals: set[str] = set()
        self._changed_by_lambdas: dict[int, frozenset[str]] = {}

    def _value(self, expr: c.Expr, state: State) -> Value:
        raise NotImplementedError

    def _call(self, call: c.Call, state: State) -> tuple[Value, State | None]:
        raise NotImplementedError

    def _run(self, body: Sequence[c.Stmt], state: State) -> State | None:
        raise NotImplementedError

    def _declared(self, statement: c.Declare, type_: Type, state: State) -> Value:
        raise NotImplementedError

    def _with_step(self, name: str, value: Integer, statement: c.Declare) -> tuple[Step, ...]:
        raise NotImplementedError

    def _spend(self) -> None:
        self._work += 1
        if self._work > MOST_WORK:
            raise ExhaustedError

    def _text_of(self, span: Span) -> str:
        return self._text[span.start : min(span.end, span.start + 80)]

    def _types(self) -> dict[str, Type]:
        return self._frames[-1].types if self._frames else {}

    def _resolved(self, type_: Type) -> Type:
        """Return what a template parameter stands for, with the marks that it has here."""
        found = self._types().get(type_.name)
        if found is None:
            return type_
        return replace(
            found,
            is_pointer=found.is_pointer or type_.is_pointer,
            is_reference=type_.is_reference,
            is_const=found.is_const or type_.is_const,
            is_constant=type_.is_constant,
        )

    def _way(self, where: Span) -> tuple[tuple[str, Span], ...]:
        """Return the functions on the way to a place, innermost first."""
        places = (where, *reversed(self._calls[1:]))
        return tuple(
            (frame.function.name, place) for frame, place in zip(reversed(self._frames), places, strict=True)
        )

    def _note_encode(self, encode: Encode) -> None:
        """Note an encode call; one in an included file stands where the source calls into that file."""
        included = [frame.function.is_included for frame in reversed(self._frames)]
        own = tuple(one for one, away in zip(encode.frames, included, strict=True) if not away)
        if included[0]:
            where = own[0][1]
            places = tuple(c.Opaque(frozenset(), where) for _ in encode.call.arguments)
            encode = replace(encode, call=c.Call(encode.call.callee, (), places, where))
        self._encodes.append(replace(encode, frames=own))

    def _unknown(self, name: str, type_: Type, state: State) -> Value:
        kind = entry_of(type_.name)
        if kind is not None:
            return Entry(kind)
        if type_.is_pointer:
            step = type_.size or 1
            term = self._symbols.fresh(state.known, name, Range(0, (1 << 57) - step, step))
            return Integer(term, type_, (), type_.size)
        if type_.is_integer:
            return self._symbols.of_type(state.known, name, type_)
        return ANYTHING
