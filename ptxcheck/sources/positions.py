"""Line information to locations: `.loc`, `.file` and the inline chain.

nvcc and Triton write, before the instructions of an inlined call,

    .loc 1 17 25                                                     the call, in the kernel
    .loc 2 103 5, function_name $L__info_string2, inlined_at 1 17 25   inside the callee

so the frames around a `.loc` are those of the latest `.loc` at its `inlined_at` place. Line 0 means that
the compiler knows no line; the place before it stays in force.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property
from posixpath import normpath
from typing import TypeAlias

from ..finding import Frame, Location
from ..ir import (
    Body,
    Function,
    Instruction,
    Loc,
    Module,
    Section,
    SourceLine,
)
from ..source import Position, Span

MAX_FRAMES = 64
"""Deeper chains are cut; real ones have up to 30 frames."""

LIBRARY_PREFIXES = (
    "include/cutlass", "include/cute", "cutlass/include", "cutlass/tools/util/include",
    "include/cccl", "libcudacxx/include", "include/cuda/std", "cccl/cub", "cccl/thrust", "cub/cub",
    "thrust/thrust", "include/cub", "include/thrust",
    "cuda*/include", "cuda*/targets/*/include", "nvidia/cu*/include", "nvidia/cuda_*/include",
    "triton/language", "triton/experimental", "triton/tools", "triton/runtime", "tl_templates/cuda",
)  # fmt: skip
"""Folders whose lines belong to a library: CUTLASS, CuTe, CCCL, the CUDA toolkit, Triton, TileLang."""

Place: TypeAlias = SourceLine
Chain: TypeAlias = tuple[tuple[Place, str | None], ...]
"""Places and names of the functions they are in, innermost first; no name for the kernel itself."""

_DEBUG_STRING = re.compile(r"([A-Za-z_$%][\w$]*)\s*:|\.b8\b|(0[xX][0-9a-fA-F]+|\d+)")


@dataclass(frozen=True)
class Library:
    """Tells lines of libraries from lines of the author, by folder patterns."""

    prefixes: tuple[str, ...] = LIBRARY_PREFIXES

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(_prefix_pattern(prefix) for prefix in self.prefixes) or r"\Z.")

    def owns(self, path: str) -> bool:
        """Return whether a file lies in a library folder."""
        return self._pattern.match(normpath(path.replace("\\", "/"))) is not None


def _prefix_pattern(prefix: str) -> str:
    """`/a/b` is an absolute folder, `a/b` the same two folders anywhere; `*` stands for part of a name."""
    parts = prefix.rstrip("/").split("/")
    body = "/".join(translate(part)[len("(?s:") : -len(r")\Z")].replace(".*", "[^/]*") for part in parts)
    return f"{body}/" if prefix.startswith("/") else f"(?:.*/)?{body}/"


@dataclass(frozen=True)
class Locator:
    """Locates program points of one module. `shown` turns a path of `.file` into the name to show."""

    module: Module
    library: Library = Library()
    shown: Callable[[str], str] = str

    def location(self, function: Function, point: int) -> Location:
        """Return where an instruction is, in PTX and in the source that it was compiled from."""
        assert function.body is not None
        instruction = function.body.instructions[point]
        span = _trimmed(instruction)
        ptx = self.module.source.position(span.start)
        frames = self.frames(function, point)
        return Location(ptx, span, frames, self._primary(frames))

    def head(self, function: Function) -> Position:
        """Return where a function is: in the CUDA source if ptxcheck compiled it and line information tells."""
        source = self.module.source
        if source.is_compiled and function.body is not None:
            for chain in self._chains(function.body):
                if chain:
                    return self._frame(chain[-1][0], function.name).position
        return source.position(function.span.start)

    def frames(self, function: Function, point: int) -> tuple[Frame, ...]:
        """Return the inline stack at a point, innermost first; empty without line information."""
        assert function.body is not None
        chain = self._chains(function.body)[point]
        return tuple(self._frame(place, label or function.name) for place, label in chain)

    def _frame(self, place: Place, function: str) -> Frame:
        name = self.module.files.get(place.file, f"<file {place.file}>")
        return Frame(Position(self.shown(name), place.line, place.column), function)

    def _primary(self, frames: Sequence[Frame]) -> Position | None:
        """Innermost frame outside library headers, or the innermost when all are in one."""
        for frame in frames:
            if not self.library.owns(frame.position.file):
                return frame.position
        return frames[0].position if frames else None

    def _chains(self, body: Body) -> tuple[Chain, ...]:
        known = self._cache.get(id(body))
        if known is None or known[0] is not body:
            known = (body, chains(body, self._strings))
            self._cache.clear()
            self._cache[id(body)] = known
        return known[1]

    @cached_property
    def _cache(self) -> dict[int, tuple[Body, tuple[Chain, ...]]]:
        """Chains of the body that was asked about last."""
        return {}

    @cached_property
    def _strings(self) -> Mapping[str, str]:
        return debug_strings(self.module)


def _trimmed(instruction: Instruction) -> Span:
    return Span(instruction.start, max(instruction.end, instruction.start + 1))


def chains(body: Body, strings: Mapping[str, str]) -> tuple[Chain, ...]:
    """Return the inline chain in force at each program point of a body."""
    later: dict[Place, Loc] = {}
    for statement in body.statements:
        if type(statement) is Loc:
            later.setdefault(statement.place, statement)
    latest: dict[Place, Chain] = {}
    current: Chain = ()
    found: list[Chain] = []
    for statement in body.statements:
        if type(statement) is Loc:
            chain = _chain(statement, latest, later, strings)
            latest[statement.place] = chain
            if statement.place.line > 0:
                current = chain
        elif type(statement) is Instruction:
            found.append(current)
    return tuple(found)


def _chain(
    loc: Loc, latest: Mapping[Place, Chain], later: Mapping[Place, Loc], strings: Mapping[str, str]
) -> Chain:
    own = ((loc.place, _name(loc, strings)),)
    call = loc.inlined_at
    if call is None:
        return own
    outer = latest.get(call)
    if outer is None:
        outer = _chain_ahead(call, later, strings)
    return (own + outer)[:MAX_FRAMES]


def _chain_ahead(call: Place, later: Mapping[Place, Loc], strings: Mapping[str, str]) -> Chain:
    """Return the chain of a call whose own `.loc` has not come yet (blocks are not in source order)."""
    frames: list[tuple[Place, str | None]] = []
    place: Place | None = call
    while place is not None and len(frames) < MAX_FRAMES:
        loc = later.get(place)
        frames.append((place, None if loc is None else _name(loc, strings)))
        place = None if loc is None else loc.inlined_at
    return tuple(frames)


def _name(loc: Loc, strings: Mapping[str, str]) -> str | None:
    if loc.function is None:
        return None
    text = strings.get(loc.function)
    return loc.function if text is None else text[loc.function_offset :]


def debug_strings(module: Module) -> Mapping[str, str]:
    """Return the texts in `.debug_str`, by label."""
    found: dict[str, str] = {}
    for item in module.items:
        if isinstance(item, Section) and item.name == ".debug_str":
            found.update(_strings_of(item.text))
    return found


def _strings_of(text: str) -> dict[str, str]:
    """Parse `label: .b8 95,90,… .b8 …,0`: the bytes after each label, up to the zero."""
    found: dict[str, bytearray] = {}
    current = bytearray()
    for label, number in _DEBUG_STRING.findall(text):
        if label:
            current = found.setdefault(label, bytearray())
        elif number:
            current.append(_byte(number))
    return {label: data.split(b"\0")[0].decode("utf-8", errors="replace") for label, data in found.items()}


def _byte(number: str) -> int:
    return int(number, 16 if number[:2] in ("0x", "0X") else 10) & 0xFF
