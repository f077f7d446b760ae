"""Encode calls in a source file, and what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ptxcheck.descriptors.constraints import Platform
from ptxcheck.hostcode.code import Function, Program
from ptxcheck.hostcode.includes import Includes
from ptxcheck.hostcode.names import HEADS, LAUNCH_HEADS
from ptxcheck.source import Source, Span

if TYPE_CHECKING:
    from ptxcheck.hostcode.encode import Issue
    from ptxcheck.hostcode.machine import Encode

CPP_SUFFIXES = (".cu", ".cuh", ".cpp", ".cc", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl")
PYTHON_SUFFIXES = (".py",)
SUFFIXES = (*CPP_SUFFIXES, *PYTHON_SUFFIXES)
EVERY_PLATFORM = tuple(Platform(capability, 13000) for capability in ((9, 0), (10, 0), (12, 0)))
"""What a program may run on where nothing says it; what one of them accepts is no issue."""

_WORD = re.compile(r"[A-Za-z_]\w*")


def has_encode(text: str) -> bool:
    """Whether a text speaks of encoding a tensor map at all: a quick test before it is parsed."""
    return any(head in text for head in HEADS)


def has_launch(text: str) -> bool:
    """Whether a text launches kernels by itself: a quick test before it is parsed."""
    return any(head in text for head in LAUNCH_HEADS)


def program_of(source: Source, includes: Includes | None = None) -> Program | None:
    """Return the code of a file by its suffix; None where the suffix is none of host code or it cannot be parsed."""
    suffix = "." + source.name.rsplit(".", 1)[-1].lower()
    if suffix in PYTHON_SUFFIXES:
        from ptxcheck.hostcode import python

        return python.program(source.text)
    if suffix in CPP_SUFFIXES:
        from ptxcheck.hostcode import cpp

        return cpp.program(source.text, includes)
    return None


def leading_to(program: Program, is_there: Callable[[str], bool]) -> list[Function]:
    """Return the functions in whose text something is, then those that lead to one, each in the order of the file."""
    own = {id(function) for function in program.functions if not function.is_included}
    words = [set(_WORD.findall(function.text)) for function in program.functions]
    leading = {i for i, function in enumerate(program.functions) if is_there(function.text)}
    names = {program.functions[i].name for i in leading}
    grown = True
    while grown:
        new = {i for i in range(len(words)) if i not in leading and words[i] & names}
        leading |= new
        added = {program.functions[i].name for i in new} - names
        names |= added
        grown = bool(new)
    found = [program.functions[i] for i in sorted(leading) if id(program.functions[i]) in own]
    return sorted(found, key=lambda function: not is_there(function.text))


@dataclass(frozen=True)
class Reading:
    """What was read of a file."""

    encodes: tuple[Encode, ...] = ()
    """Every encode call that is reached, once for each way of calls that leads to it."""
    given_up: tuple[Function, ...] = ()
    """Functions that were not followed to their end."""
    makers: Mapping[Span, bool] = field(default_factory=dict)
    """Calls of CuTe's makers of maps that are reached, and whether what they encode is known."""
    is_parsed: bool = True
    opened: tuple[str, ...] = ()
    """Absolute paths of the included files that were read."""


def read(source: Source, includes: Includes | None = None) -> Reading:
    """Follow the host code of a file that encodes tensor maps, with what `includes` finds beside it."""
    from ptxcheck.hostcode.interpret import Interpreter

    if not has_encode(source.text):
        return Reading()
    try:
        program = program_of(source, includes)
    except RecursionError:
        return Reading(is_parsed=False)  # brackets in brackets beyond what any author writes
    if program is None:
        return Reading(is_parsed=False)
    interpreter = Interpreter(program, source.text)
    encodes = interpreter.encodes(leading_to(program, has_encode))
    opened = () if includes is None else tuple(includes.opened)
    return Reading(tuple(encodes), tuple(interpreter.given_up), interpreter.makers, opened=opened)


def encodes_in(source: Source) -> list[Encode]:
    """Return every encode call that is reached in a file, once for each way of calls that leads to it."""
    return list(read(source).encodes)


def issues_in(
    source: Source, platforms: Sequence[Platform] = EVERY_PLATFORM, *, possible: bool = False
) -> list[Issue]:
    """Return what is wrong with the encode calls of a file: see `issues_of`."""
    is_python = source.name.lower().endswith(PYTHON_SUFFIXES)
    return issues_of(encodes_in(source), platforms, checks_lengths=not is_python, possible=possible)


def issues_of(
    encodes: Sequence[Encode], platforms: Sequence[Platform], *, checks_lengths: bool, possible: bool
) -> list[Issue]:
    """Return what is wrong with encode calls, each fault at one call once.

    With `possible` also what breaks a rule for some values only. A fault that a function has whatever it is
    called with is not repeated for its callers.
    """
    from ptxcheck.hostcode.encode import Judge

    judge = Judge(platforms, checks_lengths=checks_lengths, possible=possible)
    found: dict[object, Issue] = {}
    for encode in sorted(encodes, key=lambda one: len(one.frames)):
        for issue in judge.issues(encode):
            own = (*issue.identity, encode.call.span)
            if own in found and (found[own].is_certain or not issue.is_certain):
                continue
            if not issue.is_certain and len(encode.frames) > 1:
                continue
            found.setdefault(own if len(encode.frames) == 1 else (*own, encode.frames[1:]), issue)
    return list(found.values())
