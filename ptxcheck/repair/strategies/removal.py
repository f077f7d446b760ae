"""Remove a statement that is one too many."""

from __future__ import annotations

from collections.abc import Iterator

from ..patch import Patch, Writer, combined
from ..subject import Subject

_RULES = frozenset(
    {
        "MB004",
        "MB023",
        "MB026",
        "CL002",
        "CA004",
        "NB011",
        "NB012",
        "MB005",
        "TM005",
        "TM027",
        "WG007",
        "WG009",
        "CL003",
    }
)


def remove_statement(subject: Subject) -> Iterator[Patch]:
    """Yield the removal of the instruction at the finding, and at its related places."""
    if subject.finding.rule not in _RULES:
        return
    for cost, point in enumerate(dict.fromkeys((subject.point, *subject.related))):
        if point >= 0:
            writer = Writer(subject.view)
            text = writer.statement(point)
            yield combined("removal", f"remove '{text}'", 3 + cost, [writer.delete(point)])
