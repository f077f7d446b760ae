"""Flags for one source from a `compile_commands.json`.

Only flags that change what the source means are taken over. The compiler named there is not run, and
flags that make nvcc run something else (`-ccbin`, `-Xcompiler`, …) are dropped.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from .text import UnreadableError

_FOLDER_FLAGS = ("-I", "--include-path", "-isystem", "--system-include", "-include", "--pre-include")
_VALUE_FLAGS = (
    *_FOLDER_FLAGS, "-D", "--define-macro", "-U", "--undefine-macro", "-std", "--std",
    "-arch", "--gpu-architecture", "-gencode", "--generate-code", "-maxrregcount", "--maxrregcount",
    "-ftz", "--ftz", "-fmad", "--fmad", "-prec-div", "--prec-div", "-prec-sqrt", "--prec-sqrt",
)  # fmt: skip
_PLAIN_FLAGS = (
    "--expt-relaxed-constexpr", "-expt-relaxed-constexpr", "--expt-extended-lambda", "-expt-extended-lambda",
    "--extended-lambda", "-extended-lambda", "-use_fast_math", "--use_fast_math", "-rdc=true",
)  # fmt: skip
_RESPONSE_FLAGS = ("--options-file", "-optf")
_ARCH_NUMBER = re.compile(r"arch=(?:compute|sm)_(\d+)([af]?)")


def flags_for(database: str, source: str) -> list[str]:
    """Return the flags that a compilation database gives for a source; none when it does not name it.

    Raises UnreadableError when the database cannot be read or understood.
    """
    path = Path(database)
    if path.is_dir():
        path = path / "compile_commands.json"
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"{path}: is not JSON: {error}") from error
    wanted = os.path.realpath(source)
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and _file_of(entry) == wanted:
            folder = str(entry.get("directory", "."))
            return _one_architecture(list(_kept(_arguments(entry, path), folder)))
    return []


def _file_of(entry: Mapping[str, object]) -> str:
    return os.path.realpath(os.path.join(str(entry.get("directory", ".")), str(entry.get("file", ""))))


def _arguments(entry: Mapping[str, object], path: Path) -> list[str]:
    arguments = entry.get("arguments")
    if isinstance(arguments, list):
        return [str(argument) for argument in arguments]
    try:
        return shlex.split(str(entry.get("command", "")))
    except ValueError as error:
        raise UnreadableError(f"{path}: command of {entry.get('file')}: {error}") from error


def _kept(arguments: Sequence[str], folder: str, *, nested: bool = False) -> Iterator[str]:
    """Yield the flags worth keeping, relative folders made absolute, response files opened once."""
    rest = iter(arguments)
    for argument in rest:
        head, separator, value = argument.partition("=")
        if argument in _PLAIN_FLAGS:
            yield argument
        elif argument in ("-dc", "--device-c"):
            yield "-rdc=true"
        elif head in _RESPONSE_FLAGS:
            value = value if separator else next(rest, "")
            if not nested:
                yield from _kept(_response_file(os.path.join(folder, value)), folder, nested=True)
        elif head in _VALUE_FLAGS:
            yield from _flag(head, value if separator else next(rest, ""), folder)
        elif argument[:2] in ("-I", "-D", "-U") and len(argument) > 2:
            yield from _flag(argument[:2], argument[2:], folder)


def _flag(head: str, value: str, folder: str) -> tuple[str, ...]:
    if head in _FOLDER_FLAGS:
        value = os.path.join(folder, value)
    if head in ("-I", "-D", "-U"):
        return (head + value,)
    if head in ("-isystem", "-include", "--system-include", "--pre-include", "--include-path"):
        return (head, value)
    return (f"{head}={value}",)


def _response_file(path: str) -> list[str]:
    try:
        return shlex.split(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UnreadableError(f"{path}: cannot be read: {error}") from error


def _one_architecture(flags: Sequence[str]) -> list[str]:
    """Replace several `-gencode` by the newest one: PTX is for one architecture."""
    found: list[tuple[int, str]] = []
    kept: list[str] = []
    for flag in flags:
        match = _ARCH_NUMBER.search(flag) if flag.startswith(("-gencode=", "--generate-code=")) else None
        if match is None:
            kept.append(flag)
        else:
            found.append((int(match[1]), match[2]))
    if found:
        number, variant = max(found)
        kept.append(f"-arch=sm_{number}{variant}")
    return kept
