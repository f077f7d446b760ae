"""Move a statement: a release behind the last use, a fence before the barrier."""

from __future__ import annotations

from collections.abc import Iterator

from ..edits import Edit
from ..patch import Patch, Writer, combined
from ..subject import Subject

_RULES = frozenset(
    {
        "MB021",
        "MB022",
        "MB024",
        "MB025",
        "MB027",
        "TX003",
        "TX004",
        "BG006",
        "PX001",
        "WG003",
        "CA003",
        "BG012",
    }
)
_FURTHEST = 8


def move_statement(subject: Subject) -> Iterator[Patch]:
    """Yield moves of the instructions of a finding within their block, the nearest places first."""
    if subject.finding.rule not in _RULES:
        return
    cfg = subject.view.cfg
    writer = Writer(subject.view)
    for point in dict.fromkeys((subject.point, *subject.related, *subject.barrier_points)):
        if point < 0:
            continue
        block = cfg.blocks[cfg.graph.block_of[point]]
        text = writer.statement(point)
        for place in block.points:
            distance = place - point
            if distance in (0, 1) or abs(distance) > _FURTHEST:
                continue
            inserted: Edit = writer.before(place, text)
            yield combined(
                "movement", f"move '{text}' {'down' if distance > 0 else 'up'}", 4 + abs(distance),
                [writer.delete(point), inserted],
            )  # fmt: skip
