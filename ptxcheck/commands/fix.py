"""`ptxcheck fix`: repair what was found; what prints and exits is handed in."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .command_output import Fail, Write

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..config import Config
    from ..finding import Finding
    from ..patching.host_repair import HostOutcome
    from ..patching.judge import TextJudge
    from ..patching.source_repair import SourceOutcome
    from ..repair.patch import Patch
    from ..repair.search import Assembler, Outcome
    from ..rules import Rule

CUDA = (".cu", ".cuh")
"""Files that nvcc compiles before they are repaired."""
_LEGAL = "the call is legal then, for the same tensor; nothing tells that this is what was meant"


_HELP = """Repair a PTX or CUDA file, or encode calls of host code: propose patches, check each again, and keep those
that pass.

In a CUDA file a patch becomes a change of the source, where one is found that compiles to what passes. A repair is
`safe` when the checker proves the patched kernel and ptxas takes it, else `suggested`. Without options the repairs are
listed and nothing is written.

Exit codes: 0 nothing is left to repair, 1 findings are left, 2 bad input.
"""


def fix_command(write: Write, fail: Fail) -> click.Command:
    """Return the command."""

    @click.command("fix", help=_HELP)
    @click.argument("path", metavar="FILE")
    @click.option("--diff", is_flag=True, help="Print the change as a unified diff.")
    @click.option("--in-place", is_flag=True, help="Write the repaired text to FILE, whole or not at all.")
    @click.option(
        "--output", "-o", metavar="FILE", help="Write the repaired text to FILE, whole or not at all."
    )
    @click.option("--unsafe", is_flag=True, help="Also keep repairs that are only suggested.")
    @click.option(
        "--format",
        "form",
        type=click.Choice(["text", "json", "sarif"]),
        default="text",
        help="Output format; sarif is the report of check with fixes.",
    )
    @click.option("--config", "config_file", metavar="FILE", help="Read this configuration file.")
    @click.pass_context
    def fix(context: click.Context, /, path: str, **options: Any) -> None:
        from ..frontends import HOST_SUFFIXES

        if path.endswith((*CUDA, *HOST_SUFFIXES)):
            repaired = _repaired_source if path.endswith(CUDA) else _repaired_host
            text, patched, shown, left = repaired(path, options, fail)
            write(diff_text(path, text, patched) if options["diff"] else shown, None)
            _write_out(write, path, text, patched, options)
            context.exit(1 if left else 0)
        text, outcome = _repaired(path, options, fail)
        if options["diff"]:
            write(diff_text(path, text, outcome.text), None)
        elif options["form"] == "json":
            write(json.dumps(outcome_table(outcome), indent=2) + "\n", None)
        elif options["form"] == "sarif":
            write(_sarif(path, text, outcome, options["config_file"], fail), None)
        else:
            write(outcome_text(outcome), None)
        _write_out(write, path, text, outcome.text, options)
        context.exit(1 if outcome.left else 0)

    return fix


def _write_out(write: Write, path: str, before: str, after: str, options: dict[str, Any]) -> None:
    if options["in_place"] and after != before:
        write(after, path)
    if options["output"]:
        write(after, options["output"])


def _repaired_source(path: str, options: dict[str, Any], fail: Fail) -> tuple[str, str, str, bool]:
    """Return the text of a CUDA file, the repaired one, what to show, and whether findings are left."""
    from ..patching.source_repair import SourceError, SourceJudge, repair_source
    from ..repair.assemble import find_ptxas

    text = _without_sarif(path, options, fail)
    config = config_of(path, options["config_file"], fail)
    try:
        outcome = repair_source(
            text, SourceJudge(path, rules_of(config), config), find_ptxas(), unsafe=options["unsafe"]
        )
    except SourceError as error:
        fail(f"{path}: {error}; only a source that can be checked in full is repaired")
    host = _host_outcome(path, outcome.text, config)
    if options["form"] == "text":
        shown = source_text(outcome) + host_text(path, host)
    else:
        shown = json.dumps({**source_table(outcome), "maps": host_rows(host)}, indent=2) + "\n"
    patched = host.text if options["unsafe"] else outcome.text
    return text, patched, shown, bool(outcome.left) or _is_host_left(host, options)


def _repaired_host(path: str, options: dict[str, Any], fail: Fail) -> tuple[str, str, str, bool]:
    """Return the text of a file of host code, the repaired one, what to show, and whether findings are left."""
    text = _without_sarif(path, options, fail)
    host = _host_outcome(path, text, config_of(path, options["config_file"], fail))
    is_text = options["form"] == "text"
    shown = host_text(path, host) if is_text else json.dumps({"maps": host_rows(host)}, indent=2) + "\n"
    patched = host.text if options["unsafe"] else text
    return text, patched, shown or "nothing to repair\n", _is_host_left(host, options)


def _without_sarif(path: str, options: dict[str, Any], fail: Fail) -> str:
    """Return the text of a source, for which there is no SARIF."""
    if options["form"] == "sarif":
        fail(f"{path}: SARIF fixes are for PTX files; use --diff, or --format json")
    return text_of(path, fail)


def text_of(path: str, fail: Fail) -> str:
    """Return the text of a source file."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        fail(f"{path}: {error.strerror}")
    except UnicodeDecodeError:
        fail(f"{path}: not UTF-8 text")


