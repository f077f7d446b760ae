"""`ptxcheck fix`: repair what was found; what prints and exits is handed in."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .command_output import Fail, Write

if TYPE_CHECKING:
    from .config import Config
    from .judge import TextJudge
    from .repair.search import Assembler, Outcome


_HELP = """Repair a PTX file: propose patches, check each again, and keep those that pass.

A repair is `safe` when the checker proves the patched kernel and ptxas takes it, else `suggested`. Without options
the repairs are listed and nothing is written.

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
        text, outcome = _repaired(path, options, fail)
        if options["diff"]:
            write(diff_text(path, text, outcome.text), None)
        elif options["form"] == "json":
            write(json.dumps(outcome_table(outcome), indent=2) + "\n", None)
        elif options["form"] == "sarif":
            write(_sarif(path, text, outcome, options["config_file"], fail), None)
        else:
            write(outcome_text(outcome), None)
        if options["in_place"] and outcome.text != text:
            write(outcome.text, path)
        if options["output"]:
            write(outcome.text, options["output"])
        context.exit(1 if outcome.left else 0)

    return fix


def _repaired(path: str, options: dict[str, Any], fail: Fail) -> tuple[str, Outcome]:
    from .repair.search import repair

    text, judge, assembler = prepared(path, options["config_file"], fail)
    return text, repair(text, judge, assembler, unsafe=options["unsafe"])


def _config(path: str, config_file: str | None, fail: Fail) -> Config:
    from .config import Config, ConfigError, find_config, load_config

    try:
        place = Path(config_file) if config_file else find_config(Path(path).absolute().parent)
        return Config() if place is None else load_config(place)
    except ConfigError as error:
        fail(str(error))


def prepared(path: str, config_file: str | None, fail: Fail) -> tuple[str, TextJudge, Assembler]:
    """Return the text of a PTX file, and who judges and assembles its patched forms."""
    from .frontends import discover, load
    from .judge import TextJudge
    from .repair.assemble import find_ptxas
    from .repair.search import Assembler
    from .rules import RULES, select_rules

    config = _config(path, config_file, fail)
    found, problems = discover([path])
    if not problems and (len(found) != 1 or not path.endswith(".ptx")):
        fail(f"{path}: name one .ptx file")
    loaded = None if problems else load(found[0], config.nvcc)
    if loaded is None or loaded.source is None:
        fail(f"{path}: {(problems or (() if loaded is None else loaded.problems))[0].message}")
    rules = select_rules(
        RULES, config.select, config.ignore, pedantic=config.pedantic, possible=config.possible
    )
    judge = TextJudge(path, rules, config)
    text = loaded.source.text
    first = judge(text)
    if first.problems:
        fail(f"{path}: {first.problems[0]}; only a text that can be checked in full is repaired")
    target = next(iter(first.views.values())).module.targets[0] if first.views else ""
    return text, judge, Assembler(find_ptxas(), target)


def _sarif(path: str, text: str, outcome: Outcome, config_file: str | None, fail: Fail) -> str:
    from .check import check
    from .repair.original import fixes_of
    from .report.sarif import render_sarif
    from .source import Source

    fixes = {found.fingerprint: fix for found, fix in fixes_of(Source(path, text), outcome.repairs)}
    return render_sarif(check(path, config=_config(path, config_file, fail)), fixes)


def outcome_text(outcome: Outcome) -> str:
    """Return repairs for people."""
    lines: list[str] = []
    for done in outcome.repairs:
        place = done.finding.location.primary
        lines.append(
            f"{place.file}:{place.line}: {done.finding.rule} {done.finding.name}: {done.finding.message}"
        )
        lines += [f"  {done.safety.value}: {patch.summary}" for patch in done.patches]
        lines += [f"    {evidence}" for evidence in done.evidence]
    for finding in outcome.left:
        place = finding.location.primary
        lines.append(f"{place.file}:{place.line}: {finding.rule} {finding.name}: no repair found")
    repaired, left = len(outcome.repairs), len(outcome.left)
    lines.append(f"{repaired} repaired, {left} left" if repaired or left else "nothing to repair")
    return "\n".join(lines) + "\n"


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
                "patches": [{"strategy": p.strategy, "summary": p.summary} for p in done.patches],
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
