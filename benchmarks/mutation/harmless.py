"""Mutants that change nothing that matters, each with the reason why: `harmless.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from .operators import Mutant

_DATA = Path(__file__).with_name("harmless.toml")


@dataclass(frozen=True, slots=True)
class Harmless:
    """Mutants that keep a kernel right: by files, operators, a pattern for the statement, and which of its kind."""

    files: tuple[str, ...]
    operators: frozenset[str]
    statement: re.Pattern[str]
    occurrences: frozenset[int]
    """Which of the statements that are written the same; all when empty."""
    reason: str
    left_to: frozenset[str] = frozenset()
    """Rules and properties that tell those apart that do matter: what they find is not harmless."""

    def covers(self, file: str, mutant: Mutant) -> bool:
        named = mutant.operator in self.operators and any(fnmatchcase(file, each) for each in self.files)
        chosen = not self.occurrences or mutant.occurrence in self.occurrences
        return named and chosen and self.statement.search(mutant.statement) is not None


def load_harmless(path: Path = _DATA) -> tuple[Harmless, ...]:
    """Read the list. Raises KeyError when an entry lacks a part, its reason above all."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["harmless"]
    return tuple(
        Harmless(
            tuple(row["files"]), frozenset(row["operators"]), re.compile(row["statement"]),
            frozenset(row.get("occurrences", ())), row["reason"], frozenset(row.get("left_to", ())),
        )
        for row in rows
    )  # fmt: skip


def why_harmless(
    listed: Sequence[Harmless], file: str, mutant: Mutant, found: Iterable[str] = ()
) -> str | None:
    """Return the reason why a mutant is harmless, or None. `found`: rules that fire, violated properties."""
    known = frozenset(found)
    return next(
        (each.reason for each in listed if each.covers(file, mutant) and not each.left_to & known), None
    )
