"""`ptxcheck fix`: repair what was found."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Sequence

import click

from ..report.plain import plural
from . import console
from .fixing import FixOptions, RepairedSource, repaired_file
from .options import CONFIG_FILE, EFFORT, launch_options, takes
from .text_diff import diff_text


@click.command("fix")
@click.argument("paths", nargs=-1, required=True, metavar="PATHS...", type=click.Path())
@click.option("--diff", is_flag=True, help="Print the change as a unified diff.")
@click.option("--in-place", is_flag=True, help="Write the repaired text to its file, whole or not at all.")
@click.option(
    "--output", "-o", metavar="FILE", help="Write the repaired text of one file to FILE, whole or not at all."
)
@click.option("--unsafe", is_flag=True, help="Also keep repairs that are only suggested.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    help="Output format; sarif is the report of check with fixes, for one file.",
)
@launch_options
@EFFORT
@CONFIG_FILE
@takes(FixOptions)
def fix_command(options: FixOptions) -> None:
    """Repair PTX and CUDA files, or encode calls of host code: propose patches, check each again, and keep those
    that pass. Folders are searched as by check.

    In a CUDA file a patch becomes a change of the source, where one is found that compiles to what passes. A repair is
    `safe` when the checker proves the patched kernel and ptxas takes it, else `suggested`. Without options the repairs
    are listed and nothing is written. Ctrl-C keeps what was found by then.

    Exit codes: 0 nothing is left to repair, 1 findings are left, 2 bad input.
    """
    is_search = len(options.paths) > 1 or _is_search(options.paths[0])
    files = _files(options) if is_search else list(options.paths)
    done: list[tuple[str, RepairedSource]] = []
    has_failed = False
    for path in files:
        try:
            done.append((path, _repaired(path, options, is_one=not is_search)))
        except SystemExit:  # it has said why
            if not is_search:
                raise
            has_failed = True
    if is_search and options.form == "json" and not options.diff:
        tables = [{"file": path, **json.loads(each.report)} for path, each in done]
        console.write(json.dumps(tables, indent=2) + "\n")
    elif is_search and not options.diff:
        console.write(_summary(done))
    console.leave(2 if has_failed else 1 if any(each.findings_are_left for _, each in done) else 0)


def _summary(done: Sequence[tuple[str, RepairedSource]]) -> str:
    changed = [path for path, each in done if each.after != each.before]
    left = [path for path, each in done if each.findings_are_left]
    return (
        f"{plural(len(done), 'file')}; {len(changed)} with repairs"
        + (f"; findings are left in {', '.join(left)}" if left else "")
        + "\n"
    )


def _files(options: FixOptions) -> list[str]:
    """Return the files that paths name; of folders all that check would look at."""
    from ..frontends import discover
    from .repair_inputs import config_of

    config = config_of(options.paths[0], options.config_file, options.stated)
    found, problems = discover(options.paths, config.exclude, gitignore=config.gitignore)
    if problems:
        console.fail_for(problems)
    if len(found) > 1 and (options.output or options.form == "sarif"):
        console.fail(f"--output and --format sarif are for one file; there are {len(found)}")
    return [each.path for each in found]


def _is_search(path: str) -> bool:
    return os.path.isdir(path) or (glob.has_magic(path) and not os.path.lexists(path))


def _repaired(path: str, options: FixOptions, *, is_one: bool) -> RepairedSource:
    """Repair one file, show what was done, and write what is asked for; one of many with nothing to do is silent."""
    repaired = repaired_file(path, options)
    is_idle = repaired.after == repaired.before and not repaired.findings_are_left
    if options.diff:
        console.write(diff_text(path, repaired.before, repaired.after))
    elif is_one or (options.form != "json" and not is_idle):
        console.write(repaired.report)
    if options.in_place and repaired.after != repaired.before:
        console.write(repaired.after, path)
    if options.output:
        console.write(repaired.after, options.output)
    return repaired
