"""`ptxcheck suppress`: comments in the source that say why findings are meant to be there."""

from __future__ import annotations

from dataclasses import dataclass, replace

import click

from ..report import Format, render
from . import console
from .check import checked
from .check_options import CheckOptions, configuration
from .options import CONFIG_FILE, split_commas, takes
from .text_diff import diff_text


@dataclass(frozen=True, slots=True)
class SuppressOptions:
    """Which findings to suppress, and why."""

    paths: tuple[str, ...]
    reason: str
    select: tuple[str, ...]
    diff: bool
    config_file: str | None


@click.command("suppress")
@click.argument("paths", nargs=-1, required=True, metavar="PATHS...", type=click.Path())
@click.option("--reason", required=True, metavar="TEXT", help="Why the findings are meant to be there.")
@click.option("--select", multiple=True, callback=split_commas, help="Only findings of these rules.")
@click.option("--diff", is_flag=True, help="Print the change as a unified diff, and write nothing.")
@CONFIG_FILE
@takes(SuppressOptions)
def suppress_command(options: SuppressOptions) -> None:
    """Write a comment above each finding that suppresses it, with the reason given.

    Exit codes: 0 all are suppressed, 1 some could not be, 2 bad input or usage.
    """
    from ..triage.write_suppressions import own_files, suppressions, text_of

    reason = " ".join(options.reason.split())
    if not reason:
        console.fail("a suppression needs a reason: --reason TEXT")
    settings = CheckOptions(options.paths, select=options.select, config_file=options.config_file)
    report = checked(settings, configuration(settings))
    made = suppressions(report.active, reason, own_files(report.inputs), text_of)
    for file, text in made.texts.items():
        if options.diff:
            console.write(diff_text(file, text_of(file) or "", text))
        else:
            console.write(text, file)
    for finding, why in made.left:
        place = finding.location.primary
        console.remark(f"{place.file}:{place.line}: {finding.rule} is not suppressed: {why}")
    console.remark(f"{made.written} suppressed in {len(made.texts)} files, {len(made.left)} left")
    if report.problems:
        console.write(render(replace(report, findings=(), notes=()), Format.CONCISE))
    console.leave(console.BAD_INPUT if report.problems else int(bool(made.left)))
