"""Other files whose host code may launch the kernels of a file: of its folder, and units of a compilation database.

They are found by a quick test of their text, so that folders are searched quickly. A folder with very many sources is
no place where a kernel and its host stand side by side, and is left out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

SUFFIXES = frozenset((".cu", ".cuh", ".cpp", ".cc", ".cxx", ".py"))
MOST_FILES = 64
"""Sources of one folder, or units of one database."""
LARGEST_FILE = 1 << 20
"""Bytes."""


def launching_files(path: str, compile_commands: str | None) -> tuple[str, ...]:
    """Return the files that launch kernels, the one itself left out, in a stable order."""
    own = os.path.realpath(path)
    folder = os.path.dirname(path)
    found = [os.path.join(folder, name) for name in _sources_of(folder)]
    found += [] if compile_commands is None else _units_of(compile_commands)
    kept = {os.path.realpath(each): each for each in reversed(found)}
    return tuple(sorted(each for real, each in kept.items() if real != own and _launches(each)))


def _sources_of(folder: str) -> tuple[str, ...]:
    try:
        return _listed(folder, os.stat(folder or ".").st_mtime_ns)
    except OSError:
        return ()


@lru_cache(maxsize=256)
def _listed(folder: str, _changed: int) -> tuple[str, ...]:
    with os.scandir(folder or ".") as entries:
        names = [entry.name for entry in entries if os.path.splitext(entry.name)[1].lower() in SUFFIXES]
    return tuple(sorted(names)) if len(names) <= MOST_FILES else ()


def _units_of(database: str) -> list[str]:
    path = os.path.join(database, "compile_commands.json") if os.path.isdir(database) else database
    try:
        units = _units(path, os.stat(path).st_mtime_ns)
    except (OSError, ValueError, RecursionError):
        return []  # reading its flags tells what is wrong with it
    return list(units) if len(units) <= MOST_FILES else []


@lru_cache(maxsize=16)
def _units(path: str, _changed: int) -> tuple[str, ...]:
    entries = json.loads(Path(path).read_text(encoding="utf-8"))
    return tuple(dict.fromkeys(_files(entries)))


def _files(entries: object) -> Iterator[str]:
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("file"), str):
            file = os.path.join(str(entry.get("directory", ".")), entry["file"])
            if os.path.splitext(file)[1].lower() in SUFFIXES:
                yield os.path.relpath(file) if file.startswith(os.path.join(os.getcwd(), "")) else file


def _launches(path: str) -> bool:
    try:
        state = os.stat(path)
        return os.path.isfile(path) and _has_launch(path, state.st_mtime_ns, state.st_size)
    except OSError:
        return False


@lru_cache(maxsize=4096)
def _has_launch(path: str, _changed: int, size: int) -> bool:
    if size > LARGEST_FILE:
        return False
    from ..hostcode.names import LAUNCH_HEADS  # what it needs for tensor maps is heavy

    data = Path(path).read_bytes()
    return any(head.encode() in data for head in LAUNCH_HEADS)
