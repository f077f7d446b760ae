"""Files that a source includes by `#include "…"`, from its own folder and the folders below it."""

from __future__ import annotations

import os
from pathlib import Path

DEEPEST = 4
MOST_FILES = 32
LARGEST_FILE = 1 << 20
"""Bytes."""


class Includes:
    """Opens the files beside one source; nothing outside its folder is read, also not through links."""

    def __init__(self, path: str) -> None:
        """`path` is the source; a name without a file behind it includes nothing."""
        self._path = os.path.realpath(path) if os.path.isfile(path) else None
        self.opened: list[str] = []
        """Absolute paths of the files that were read."""

    def open(self, written: str, within: str | None, depth: int) -> tuple[str, str] | None:
        """Return path and text of what `within` (None: the source) includes, each file once."""
        if self._path is None or depth > DEEPEST or len(self.opened) >= MOST_FILES or "\0" in written:
            return None
        root = os.path.dirname(self._path)
        path = os.path.realpath(os.path.join(os.path.dirname(within or self._path), written))
        if not path.startswith(os.path.join(root, "")) or path in (self._path, *self.opened):
            return None
        try:
            if not os.path.isfile(path) or os.path.getsize(path) > LARGEST_FILE:
                return None
            text = Path(path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None
        self.opened.append(path)
        return path, text
