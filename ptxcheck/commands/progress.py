"""A line on standard error that says how far a long run is."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from ..pipeline.work import Progress
from . import console

_BAR = 30


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Show a line while the block runs; it disappears at the end."""

    def report(done: int, total: int, name: str) -> None:
        console.redraw(progress_line(done, total, name, shutil.get_terminal_size().columns))

    try:
        yield report
    finally:
        console.redraw("")


def progress_line(done: int, total: int, name: str, width: int) -> str:
    """Return how many inputs are done, and the first that is not, in less than the width of the terminal."""
    from ..report.plain import visible

    full = _BAR * done // max(total, 1)
    return f"checking [{'#' * full}{' ' * (_BAR - full)}] {done}/{total} {visible(name)}"[: max(width - 1, 0)]