def _host_outcome(path: str, text: str, config: Config) -> HostOutcome:
    from ..patching.host_repair import repair_host
    from ..source import Source

    return repair_host(Source(path, text), rules_of(config), config.nvcc.arch)


def _is_host_left(host: HostOutcome, options: dict[str, Any]) -> bool:
    return bool(host.left) or (bool(host.repairs) and not options["unsafe"])


def host_text(path: str, outcome: HostOutcome) -> str:
    """Return repairs of encode calls for people, "" where nothing is found."""
    lines: list[str] = []
    for done in outcome.repairs:
        lines += [_headline(done.finding), f"  suggested: {done.summary}", f"    {_LEGAL}"]
    for finding in outcome.left:
        lines += [_headline(finding), "  no repair found"]
    if lines:
        lines.append(f"encode calls of {path}: {len(outcome.repairs)} suggested, {len(outcome.left)} left")
    return "".join(f"{line}\n" for line in lines)


def host_rows(outcome: HostOutcome) -> list[dict[str, Any]]:
    """Return repairs of encode calls, and findings that are left, as JSON values."""
    done = [
        {**_finding_row(each.finding), "safety": "suggested", "change": each.summary}
        for each in outcome.repairs
    ]
    return [*done, *({**_finding_row(each), "safety": None, "change": None} for each in outcome.left)]


def source_text(outcome: SourceOutcome) -> str:
    """Return repairs of a source for people."""
    lines: list[str] = []
    for done in outcome.repairs:
        lines += [_headline(done.finding), f"  {done.safety.value}: {done.summary}"]
        lines += [f"    {evidence}" for evidence in done.evidence]
    known = {id(finding): summary for finding, summary in outcome.only_ptx}
    for finding in outcome.left:
        lines.append(_headline(finding))
        summary = known.get(id(finding))
        lines.append(
            "  no repair found"
            if summary is None
            else f"  no change of the source found; in its PTX: {summary}"
        )
    return _summed(lines, len(outcome.repairs), len(outcome.left))


def _headline(finding: Finding) -> str:
    place = finding.location.primary
    return f"{place.file}:{place.line}: {finding.rule} {finding.name}: {finding.message}"


def _summed(lines: list[str], repaired: int, left: int) -> str:
    lines.append(f"{repaired} repaired, {left} left" if repaired or left else "nothing to repair")
    return "\n".join(lines) + "\n"


def source_table(outcome: SourceOutcome) -> dict[str, Any]:
    """Return repairs of a source as JSON values."""
    return {
        "repairs": [
            {
                **_finding_row(done.finding),
                "safety": done.safety.value,
                "change": done.summary,
                "patches": _patch_rows(done.patches),
                "evidence": list(done.evidence),
            }
            for done in outcome.repairs
        ],
        "left": [_finding_row(finding) for finding in outcome.left],
        "only_ptx": [{**_finding_row(finding), "change": summary} for finding, summary in outcome.only_ptx],
    }


def _finding_row(finding: Finding) -> dict[str, Any]:
    place = finding.location.primary
    return {
        "rule": finding.rule,
        "kernel": finding.kernel,
        "file": place.file,
        "line": place.line,
        "message": finding.message,
    }


