"""Launches of kernels in a source file, with what of them is a known number.

Property: for each `HostLaunch` there is a way through the program on which a kernel of that name is launched so.
What depends on sizes that are known only when the program runs is None. Not covered: launches that the preprocessor
decides about, since it is not known which of them is compiled.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from ptxcheck.cfg.special import MAX_CLUSTER
from ptxcheck.descriptors.ranges import range_of
from ptxcheck.hostcode.changes import walk
from ptxcheck.hostcode.code import Call, Function, Name, Parameter, Program
from ptxcheck.hostcode.find import PYTHON_SUFFIXES, has_launch, leading_to, program_of
from ptxcheck.hostcode.includes import Includes
from ptxcheck.hostcode.interpret import Interpreter
from ptxcheck.hostcode.machine import LaunchCall
from ptxcheck.hostcode.types import BOOL
from ptxcheck.hostcode.values import Extent, Integer, Kernel, Known, NullPointer, Value
from ptxcheck.launch import MAX_THREADS, Dim
from ptxcheck.source import Position, Source

_MOST_CHOICES = 4
"""Numbers that one extent of a block is chosen from by conditions."""

_DEFINITION = re.compile(r"__global__[^;{}()]*(?:\([^()]*\)[^;{}()]*)?\b(\w+)\s*\([^;{}]*\)\s*\{")
"""A kernel that a text defines, a string of a Python file too."""


def defines_kernel(text: str, name: str) -> bool:
    """Whether a CUDA source or PTX defines a kernel of a name, as far as can be told from its text."""
    return (
        name in _DEFINITION.findall(text) or re.search(rf"\.entry\s+\w*{re.escape(name)}", text) is not None
    )


@dataclass(frozen=True, slots=True)
class Constant:
    """An argument of a kernel that is a known number."""

    position: int
    value: int
    is_pointer: bool = False


@dataclass(frozen=True, slots=True)
class HostLaunch:
    """One launch of a kernel by host code."""

    kernel: Kernel
    form: str
    """`<<<>>>`, or the function that launches."""
    position: Position
    block: Dim | None
    cluster: Dim | None
    states_cluster: bool
    """False where the launch leaves clusters to what the kernel is compiled for; `cluster` is one CTA then."""
    constants: tuple[Constant, ...] = ()
    is_cooperative: bool = False
    is_programmatic: bool = False

    @property
    def origin(self) -> str:
        """Where it is, for people."""
        place = f"{self.position.file}:{self.position.line}"
        kinds = ("cooperative",) * self.is_cooperative
        kinds += ("programmatic stream serialization",) * self.is_programmatic
        return f"{self.form} at {place}" + (f", {', '.join(kinds)}" if kinds else "")


@dataclass(frozen=True, slots=True)
class LaunchReading:
    """The launches of a file, and the files beside it that were read for them."""

    launches: tuple[HostLaunch, ...] = ()
    opened: tuple[str, ...] = ()
    """Absolute paths."""
    defined: frozenset[str] = frozenset()
    """Names of kernels that the file defines itself."""


def launches_in(source: Source, includes: Includes | None = None) -> LaunchReading:
    """Return the launches of a file, each once, in the order of the file."""
    if not has_launch(source.text):
        return LaunchReading()
    try:
        program = program_of(source, includes)
    except RecursionError:
        program = None  # brackets in brackets beyond what any author writes
    opened = () if includes is None else tuple(includes.opened)
    if program is None:
        return LaunchReading(opened=opened)
    is_everywhere = source.name.lower().endswith(
        PYTHON_SUFFIXES
    )  # a kernel is launched like a function is called
    roots = program.functions if is_everywhere else leading_to(program, has_launch)
    calls = Interpreter(program, source.text).launches(roots)
    made = (
        launch
        for call in sorted(_told_by_callers(calls, program), key=lambda call: call.span)
        for launch in _made(call, program, source)
    )
    defined = {function.name for function in program.functions if function.is_kernel}
    defined.update(_DEFINITION.findall(source.text))
    return LaunchReading(tuple(dict.fromkeys(made)), opened, frozenset(defined))


def _told_by_callers(calls: Sequence[LaunchCall], program: Program) -> Iterator[LaunchCall]:
    """Leave out a function by itself, with any arguments, where functions of the file call it with known ones."""
    called = {
        node.callee.id
        for function in program.functions
        for node in walk(function)
        if isinstance(node, Call) and isinstance(node.callee, Name)
    }
    told = {call.span for call in calls if _dim(call.block, call.known) is not None}
    for call in calls:
        is_open = _dim(call.block, call.known) is None
        if not (is_open and call.span in told and call.frames[-1][0] in called):
            yield call


def _made(call: LaunchCall, program: Program, source: Source) -> Iterator[HostLaunch]:
    cluster = (1, 1, 1) if call.cluster is None else _cluster(call)
    parameters = _parameters(program, call.kernel)
    constants = tuple(_constants(call, parameters))
    for block in _blocks(call.block, call.known):
        yield HostLaunch(
            call.kernel,
            call.form,
            source.position(call.span.start),
            block if block is not None and min(block) >= 1 and prod(block) <= MAX_THREADS else None,
            cluster,
            call.cluster is not None,
            constants,
            call.is_cooperative,
            call.is_programmatic,
        )


def _cluster(call: LaunchCall) -> Dim | None:
    cluster = None if call.cluster is None else _dim(call.cluster, call.known)
    return cluster if cluster is not None and min(cluster) >= 1 and prod(cluster) <= MAX_CLUSTER else None


def _dim(value: Value, known: Known) -> Dim | None:
    """Return an extent whose coordinates are known."""
    if not isinstance(value, Extent):
        return None
    x, y, z = (_number(one, known) for one in (value.x, value.y, value.z))
    return None if x is None or y is None or z is None else (x, y, z)


def _number(value: Value, known: Known) -> int | None:
    if not isinstance(value, Integer) or value.type.is_pointer:
        return None
    if value.constant is not None:
        return value.constant
    span = range_of(value.term, known)
    return span.low if span is not None and span.low == span.high else None


def _blocks(value: Value, known: Known) -> Iterator[Dim | None]:
    """Yield the blocks that a launch may have: one, or those that a condition chooses between."""
    found = _dim(value, known)
    if found is not None or not isinstance(value, Extent):
        yield found
        return
    axes = (value.x, value.y, value.z)
    numbers = [_number(axis, known) for axis in axes]
    open_axes = [at for at, one in enumerate(numbers) if one is None]
    choices: tuple[int, ...] | None = None
    if len(open_axes) == 1:
        axis = axes[open_axes[0]]
        choices = _choices(axis.term, known) if isinstance(axis, Integer) else None
    if choices is None or len(choices) > _MOST_CHOICES:
        yield None
        return
    for choice in choices:
        x, y, z = (choice if one is None else one for one in numbers)
        yield x, y, z


def _choices(term: ast.expr, known: Known) -> tuple[int, ...] | None:
    """Return the numbers that conditions of the program choose between."""
    match term:
        case ast.Constant(value=int() as value):
            return (int(value),)
        case ast.IfExp(test=test, body=body, orelse=other) if not _is_of_preprocessor(test, known):
            first, second = _choices(body, known), _choices(other, known)
            return None if first is None or second is None else tuple(dict.fromkeys((*first, *second)))
    return None


def _is_of_preprocessor(test: ast.expr, known: Known) -> bool:
    """Tell whether a condition has no text in the program: either side may be all that is compiled."""
    names = [node.id for node in ast.walk(test) if isinstance(node, ast.Name)]
    return any(name not in known or known[name].name == name for name in names)


def _parameters(program: Program, kernel: Kernel) -> tuple[Parameter, ...]:
    """Return the parameters of a kernel whose definition is at hand, and the only one of its name."""
    found: list[Function] = [
        each for each in program.functions if each.is_kernel and each.name == kernel.name
    ]
    return found[0].parameters if len(found) == 1 and not kernel.is_symbol else ()


def _constants(call: LaunchCall, parameters: Sequence[Parameter]) -> Iterator[Constant]:
    """Yield arguments that are known numbers, converted to what the kernel takes."""
    for position, (value, parameter) in enumerate(zip(call.arguments, parameters, strict=False)):
        type_ = parameter.type
        constant = 0 if isinstance(value, NullPointer) else _number(value, call.known)
        if constant is None or type_.is_reference:
            continue
        if type_.is_pointer:
            if constant == 0:
                yield Constant(position, 0, is_pointer=True)
        elif type_.is_integer and type_.name != BOOL.name:
            yield Constant(position, constant & ((1 << type_.bits) - 1))
        elif type_.name == BOOL.name:
            yield Constant(position, int(constant != 0))


__all__ = ["Constant", "HostLaunch", "LaunchReading", "defines_kernel", "launches_in"]
