"""`ptxcheck repair`: repair or optimise, then let the hardware say what it can."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import console
from .options import CONFIG_FILE, choice, takes
from .repair_inputs import config_of, prepared
from .repair_options import RepairOptions
from .repair_report import outcome_table, outcome_text
from .text_diff import diff_text

if TYPE_CHECKING:
    from ..repair.optimise import Optimised
    from ..repair.session import Session


@click.command("repair")
@click.argument("path", metavar="FILE", type=click.Path())
@click.option("--harness", metavar="FILE", help="Run the result by this harness (TOML or Python).")
@click.option("--optimise", is_flag=True, help="List synchronisation that is proved redundant.")
@click.option("--schedules", is_flag=True, help="List other schedules that keep the contract.")
@click.option("--kernel", metavar="NAME", help="The kernel of --schedules, where there are several.")
@click.option("--diff", is_flag=True, help="Print the change as a unified diff.")
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    help="Write the PTX to FILE, whole or not at all; of --schedules the fastest.",
)
@click.option("--unsafe", is_flag=True, help="Also keep repairs that are only suggested.")
@choice("text", "json")
@click.option("--limit", default=10.0, show_default=True, help="Seconds after which a kernel hangs.")
@click.option("--rounds", default=30, show_default=True, help="Timed rounds; 0 for none.")
@click.option("--metrics", is_flag=True, help="Ask ncu what limits the kernel, before and after.")
@click.option("--sanitizer/--no-sanitizer", default=True, help="Ask compute-sanitizer, where it is on PATH.")
@CONFIG_FILE
@takes(RepairOptions)
def repair_command(options: RepairOptions) -> None:
    """Repair a PTX file as `fix` does, and run the repaired kernel by its harness.

    With --harness a repair that is proved, and right on the GPU in every case of the harness, also under random delays,
    is `validated`. With --optimise nothing is repaired: synchronisation is listed that every verdict holds without, and
    with a harness the kernel is timed with and without it. With --schedules other schedules are tried: numbers that
    comments `ptxcheck: schedule` mark, such as the stages of a ring (in a CUDA file as well), the places of waits and
    releases, who arrives; each is proved, then run and timed. Without a GPU everything else is done, and the evidence
    that is missing is named. A harness is code: run only those you trust.

    Exit codes: 0 nothing is left to repair, and right where it was run; 1 findings are left, no schedule holds, or
    wrong, hang or fault; 2 bad input.
    """
    from ..repair.optimise import optimise
    from ..repair.search import repair

    if options.schedules:
        console.leave(_try_schedules(options))
    text, judge, assembler = prepared(options.path, config_of(options.path, options.config_file))
    if options.optimise:
        better = optimise(text, judge, assembler, brief=judge.brief)
        result, left = better.text, False
        shown, table = _optimised_text(options.path, better), _optimised_table(better)
    else:
        outcome = repair(
            text, judge, assembler, unsafe=options.unsafe, quick=judge.rules_only, brief=judge.brief,
            plain=judge.plain,
        )  # fmt: skip
        result, left = outcome.text, bool(outcome.left)
        shown, table = outcome_text(outcome), outcome_table(outcome)
    session, missing = _on_hardware(text, result, options)
    safe = _is_safe(table)
    table["hardware"] = {"missing": missing} if session is None else _session_table(session)
    if not options.optimise:
        table["validated"] = _validate(table, session, safe=safe)
    if options.diff:
        console.write(diff_text(options.path, text, result))
    elif options.form == "json":
        console.write(json.dumps(table, indent=2) + "\n")
    else:
        console.write(shown + _hardware_text(session, missing, safe=safe))
    if options.output:
        console.write(result, options.output)
    console.leave(1 if left or (session is not None and not session.is_valid) else 0)


def _try_schedules(options: RepairOptions) -> int:
    """List the schedules of a file, write the fastest where that is asked for, and return the exit code."""
    from .schedules import schedules, schedules_table, schedules_text

    if options.optimise or options.diff:
        console.fail("--schedules lists schedules: it goes with neither --optimise nor --diff")
    found = schedules(options)
    is_json = options.form == "json"
    console.write(json.dumps(schedules_table(found), indent=2) + "\n" if is_json else schedules_text(found))
    if options.output and found.best is not None:
        console.write(found.best.candidate.text, options.output)
    return 0 if any(row.candidate.holds for row in found.rows) else 1


def _on_hardware(before: str, after: str, options: RepairOptions) -> tuple[Session | None, str]:
    """Return what the GPU says, or which evidence is missing and why."""
    if not options.harness:
        return None, "results and time on hardware: no harness is given"
    from ..repair.device import NoDeviceError
    from ..repair.harness import HarnessError
    from ..repair.harness_files import load_harness
    from ..repair.sanitizer import find_sanitizer
    from ..repair.session import Plan, run_session
    from .run import delayed_forms

    harness = Path(options.harness)
    try:
        kernel = load_harness(harness).kernel
        against = before if options.optimise and after != before else None
        sanitizer = find_sanitizer() if options.sanitizer else None
        delayed = delayed_forms(after, kernel, 3)
        profiled = dict.fromkeys((before, after)) if options.metrics else ()
        plan = Plan(
            after, delayed, against, rounds=options.rounds, sanitizer=sanitizer, profiled=tuple(profiled)
        )
        return run_session(harness, plan, limit_seconds=options.limit), ""
    except HarnessError as error:
        console.fail(str(error))
    except NoDeviceError as error:
        return None, f"results and time on hardware: no usable GPU here: {error}"


def _validate(table: dict[str, Any], session: Session | None, *, safe: bool) -> bool | None:
    """Tell whether the repairs are validated, and mark them; None when nothing was run, or nothing is repaired."""
    if session is None or not table["repairs"]:
        return None
    if safe and session.is_valid:
        for each in table["repairs"]:
            each["safety"] = "validated"
    return safe and session.is_valid


def _is_safe(table: dict[str, Any]) -> bool:
    repairs = table.get("repairs", [])
    return bool(repairs) and all(each["safety"] == "safe" for each in repairs)


def _session_table(session: Session) -> Any:
    from ..repair.session import session_json

    return json.loads(session_json(session))


def _hardware_text(session: Session | None, missing: str, *, safe: bool) -> str:
    if session is None:
        return f"evidence that is missing: {missing}\n"
    from ..repair.session import session_text

    shown = session_text(session, compared=True)
    if safe:
        word = "validated" if session.is_valid else "not validated: the GPU says otherwise"
        shown += f"the repairs are {word}\n"
    return shown


def _optimised_text(path: str, better: Optimised) -> str:
    lines = [
        f"{path}:{each.line}: {each.patch.summary}: every verdict of {each.kernel} stays as it is"
        + (f"\n  if {each.assumption}" if each.assumption else "")
        for each in better.redundant
    ]
    lines += [f"{path}: {why}" for why in better.skipped]
    lines.append(f"{len(better.redundant)} redundant of {better.tried} tried")
    return "\n".join(lines) + "\n"


def _optimised_table(better: Optimised) -> dict[str, Any]:
    rows = [
        {"kernel": each.kernel, "line": each.line, "change": each.patch.summary, "if": each.assumption}
        for each in better.redundant
    ]
    return {"redundant": rows, "skipped": list(better.skipped), "tried": better.tried}
