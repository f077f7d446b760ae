"""Text edits of PTX: the only way in which a kernel is changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replace the characters `start` to `end` (exclusive) of a text; an insertion has start == end."""

    start: int
    end: int
    replacement: str


class OverlapError(ValueError):
    """Two edits change the same characters."""


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return the edited text. Insertions at one place keep the order in which they are given.

    Raises OverlapError when two edits overlap, and ValueError when one lies outside the text.
    """
    parts: list[str] = []
    done = 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        if not 0 <= edit.start <= edit.end <= len(text):
            raise ValueError(f"edit {edit.start}..{edit.end} is outside a text of {len(text)} characters")
        if edit.start < done:
            raise OverlapError(f"two edits change the characters at {edit.start}")
        parts += (text[done : edit.start], edit.replacement)
        done = edit.end
    parts.append(text[done:])
    return "".join(parts)
