"""A report with other file names: code review wants paths from the root of the repository."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

from ..results import Report
from ..source import Position

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Root:
    """The root of a repository, and the folder that relative names start from; both absolute."""

    root: str
    folder: str

    def __call__(self, path: str) -> str:
        """Return a path from the root, or the path as it is when it lies elsewhere."""
        if path.startswith("<"):
            return path
        absolute = os.path.normpath(os.path.join(self.folder, path))
        prefix = self.root.rstrip("/") + "/"
        return absolute.removeprefix(prefix) if absolute.startswith(prefix) else path


def renamed(report: Report, rename: Callable[[str], str]) -> Report:
    """Return the report with each file name replaced."""
    lines = {(rename(file), line): text for (file, line), text in report.lines.items()}
    moved = _moved(replace(report, lines={}, rules=()), rename)
    return replace(moved, lines=lines, rules=report.rules, inputs=tuple(map(rename, report.inputs)))


def _moved(value: T, rename: Callable[[str], str]) -> T:
    """Return a value of data classes and tuples with every position in it renamed."""
    made: Any = value
    if isinstance(value, Position):
        made = value._replace(file=rename(value.file))
    elif isinstance(value, tuple):
        items = [_moved(item, rename) for item in value]
        made = type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    elif is_dataclass(value) and not isinstance(value, type):
        changes = {
            field.name: _moved(getattr(value, field.name), rename) for field in fields(value) if field.init
        }
        made = replace(value, **changes)
    elif isinstance(value, Mapping):
        made = {key: _moved(item, rename) for key, item in value.items()}
    return made  # type: ignore[no-any-return]
