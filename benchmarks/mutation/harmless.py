"""Mutants that change nothing that matters, each with the reason why: `harmless.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

_DATA = Path(__file__).with_name("harmless.toml")


@dataclass(frozen=True, slots=True)
class Harmless:
    """Mutants that keep a kernel right: by file, operators, and a pattern for the statement."""

    files: str
    operators: frozenset[str]
    statement: re.Pattern[str]
    reason: str

    def covers(self, file: str, operator: str, statement: str) -> bool:
        named = operator in self.operators and fnmatchcase(file, self.files)
        return named and self.statement.search(statement) is not None


def load_harmless(path: Path = _DATA) -> tuple[Harmless, ...]:
    """Read the list. Raises KeyError when an entry lacks a part, its reason above all."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["harmless"]
    return tuple(
        Harmless(row["files"], frozenset(row["operators"]), re.compile(row["statement"]), row["reason"])
        for row in rows
    )


def why_harmless(listed: Sequence[Harmless], file: str, operator: str, statement: str) -> str | None:
    """Return the reason why a mutant is harmless, or None."""
    return next((each.reason for each in listed if each.covers(file, operator, statement)), None)
