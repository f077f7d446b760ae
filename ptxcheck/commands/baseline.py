"""`ptxcheck baseline`: findings that are known and not to be reported again."""

from __future__ import annotations

from dataclasses import dataclass, replace

import click

from ..report import Format, render
from . import console
from .check import checked
from .check_options import CheckOptions, configuration
from .options import CONFIG_FILE, takes


@click.group("baseline")
def baseline_group() -> None:
    """Baselines: findings that are known and not to be reported again."""


@dataclass(frozen=True, slots=True)
class BaselineOptions:
    """What to check, and the file to write."""

    paths: tuple[str, ...]
    output: str
    config_file: str | None


@baseline_group.command("write")
@click.argument("paths", nargs=-1, required=True, metavar="PATHS...", type=click.Path())
@click.option("--output", "-o", default="ptxcheck-baseline.json", metavar="FILE", help="The file to write.")
@CONFIG_FILE
@takes(BaselineOptions)
def baseline_write_command(options: BaselineOptions) -> None:
    """List all findings in a file for `ptxcheck check --baseline`."""
    from ..triage.baseline import baseline_text

    settings = CheckOptions(options.paths, config_file=options.config_file)
    report = checked(settings, configuration(settings))
    if report.problems:
        console.write(render(replace(report, findings=(), notes=()), Format.TEXT))
        console.leave(console.BAD_INPUT)
    console.write(baseline_text(report, options.output), options.output)
