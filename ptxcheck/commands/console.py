"""What the command line prints, and how it ends: with `cli`, the only module that does either."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

import click

from ..results import Problem
from ..runtime.interrupts import INTERRUPTED, Interrupts
from ..runtime.output import OutputError, write_atomically

if TYPE_CHECKING:
    from ..launches.hints import LaunchHint

BAD_INPUT = 2


def leave(status: int) -> NoReturn:
    """End with an exit code."""
    sys.exit(status)


def fail(message: str) -> NoReturn:
    """Say why the input is bad, and end with exit code 2; while Ctrl-C ends the work, that alone is said."""
    context = click.get_current_context(silent=True)
    if context is not None and (interrupts := context.find_object(Interrupts)) is not None:
        interrupts.give_way()
    remark(f"ptxcheck: {message}")
    sys.exit(BAD_INPUT)


def fail_for(problems: Sequence[Problem]) -> NoReturn:
    """Say what was wrong with the input, a line for each, and end with exit code 2."""
    fail("\n".join(map(problem_line, problems)))


def tell_unused(hints: Sequence[LaunchHint], kernels: Sequence[str]) -> None:
    """Say which launches of the command line are for no kernel."""
    from ..launches.hints import unused

    for _, message in unused(hints, kernels):
        remark(f"ptxcheck: note: {message}")


def problem_line(problem: Problem) -> str:
    """Return what was wrong and where."""
    from ..report.plain import place, visible

    detail = f"\n{visible(problem.detail)}" if problem.detail else ""
    return f"{place(problem.position)}: {visible(problem.message)}{detail}"


def interrupted() -> NoReturn:
    """End as Ctrl-C does where nobody watches for it."""
    remark("ptxcheck: interrupted")
    sys.exit(INTERRUPTED)


def remark(text: str) -> None:
    """Print a line on standard error."""
    click.echo(text, err=True)


def redraw(text: str) -> None:
    """Put a text on standard error in place of what `redraw` put there before."""
    click.echo(f"\r\x1b[2K{text}", err=True, nl=False, color=True)


def write(text: str, output: str | None = None) -> None:
    """Write to a file, or to standard output without failing when the reader is gone."""
    if output is not None:
        try:
            write_atomically(output, text)
        except OutputError as error:
            fail(str(error))
        return
    data = text.encode("utf-8", errors="backslashreplace")
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left is flushed at the end
        if not isinstance(error, BrokenPipeError):
            fail(f"cannot write to standard output: {error.strerror}")


def has_color(wish: str = "auto") -> bool:
    """Tell whether standard output is to be coloured: `always`, `never`, or `auto` as the environment says."""
    if wish != "auto":
        return wish == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def has_progress() -> bool:
    """Tell whether somebody looks at standard error."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