def _patch_rows(patches: Iterable[Patch]) -> list[dict[str, str]]:
    return [{"strategy": patch.strategy, "summary": patch.summary} for patch in patches]


def _repaired(path: str, options: dict[str, Any], fail: Fail) -> tuple[str, Outcome]:
    from ..repair.search import repair

    text, judge, assembler = prepared(path, options["config_file"], fail)
    return text, repair(
        text, judge, assembler, unsafe=options["unsafe"], quick=judge.rules_only, brief=judge.brief,
        plain=judge.plain,
    )  # fmt: skip


def config_of(path: str, config_file: str | None, fail: Fail) -> Config:
    """Return the configuration that is named, or that stands beside a file or above it."""
    from ..config import (
        Config,
        ConfigError,
        find_config,
        load_config,
    )

    try:
        place = Path(config_file) if config_file else find_config(Path(path).absolute().parent)
        return Config() if place is None else load_config(place)
    except ConfigError as error:
        fail(str(error))


def rules_of(config: Config) -> tuple[Rule, ...]:
    """Return the rules that a configuration asks for."""
    from ..rules import known_rules, select_rules

    return select_rules(
        known_rules(), config.select, config.ignore, pedantic=config.pedantic, possible=config.possible
    )


def prepared(path: str, config_file: str | None, fail: Fail) -> tuple[str, TextJudge, Assembler]:
    """Return the text of a PTX file, and who judges and assembles its patched forms."""
    from ..frontends import discover, load
    from ..patching.judge import TextJudge
    from ..repair.assemble import find_ptxas
    from ..repair.search import Assembler

    config = config_of(path, config_file, fail)
    found, problems = discover([path])
    if not problems and (len(found) != 1 or not path.endswith(".ptx")):
        fail(f"{path}: name one .ptx file")
    loaded = None if problems else load(found[0], config.nvcc)
    if loaded is None or loaded.source is None:
        fail(f"{path}: {(problems or (() if loaded is None else loaded.problems))[0].message}")
    judge = TextJudge(path, rules_of(config), config)
    text = loaded.source.text
    first = judge(text)
    if first.problems:
        fail(f"{path}: {first.problems[0]}; only a text that can be checked in full is repaired")
    target = next(iter(first.views.values())).module.targets[0] if first.views else ""
    return text, judge, Assembler(find_ptxas(), target)


def _sarif(path: str, text: str, outcome: Outcome, config_file: str | None, fail: Fail) -> str:
    from ..check import check
    from ..repair.original import fixes_of
    from ..report.sarif import render_sarif
    from ..source import Source

    fixes = {found.fingerprint: fix for found, fix in fixes_of(Source(path, text), outcome.repairs)}
    return render_sarif(check(path, config=config_of(path, config_file, fail)), fixes)


def outcome_text(outcome: Outcome) -> str:
    """Return repairs for people."""
    lines: list[str] = []
    for done in outcome.repairs:
        lines.append(_headline(done.finding))
        lines += [f"  {done.safety.value}: {patch.summary}" for patch in done.patches]
        lines += [f"    {evidence}" for evidence in done.evidence]
    for finding in outcome.left:
        place = finding.location.primary
        lines.append(f"{place.file}:{place.line}: {finding.rule} {finding.name}: no repair found")
    return _summed(lines, len(outcome.repairs), len(outcome.left))


def outcome_table(outcome: Outcome) -> dict[str, Any]:
    """Return repairs as JSON values."""
    return {
        "repairs": [
            {
                "rule": done.finding.rule,
                "kernel": done.finding.kernel,
                "line": done.finding.location.ptx.line,
                "message": done.finding.message,
                "safety": done.safety.value,
                "patches": _patch_rows(done.patches),
                "evidence": list(done.evidence),
            }
            for done in outcome.repairs
        ],
        "left": [
            {"rule": f.rule, "kernel": f.kernel, "line": f.location.ptx.line, "message": f.message}
            for f in outcome.left
        ],
    }


def diff_text(path: str, before: str, after: str) -> str:
    """Return a unified diff."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), path, f"{path} (repaired)"
    )
    return "".join(lines)
