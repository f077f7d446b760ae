"""Change a tensor map behind the wait for the load that reads it."""

from __future__ import annotations

from collections.abc import Iterator

from ...opcodes.op import Op
from ...protocols.symex.slice.polling import POLLS
from ..edits import Edit
from ..patch import Patch, Writer, combined
from ..sites import points_of, step_at
from ..subject import Subject

_UPDATES = frozenset({Op.TENSORMAP_REPLACE, Op.TENSORMAP_CP_FENCEPROXY, Op.FENCE_PROXY})
_MOST = 4


def change_map_later(subject: Subject) -> Iterator[Patch]:
    """Yield the move of the changes of a map, with their fences, behind the next waits and behind what skips those."""
    if subject.finding.rule != "TD057" or subject.point < 0:
        return
    writer = Writer(subject.view)
    row = _row(subject)
    text = " ".join(writer.statement(point) for point in row)
    for rank, place in enumerate(_places(subject, row)[:_MOST]):
        at = writer.before(place)
        edits = [*(writer.delete(point) for point in row), Edit(at.start, at.end, f"{text} ")]
        yield combined("map update", "change the tensor map behind the wait for its load", 3 + rank, edits)


def _row(subject: Subject) -> range:
    """Return the statements in a row that change the map and make the change known."""
    instructions = subject.view.body.instructions
    first = last = subject.point
    while first and instructions[first - 1].operation.op in _UPDATES:
        first -= 1
    while last + 1 < len(instructions) and instructions[last + 1].operation.op in _UPDATES:
        last += 1
    return range(first, last + 1)


def _places(subject: Subject, row: range) -> list[int]:
    """Return what comes behind each wait below, where those who skip it go on as well, then right behind it."""
    view = subject.view
    found: dict[int, None] = {}
    for poll in points_of(view, *POLLS):
        last = step_at(view, poll).last
        if poll < row.stop or last + 1 >= len(view.body.instructions):
            continue
        behind = range(last + 1, len(view.body.instructions))
        joins = [
            p for p in behind if view.cfg.postdominates(p, row.start) and _reads_the_same(subject, row, p)
        ]
        found.update(dict.fromkeys(joins[:1]))
        if _reads_the_same(subject, row, last + 1):
            found[last + 1] = None
    return list(found)


def _reads_the_same(subject: Subject, row: range, place: int) -> bool:
    """Tell whether the registers that some statements read are the same at another place."""
    view = subject.view
    return all(
        view.facts.same_definition(point, register, place, register)
        for point in row
        for register in view.body.instructions[point].reads()
    )
