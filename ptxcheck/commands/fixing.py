"""Repairs of one file: of PTX, of a CUDA source, of encode calls of host code."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from ..runtime.interrupts import Interrupts
from . import console
from .repair_inputs import CUDA, Stated, config_of, prepared, rules_of, text_of
from .repair_report import host_rows, host_text, outcome_table, outcome_text, source_table, source_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..config import Config
    from ..finding import Finding
    from ..patching.host_repair import HostOutcome
    from ..repair.weighing import Outcome
    from .fix_progress import Told

BRAKE = 30.0
"""Processor time for one file, in what the verification of a kernel may take: an emergency brake."""
_SHARE = 1.5
"""Effort for candidates of one finding, in that of the verification of a kernel."""


@dataclass(frozen=True, slots=True)
class FixOptions:
    """What to repair, and what to do with the repaired text."""

    paths: tuple[str, ...]
    diff: bool = False
    in_place: bool = False
    output: str | None = None
    unsafe: bool = False
    form: str = "text"
    launch: tuple[str, ...] = ()
    assume: tuple[str, ...] = ()
    tensor_map: tuple[str, ...] = ()
    verify_seconds: float | None = None
    config_file: str | None = None

    @property
    def stated(self) -> Stated:
        """What is said of launches, and of effort."""
        return Stated(self.launch, self.assume, self.tensor_map, self.verify_seconds)

    def target(self, path: str) -> str | None:
        """Return where the repaired text of a file is to be written."""
        return path if self.in_place else self.output


@dataclass(frozen=True, slots=True)
class RepairedSource:
    """A source before and after its repair."""

    before: str
    after: str
    report: str
    """What to show of it."""
    findings_are_left: bool


def repaired_file(path: str, options: FixOptions, config: Config | None = None) -> RepairedSource:
    """Repair one file. Ctrl-C tells what was found by then, and writes it where that is asked for."""
    from ..frontends import HOST_SUFFIXES

    config = config or config_of(path, options.config_file, options.stated)
    with _told(path, options) as told:
        if path.endswith(CUDA):
            return _repaired_cuda(path, options, config, told)
        if path.endswith(tuple(HOST_SUFFIXES)):
            return _repaired_host(path, options, config)
        return _repaired_ptx(path, options, config, told)


@contextmanager
def _told(path: str, options: FixOptions) -> Iterator[Told]:
    """Return who is told of the search, and has the last words if it is interrupted."""
    from .fix_progress import Told

    def keep(text: str) -> None:
        target = options.target(path)
        if target is not None:
            console.write(text, target)

    told = Told(path, keep)
    interrupts = click.get_current_context().find_object(Interrupts)
    if interrupts is not None:
        interrupts.last_words = told.last_words
    try:
        yield told
    finally:
        told.ends()
        if interrupts is not None:
            interrupts.last_words = None


def _is_wanted(path: str, text: str, told: Told) -> Callable[[Finding], bool]:
    """Return whether a finding is to be repaired: what a comment suppresses is meant to be there."""
    from ..source import Source
    from ..sources.comments import comments
    from ..triage.suppress import suppress

    def is_wanted(finding: Finding) -> bool:
        known = comments(Source(path, told.text or text))  # lines move with what was repaired
        return suppress([finding], {path: known}, (), ()).findings[0].suppressed is None

    return is_wanted


def _braked(seconds: float) -> str:
    """Return what to say where the clock ended the search."""
    return (
        f"the search was ended by the clock, after {BRAKE * seconds:.0f} s of processor time; what is left may have "
        "repairs: --effort high searches longer\n"
    )


def _repaired_ptx(path: str, options: FixOptions, config: Config, told: Told) -> RepairedSource:
    from ..repair.search import repair

    text, judge, assembler = prepared(path, config)
    seconds = config.verify_seconds
    is_wanted = _is_wanted(path, text, told)
    outcome = repair(
        text,
        judge,
        assembler,
        unsafe=options.unsafe,
        only=is_wanted,
        quick=judge.rules_only,
        brief=judge.brief,
        plain=judge.plain,
        watch=told,
        effort=_SHARE * seconds,
        seconds=BRAKE * seconds,
    )
    outcome = replace(outcome, left=tuple(filter(is_wanted, outcome.left)))
    report = "" if options.diff else _ptx_report(path, text, outcome, options, config)
    if outcome.was_braked and options.form == "text":
        report += _braked(seconds)
    return RepairedSource(text, outcome.text, report, bool(outcome.left))


def _ptx_report(path: str, text: str, outcome: Outcome, options: FixOptions, config: Config) -> str:
    if options.form == "json":
        return json.dumps(outcome_table(outcome), indent=2) + "\n"
    return _sarif(path, text, outcome, config) if options.form == "sarif" else outcome_text(outcome)


def _sarif(path: str, text: str, outcome: Outcome, config: Config) -> str:
    from ..checker import check
    from ..repair.original import fixes_of
    from ..report.sarif import render_sarif
    from ..source import Source

    fixes = {found.fingerprint: fix for found, fix in fixes_of(Source(path, text), outcome.repairs)}
    return render_sarif(check(path, config=config), fixes)


def _repaired_cuda(path: str, options: FixOptions, config: Config, told: Told) -> RepairedSource:
    from ..patching.source_repair import SourceError, SourceJudge, repair_source
    from ..repair.assemble import find_ptxas

    text = _without_sarif(path, options)
    is_wanted = _is_wanted(path, text, told)
    try:
        outcome = repair_source(
            text,
            SourceJudge(path, rules_of(config), config),
            find_ptxas(),
            unsafe=options.unsafe,
            only=is_wanted,
            watch=told,
            effort=_SHARE * config.verify_seconds,
            seconds=BRAKE * config.verify_seconds,
        )
    except SourceError as error:
        console.fail(f"{path}: {error}; only a source that can be checked in full is repaired")
    outcome = replace(outcome, left=tuple(filter(is_wanted, outcome.left)))
    host = _host_outcome(path, outcome.text, config)
    if options.form == "text":
        shown = source_text(outcome) + host_text(path, host)
        shown += _braked(config.verify_seconds) if outcome.was_braked else ""
    else:
        shown = json.dumps({**source_table(outcome), "maps": host_rows(host)}, indent=2) + "\n"
    patched = host.text if options.unsafe else outcome.text
    return RepairedSource(text, patched, shown, bool(outcome.left) or _is_host_left(host, options))


def _repaired_host(path: str, options: FixOptions, config: Config) -> RepairedSource:
    text = _without_sarif(path, options)
    host = _host_outcome(path, text, config)
    is_text = options.form == "text"
    shown = host_text(path, host) if is_text else json.dumps({"maps": host_rows(host)}, indent=2) + "\n"
    patched = host.text if options.unsafe else text
    return RepairedSource(text, patched, shown or "nothing to repair\n", _is_host_left(host, options))


def _without_sarif(path: str, options: FixOptions) -> str:
    """Return the text of a source, for which there is no SARIF."""
    if options.form == "sarif":
        console.fail(f"{path}: SARIF fixes are for PTX files; use --diff, or --format json")
    return text_of(path)


def _host_outcome(path: str, text: str, config: Config) -> HostOutcome:
    from ..patching.host_repair import repair_host
    from ..source import Source

    return repair_host(Source(path, text), rules_of(config), config.nvcc.arch)


def _is_host_left(host: HostOutcome, options: FixOptions) -> bool:
    return bool(host.left) or (bool(host.repairs) and not options.unsafe)
