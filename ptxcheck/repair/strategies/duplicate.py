"""Leave out a synchronising statement that stands there twice in a row."""

from __future__ import annotations

from collections.abc import Iterator

from ..patch import Patch, Writer, combined
from ..sites import nearest, sites_of
from ..subject import Subject


def remove_duplicate(subject: Subject) -> Iterator[Patch]:
    """Yield the removal of each synchronising statement that the one before it says already, word by word."""
    if not subject.is_about_synchronisation:
        return
    writer = Writer(subject.view)
    labelled = frozenset(subject.view.body.labels.values())
    for point in nearest(sites_of(subject.view), subject.around):
        if point and point not in labelled and writer.statement(point) == writer.statement(point - 1):
            text = writer.statement(point)
            yield combined("duplicate", f"leave out the second '{text}'", 0, [writer.delete(point)])
