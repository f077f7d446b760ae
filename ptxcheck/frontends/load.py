"""One input to PTX text, with the other files that its line information may be read from."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..launches.hints import LaunchHint, specialised
from ..results import Problem, ProblemKind
from ..runtime.cache import file_digest
from ..source import Position, Source
from .compile_commands import flags_for
from .cuda import (
    DEFAULT_ARCH,
    CompileError,
    NvccOptions,
    compile_cuda,
    find_nvcc,
    names_architecture,
)
from .discover import STANDARD_INPUT, Input, InputKind
from .launching_files import launching_files
from .text import (
    UnreadableError,
    decode,
    read_bytes,
    read_ptx,
)
from .triton_compilation import specialisation_beside

_ARCH_COMMENT = re.compile(rb"//\s*ptxcheck:\s*arch\s+((?:sm|compute)_\d+[af]?)\b")


@dataclass(frozen=True)
class Loaded:
    """PTX text of an input, or None when there is none; `problems` says what was wrong."""

    input: Input
    source: Source | None
    problems: tuple[Problem, ...] = ()
    origins: tuple[str, ...] = ()
    """Source files that the compiler read to make this PTX; only these may be read again to show lines."""
    host: Source | None = None
    """Text of a C++, CUDA or Python file, whose host code may be checked also where there is no PTX."""
    hints: tuple[LaunchHint, ...] = ()
    """What the compiler's other files say of the launch."""
    beside: tuple[str, ...] = ()
    """Other files whose host code may launch these kernels."""

    @property
    def reads(self) -> tuple[str, ...]:
        """Absolute paths of the files that went into the PTX."""
        return tuple(os.path.abspath(path) for path in self.origins)


def load(item: Input, options: NvccOptions) -> Loaded:
    """Read or compile one input. Never raises for what is wrong with the input."""
    host: Source | None = None
    try:
        if item.kind is not InputKind.PTX:
            host = Source(item.name, read_bytes(item.path).decode("utf-8", errors="replace"))
        if item.kind is InputKind.HOST:
            return Loaded(item, None, host=host)
        if item.kind is InputKind.CUDA:
            return replace(_load_cuda(item, options), host=host, beside=_beside(item, options))
        source, problems = read_ptx(item)
        return Loaded(item, source, problems, hints=_compiled_for(item), beside=_beside(item, options))
    except UnreadableError as error:
        return Loaded(item, None, (error.problem(item.name),))
    except CompileError as error:
        position = Position(item.name, 0)
        problem = Problem(ProblemKind.COMPILER, str(error), position, detail=error.output)
        return Loaded(item, None, (problem,), (item.path,), host)


def _compiled_for(item: Input) -> tuple[LaunchHint, ...]:
    """Return what Triton compiled a kernel for, where the text of that lies beside the PTX."""
    specialisation = None if item.path == STANDARD_INPUT else specialisation_beside(item.path)
    return () if specialisation is None else (specialised(specialisation),)


def _beside(item: Input, options: NvccOptions) -> tuple[str, ...]:
    return () if item.path == STANDARD_INPUT else launching_files(item.path, options.compile_commands)


def _load_cuda(item: Input, options: NvccOptions) -> Loaded:
    text = read_bytes(item.path)
    compiled = compile_cuda(item.path, _flags(item, text, options), options)
    source, problems = decode(compiled.data, item.name + ".ptx")
    origins = (item.path, *_others(compiled.dependencies, item.path))
    return Loaded(item, source, problems, origins)


def _flags(item: Input, text: bytes, options: NvccOptions) -> list[str]:
    flags = [] if options.compile_commands is None else flags_for(options.compile_commands, item.path)
    return _with_architecture(flags, text, options)


def compiler_state(item: Input, options: NvccOptions) -> tuple[str, ...] | None:
    """Return what a result depends on besides files that are read; None when it has none to keep.

    For PTX and CUDA sources, other files that launch their kernels. For PTX also what Triton says of it beside. For a
    CUDA source also the compiler, its flags, and the environment that it reads.
    """
    if item.path == STANDARD_INPUT:
        return None
    if item.kind not in (InputKind.PTX, InputKind.CUDA):
        return ()
    launching = tuple(f"{path} {file_digest(path)}" for path in _beside(item, options))
    if item.kind is InputKind.PTX:
        return (*launching, *map(repr, _compiled_for(item)))
    try:
        nvcc = find_nvcc(options.compiler)
        state = os.stat(nvcc)
        flags = _flags(item, read_bytes(item.path), options)
    except (CompileError, UnreadableError, OSError):
        return None
    heads = ("NVCC_", "CPATH", "C_INCLUDE", "CPLUS_INCLUDE", "PATH", "CUDA_")
    environment = [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith(heads)]
    return (nvcc, str(state.st_size), str(state.st_mtime_ns), "\0".join(flags), *environment, *launching)


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
