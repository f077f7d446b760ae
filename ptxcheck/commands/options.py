"""Options of commands as values: what several commands share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from ..terms.effort import LEVELS

Options = TypeVar("Options")


def takes(options: Callable[..., Options]) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """Have a command called with one value, made of all its parameters."""

    def decorate(run: Callable[[Options], None]) -> Callable[..., None]:
        @wraps(run)
        def command(**given: Any) -> None:
            run(options(**given))

        return command

    return decorate


def split_commas(
    _context: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the items of lists that commas separate."""
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


def split_words(
    _context: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the words of texts that are written as for a shell."""
    import shlex

    try:
        return tuple(word for value in values for word in shlex.split(value))
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def choice(*forms: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the option `--format`; the first form is the default."""
    return click.option("--format", "form", type=click.Choice(forms), default=forms[0], help="Output format.")


_LAUNCH_OPTIONS = (
    click.option("--launch", multiple=True, metavar="SPEC", help="How kernels are launched, as for check."),
    click.option("--assume", multiple=True, metavar="SPEC", help="A value that the host passes."),
    click.option(
        "--tensor-map", "tensor_map", multiple=True, metavar="PARAM=SPEC", help="A tensor map that it passes."
    ),
)


def launch_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say how kernels are launched."""
    for option in reversed(_LAUNCH_OPTIONS):
        command = option(command)
    return command


class EffortType(click.ParamType[float]):
    """The effort for one kernel: a level, or seconds that it takes on the machine that the effort was fitted on."""

    name = "effort"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds."""
        found = LEVELS.get(str(value))
        if found is not None:
            return found
        try:
            seconds = float(str(value))
        except ValueError:
            seconds = 0.0
        if not 0 < seconds < float("inf"):
            self.fail(
                f"{value!r} is none of {', '.join(LEVELS)}, and no positive number of seconds", param, ctx
            )
        return seconds


EFFORT = click.option(
    "--effort", "--verify-seconds", "verify_seconds", type=EffortType(), metavar="LEVEL|SECONDS",
    help="Effort for verifying one kernel: low, normal, high, or about so many seconds.",
)  # fmt: skip
CONFIG_FILE = click.option("--config", "config_file", metavar="FILE", help="Read this configuration file.")
