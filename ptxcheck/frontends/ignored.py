"""What `.gitignore` leaves out of a search, as Git reads it; the only module that knows pathspec.

In a repository the files of all folders from its root down count, and `.git/info/exclude`; the one that is nearest to a
path and has a pattern for it decides. A folder that is ignored is not entered, so nothing in it can be taken back.
What the user names outright is never ignored: of a folder in an ignored one, only the files below it count.
Not covered: the ignore file of a user (`core.excludesFile`), which says nothing about the project.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_FILE = ".gitignore"


@dataclass
class IgnoreFiles:
    """Answers for the paths below one folder that is searched."""

    folder: str
    _specs: dict[str, GitIgnoreSpec | None] = field(default_factory=dict)
    _answers: dict[tuple[str, str, bool], bool] = field(default_factory=dict)

    def leaves_out(self, path: str, *, is_folder: bool) -> bool:
        """Tell whether a file or folder below the searched one is ignored, itself or with a folder around it."""
        top, searched = self._top, os.path.abspath(self.folder)
        if top is None:
            return False
        path = os.path.abspath(path)
        around = [str(each) for each in Path(path).parents if len(each.parts) > len(Path(searched).parts)]
        return any(self._is_ignored(each, top, True) for each in reversed(around)) or self._is_ignored(
            path, top, is_folder
        )

    @cached_property
    def _root(self) -> str | None:
        folder = Path(self.folder).absolute()
        return next((str(each) for each in (folder, *folder.parents) if (each / ".git").exists()), None)

    @cached_property
    def _top(self) -> str | None:
        """The highest folder whose file counts; None outside of repositories."""
        root, folder = self._root, os.path.abspath(self.folder)
        if root is None:
            return None
        between = [folder, *map(str, Path(folder).parents)]
        below = between[: between.index(root)]
        return folder if any(self._is_ignored(each, root, True) for each in below) else root

    def _is_ignored(self, path: str, top: str, is_folder: bool) -> bool:
        key = path, top, is_folder
        if key not in self._answers:
            self._answers[key] = self._asked(path, top, is_folder)
        return self._answers[key]

    def _asked(self, path: str, top: str, is_folder: bool) -> bool:
        parent = os.path.dirname(path)
        while True:
            spec = self._spec(parent)
            if spec is not None:
                name = os.path.relpath(path, parent) + ("/" if is_folder else "")
                answer = spec.check_file(name).include
                if answer is not None:
                    return answer
            if parent == top or parent == os.path.dirname(parent):
                return False
            parent = os.path.dirname(parent)

    def _spec(self, folder: str) -> GitIgnoreSpec | None:
        if folder not in self._specs:
            lines = _lines(os.path.join(folder, _FILE))
            if folder == self._root:
                lines = [*_lines(os.path.join(folder, ".git", "info", "exclude")), *lines]
            self._specs[folder] = _spec_of(lines)
        return self._specs[folder]


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except (OSError, ValueError):
        return []


def _spec_of(lines: Sequence[str]) -> GitIgnoreSpec | None:
    """Return the patterns of a file; a line that is no pattern is passed over, as Git does."""
    if not any(line.strip() and not line.startswith("#") for line in lines):
        return None
    from pathspec import GitIgnoreSpec

    kept: list[str] = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        kept.append(line)
    return GitIgnoreSpec.from_lines(kept)
