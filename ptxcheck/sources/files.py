"""Names and texts of the source files that line information speaks of.

PTX can name any file in `.file`; only what the user asked to check, what the compiler itself read, and what
lies below the configured source roots is ever opened.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ..source import Source

MAX_SOURCE_BYTES = 1 << 25
_SUFFIXES = frozenset(
    (".cu", ".cuh", ".h", ".hh", ".hpp", ".hxx", ".inl", ".c", ".cc", ".cpp", ".cxx", ".py", ".ptx")
)


@dataclass(frozen=True)
class Files:
    """Files that may be opened for one input: `names` maps their absolute paths to the names to show."""

    names: dict[str, str] = field(default_factory=dict)
    roots: tuple[str, ...] = ()
    folder: str = field(default_factory=os.getcwd)
    _texts: dict[str, Source | None] = field(default_factory=dict, repr=False)

    @staticmethod
    def of(paths: Iterable[str], roots: Iterable[str] = ()) -> Files:
        """Allow the given files, shown as the paths were given, and everything below `roots`."""
        names: dict[str, str] = {}
        for path in paths:
            names.setdefault(os.path.abspath(path), path)
            names.setdefault(os.path.realpath(path), path)
        return Files(names, tuple(os.path.realpath(root) for root in roots))

    def shown(self, path: str) -> str:
        """Return the name to show for a path of a `.file` directive: as given, or relative, or as it is."""
        absolute = os.path.normpath(os.path.join(self.folder, path))
        if absolute in self.names:
            given = self.names[absolute]
            return given if not os.path.isabs(given) else self._relative(given)
        return self._relative(absolute) if os.path.isabs(path) else path

    def _relative(self, path: str) -> str:
        for folder in (self.folder, os.path.realpath(self.folder)):
            if path.startswith(folder.rstrip("/") + "/"):
                return path[len(folder.rstrip("/")) + 1 :]
        return path

    def source(self, shown: str) -> Source | None:
        """Return the text of a file by its shown name, or None when it may not or cannot be read."""
        if shown not in self._texts:
            self._texts[shown] = self._read(shown)
        return self._texts[shown]

    @property
    def opened(self) -> tuple[str, ...]:
        """Return the absolute paths of the files that were opened, or would have been if they were there."""
        return tuple(path for path in map(self._path, self._texts) if self._allowed(path))

    def _path(self, shown: str) -> str:
        return os.path.normpath(os.path.join(self.folder, shown))

    def _allowed(self, path: str) -> bool:
        return path in self.names or self._below_root(path)

    def _read(self, shown: str) -> Source | None:
        path = self._path(shown)
        if not self._allowed(path):
            return None
        try:
            if not os.path.isfile(path) or os.path.getsize(path) > MAX_SOURCE_BYTES:
                return None
            return Source(shown, Path(path).read_text(encoding="utf-8", errors="replace"))
        except (OSError, ValueError):
            return None

    def _below_root(self, path: str) -> bool:
        if not self.roots or Path(path).suffix not in _SUFFIXES:
            return False
        real = os.path.realpath(path)
        return any(real.startswith(root.rstrip("/") + "/") for root in self.roots)
