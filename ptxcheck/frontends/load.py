"""One input to PTX text, with the other files that its line information may be read from."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..results import Problem, ProblemKind
from ..source import Position, Source
from .compile_commands import flags_for
from .cuda import DEFAULT_ARCH, CompileError, NvccOptions, compile_cuda, names_architecture
from .discover import Input, InputKind
from .text import UnreadableError, decode, read_bytes, read_ptx

_ARCH_COMMENT = re.compile(rb"//\s*ptxcheck:\s*arch\s+((?:sm|compute)_\d+[af]?)\b")


@dataclass(frozen=True)
class Loaded:
    """PTX text of an input, or None when there is none; `problems` says what was wrong."""

    input: Input
    source: Source | None
    problems: tuple[Problem, ...] = ()
    origins: tuple[str, ...] = ()
    """Source files that the compiler read to make this PTX; only these may be read again to show lines."""


def load(item: Input, options: NvccOptions) -> Loaded:
    """Read or compile one input. Never raises for what is wrong with the input."""
    try:
        if item.kind is InputKind.CUDA:
            return _load_cuda(item, options)
        source, problems = read_ptx(item)
        return Loaded(item, source, problems)
    except UnreadableError as error:
        return Loaded(item, None, (error.problem(item.name),))
    except CompileError as error:
        position = Position(item.name, 0)
        return Loaded(item, None, (Problem(ProblemKind.COMPILER, str(error), position, detail=error.output),))


def _load_cuda(item: Input, options: NvccOptions) -> Loaded:
    text = read_bytes(item.path)
    flags = [] if options.compile_commands is None else flags_for(options.compile_commands, item.path)
    flags = _with_architecture(flags, text, options)
    compiled = compile_cuda(item.path, flags, options)
    source, problems = decode(compiled.data, item.name + ".ptx")
    origins = (item.path, *_others(compiled.dependencies, item.path))
    return Loaded(item, source, problems, origins)


def _others(paths: Sequence[str], main: str) -> list[str]:
    return [path for path in paths if os.path.abspath(path) != os.path.abspath(main)]


def _with_architecture(flags: list[str], text: bytes, options: NvccOptions) -> list[str]:
    """Choose the architecture: options, then a comment in the source, then the database, then the default."""
    if options.arch is not None or names_architecture(options.args):
        return _without_architecture(flags)
    comment = _ARCH_COMMENT.search(text)
    if comment is not None:
        return [*_without_architecture(flags), f"-arch={comment[1].decode('ascii')}"]
    return flags if names_architecture(flags) else [*flags, f"-arch={DEFAULT_ARCH}"]


def _without_architecture(flags: Sequence[str]) -> list[str]:
    return [flag for flag in flags if not names_architecture([flag])]
