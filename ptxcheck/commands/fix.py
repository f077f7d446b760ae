"""`ptxcheck fix`: repair what was found."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from . import console
from .options import CONFIG_FILE, launch_options, takes
from .repair_inputs import CUDA, Stated, config_of, prepared, rules_of, text_of
from .repair_report import host_rows, host_text, outcome_table, outcome_text, source_table, source_text
from .text_diff import diff_text

if TYPE_CHECKING:
    from ..config import Config
    from ..patching.host_repair import HostOutcome
    from ..repair.weighing import Outcome


@dataclass(frozen=True, slots=True)
class FixOptions:
    """The file to repair, and what to do with its repaired text."""

    path: str
    diff: bool
    in_place: bool
    output: str | None
    unsafe: bool
    form: str
    launch: tuple[str, ...]
    assume: tuple[str, ...]
    tensor_map: tuple[str, ...]
    config_file: str | None

    @property
    def stated(self) -> Stated:
        """What is said of launches."""
        return Stated(self.launch, self.assume, self.tensor_map)


@dataclass(frozen=True, slots=True)
class RepairedSource:
    """A source before and after its repair."""

    before: str
    after: str
    report: str
    """What to show of it."""
    findings_are_left: bool


@click.command("fix")
@click.argument("path", metavar="FILE", type=click.Path())
@click.option("--diff", is_flag=True, help="Print the change as a unified diff.")
@click.option("--in-place", is_flag=True, help="Write the repaired text to FILE, whole or not at all.")
@click.option("--output", "-o", metavar="FILE", help="Write the repaired text to FILE, whole or not at all.")
@click.option("--unsafe", is_flag=True, help="Also keep repairs that are only suggested.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    help="Output format; sarif is the report of check with fixes.",
)
@launch_options
@CONFIG_FILE
@takes(FixOptions)
def fix_command(options: FixOptions) -> None:
    """Repair a PTX or CUDA file, or encode calls of host code: propose patches, check each again, and keep those
    that pass.

    In a CUDA file a patch becomes a change of the source, where one is found that compiles to what passes. A repair is
    `safe` when the checker proves the patched kernel and ptxas takes it, else `suggested`. Without options the repairs
    are listed and nothing is written.

    Exit codes: 0 nothing is left to repair, 1 findings are left, 2 bad input.
    """
    from ..frontends import HOST_SUFFIXES

    if options.path.endswith(CUDA):
        repaired = _repaired_cuda(options)
    elif options.path.endswith(tuple(HOST_SUFFIXES)):
        repaired = _repaired_host(options)
    else:
        repaired = _repaired_ptx(options)
    if options.diff:
        console.write(diff_text(options.path, repaired.before, repaired.after))
    else:
        console.write(repaired.report)
    if options.in_place and repaired.after != repaired.before:
        console.write(repaired.after, options.path)
    if options.output:
        console.write(repaired.after, options.output)
    console.leave(1 if repaired.findings_are_left else 0)


def _repaired_ptx(options: FixOptions) -> RepairedSource:
    from ..repair.search import repair

    text, judge, assembler = prepared(options.path, options.config_file, options.stated)
    outcome = repair(
        text,
        judge,
        assembler,
        unsafe=options.unsafe,
        quick=judge.rules_only,
        brief=judge.brief,
        plain=judge.plain,
    )
    report = "" if options.diff else _ptx_report(text, outcome, options)
    return RepairedSource(text, outcome.text, report, bool(outcome.left))


def _ptx_report(text: str, outcome: Outcome, options: FixOptions) -> str:
    if options.form == "json":
        return json.dumps(outcome_table(outcome), indent=2) + "\n"
    return _sarif(text, outcome, options) if options.form == "sarif" else outcome_text(outcome)


def _sarif(text: str, outcome: Outcome, options: FixOptions) -> str:
    from ..checker import check
    from ..repair.original import fixes_of
    from ..report.sarif import render_sarif
    from ..source import Source

    path = options.path
    fixes = {found.fingerprint: fix for found, fix in fixes_of(Source(path, text), outcome.repairs)}
    return render_sarif(check(path, config=config_of(path, options.config_file, options.stated)), fixes)


def _repaired_cuda(options: FixOptions) -> RepairedSource:
    from ..patching.source_repair import SourceError, SourceJudge, repair_source
    from ..repair.assemble import find_ptxas

    path = options.path
    text = _without_sarif(options)
    config = config_of(path, options.config_file, options.stated)
    try:
        outcome = repair_source(
            text, SourceJudge(path, rules_of(config), config), find_ptxas(), unsafe=options.unsafe
        )
    except SourceError as error:
        console.fail(f"{path}: {error}; only a source that can be checked in full is repaired")
    host = _host_outcome(path, outcome.text, config)
    if options.form == "text":
        shown = source_text(outcome) + host_text(path, host)
    else:
        shown = json.dumps({**source_table(outcome), "maps": host_rows(host)}, indent=2) + "\n"
    patched = host.text if options.unsafe else outcome.text
    return RepairedSource(text, patched, shown, bool(outcome.left) or _is_host_left(host, options))


def _repaired_host(options: FixOptions) -> RepairedSource:
    path = options.path
    text = _without_sarif(options)
    host = _host_outcome(path, text, config_of(path, options.config_file, options.stated))
    is_text = options.form == "text"
    shown = host_text(path, host) if is_text else json.dumps({"maps": host_rows(host)}, indent=2) + "\n"
    patched = host.text if options.unsafe else text
    return RepairedSource(text, patched, shown or "nothing to repair\n", _is_host_left(host, options))


def _without_sarif(options: FixOptions) -> str:
    """Return the text of a source, for which there is no SARIF."""
    if options.form == "sarif":
        console.fail(f"{options.path}: SARIF fixes are for PTX files; use --diff, or --format json")
    return text_of(options.path)


def _host_outcome(path: str, text: str, config: Config) -> HostOutcome:
    from ..patching.host_repair import repair_host
    from ..source import Source

    return repair_host(Source(path, text), rules_of(config), config.nvcc.arch)


def _is_host_left(host: HostOutcome, options: FixOptions) -> bool:
    return bool(host.left) or (bool(host.repairs) and not options.unsafe)
