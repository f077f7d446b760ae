"""Repairs as edits of the text as it was before any of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..finding import Finding, Fix, Replacement
from ..source import Source
from .edits import Edit
from .weighing import Repair


def fixes_of(source: Source, repairs: Sequence[Repair]) -> Iterator[tuple[Finding, Fix]]:
    """Yield each repair that does not build on the text of an earlier one, with its edits of the original text."""
    earlier: list[tuple[Edit, ...]] = []
    for done in repairs:
        moved = [_moved(patch.edits, (*earlier, *(p.edits for p in done.patches[:number])))
                 for number, patch in enumerate(done.patches)]  # fmt: skip
        edits = [edit for each in moved for edit in each or ()]
        if all(each is not None for each in moved):
            replacements = tuple(
                Replacement(source.position(edit.start), source.position(edit.end), edit.replacement)
                for edit in sorted(edits)
            )
            yield done.finding, Fix("; ".join(patch.summary for patch in done.patches), replacements)
        earlier += [patch.edits for patch in done.patches]


def _moved(edits: Sequence[Edit], earlier: Sequence[Sequence[Edit]]) -> list[Edit] | None:
    """Return edits of a text as edits of the one before earlier edits, None when they change what those wrote."""
    found = list(edits)
    for applied in reversed(earlier):
        moved = [_before(edit, applied) for edit in found]
        found = [edit for edit in moved if edit is not None]
        if len(found) < len(moved):
            return None
    return found


def _before(edit: Edit, applied: Sequence[Edit]) -> Edit | None:
    shift = 0
    for each in sorted(applied):
        start = each.start + shift
        end = start + len(each.replacement)
        if edit.end < start:
            break
        if edit.start <= end:
            return None
        shift += len(each.replacement) - (each.end - each.start)
    return Edit(edit.start - shift, edit.end - shift, edit.replacement)
