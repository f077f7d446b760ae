"""A progress bar on standard error for long runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from ..pipeline.work import Progress as Report


@contextmanager
def progress_bar() -> Iterator[Report]:
    """Show a bar while the block runs; it disappears at the end."""
    columns = (
        TextColumn("checking"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total} {task.description}"),
    )
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def report(done: int, total: int, name: str) -> None:
            bar.update(task, completed=done, total=total, description=name.replace("[", r"\["))

        yield report
