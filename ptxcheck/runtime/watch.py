"""Waiting until something that a run reads has changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

WATCHED = frozenset((".ptx", ".cu", ".cuh", ".h", ".hpp", ".inl", ".py", ".toml"))


class WatchError(Exception):
    """Watching that is not possible; the message says why."""


def watched_folders(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the folders to watch: those given, and those of files and globs."""
    return tuple(dict.fromkeys(_folder(path) for path in paths))


def _folder(path: str) -> str:
    if os.path.isdir(path):
        return path
    parent = Path(path).parent
    while not parent.is_dir():
        parent = parent.parent
    return str(parent)


def changes(paths: Iterable[str]) -> Iterator[None]:
    """Yield once after each change of a file that may matter. Raises WatchError."""
    try:
        from watchfiles import watch
    except ImportError as error:
        raise WatchError("--watch needs watchfiles: pip install 'ptxcheck[watch]'") from error

    def matters(_change: object, path: str) -> bool:
        return Path(path).suffix in WATCHED

    for _ in watch(*watched_folders(paths), watch_filter=matters):
        yield
