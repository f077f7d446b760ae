"""Commit and await the asynchronous multiplications of a warpgroup where one batch of them ends."""

from __future__ import annotations

from collections.abc import Iterator

from ...opcodes.op import Op
from ..edits import Edit
from ..patch import Patch, Writer, combined
from ..sites import points_of
from ..subject import Subject

_RULES = ("SM02", "WG")
_MULTIPLY = (Op.WGMMA_MMA_ASYNC, Op.WGMMA_MMA_ASYNC_SP)
_COMMIT = "wgmma.commit_group.sync.aligned;"
_WAIT = "wgmma.wait_group.sync.aligned 0;"


def close_matrix_group(subject: Subject) -> Iterator[Patch]:
    """Yield a commit, a wait, or both, behind the last multiplication of each batch that the finding is about."""
    if not subject.finding.rule.startswith(_RULES):
        return
    multiplications = points_of(subject.view, *_MULTIPLY)
    ends = [_end(subject, point) for point in subject.around if point in multiplications]
    for rank, last in enumerate(dict.fromkeys(ends)):
        yield from _closed(subject, last, 1 + rank)


def _end(subject: Subject, point: int) -> int:
    """Return the last multiplication before the next fence of the warpgroup."""
    fence = next((p for p in points_of(subject.view, Op.WGMMA_FENCE) if p > point), None)
    return max(p for p in points_of(subject.view, *_MULTIPLY) if fence is None or p < fence)


def _closed(subject: Subject, last: int, cost: int) -> Iterator[Patch]:
    writer = Writer(subject.view)
    following = next((p for p in points_of(subject.view, *_MULTIPLY) if p > last), None)
    commits, waits = (
        [p for p in points_of(subject.view, op) if p > last and (following is None or p < following)]
        for op in (Op.WGMMA_COMMIT_GROUP, Op.WGMMA_WAIT_GROUP)
    )
    fence = max((p for p in points_of(subject.view, Op.WGMMA_FENCE) if p < last), default=-1)
    early = [p for p in points_of(subject.view, Op.WGMMA_COMMIT_GROUP) if fence < p < last]
    commit, wait, both = (
        writer.after(last, _COMMIT),
        writer.after(last, _WAIT),
        writer.after(last, _COMMIT, _WAIT),
    )
    yield from _moved(writer, early, commit, _COMMIT, cost - 1)
    yield combined("matrix group", f"insert '{_COMMIT}'", cost, [commit])
    if commits:
        place = writer.after(commits[0], _WAIT)
        yield combined("matrix group", f"insert '{_WAIT}'", cost, [place])
        yield from _moved(writer, waits, place, _WAIT, cost - 1)
        if not waits or commits[0] > waits[0]:
            yield from _moved(writer, commits, commit, _COMMIT, cost - 1)
    else:
        yield combined("matrix group", f"insert '{_WAIT}'", cost + 1, [wait])
    yield combined("matrix group", f"insert '{_COMMIT} {_WAIT}'", cost + 1, [both])


def _moved(writer: Writer, points: list[int], place: Edit, text: str, cost: int) -> Iterator[Patch]:
    """Yield the move of the first of some statements."""
    for point in points[:1]:
        inserted = Edit(place.start, place.end, f"\n\t{writer.statement(point)}")
        yield combined(
            "matrix group", f"move '{text}' behind the batch", cost, [writer.delete(point), inserted]
        )
