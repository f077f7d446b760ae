"""`ptxcheck run`: run a kernel by its harness."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import console
from .options import choice, takes

if TYPE_CHECKING:
    from ..repair.harness import Harness


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The harness, what to run by it, and how often."""

    harness: str
    image: str | None
    against: str | None
    prepare: str | None
    repeat: int
    delays: int
    rounds: int
    limit: float
    metrics: bool
    arch: str | None
    form: str
    output: str | None


@click.command("run")
@click.argument("harness", metavar="HARNESS", type=click.Path())
@click.option("--image", metavar="FILE", help="Run this .ptx or .cu file instead of the harness's source.")
@click.option("--against", metavar="FILE", help="Compare the time with this kernel's, round by round.")
@click.option(
    "--prepare",
    metavar="FOLDER",
    help="Launch nothing: write PTX and launches of a Triton harness, as data, for a machine without Triton.",
)
@click.option("--repeat", default=3, show_default=True, help="Launches of each case.")
@click.option("--delays", default=3, show_default=True, help="Forms with random delays to run.")
@click.option("--rounds", default=30, show_default=True, help="Timed rounds; 0 for none.")
@click.option("--limit", default=10.0, show_default=True, help="Seconds after which a kernel hangs.")
@click.option(
    "--metrics", is_flag=True, help="Ask ncu what limits the kernel; with --against that one first."
)
@click.option("--arch", metavar="sm_XY", help="Architecture that a .cu file is compiled for.")
@choice("text", "json")
@click.option("--output", "-o", metavar="FILE", help="Write to FILE, whole or not at all.")
@takes(RunOptions)
def run_command(options: RunOptions) -> None:
    """Run a kernel on the GPU by its harness (TOML or Python, also of a Triton function), and time it.

    The results are compared with the harness's reference for each of its cases, several times, also with random delays
    before synchronising instructions. The kernel runs in a process of its own: a hang is an answer. Needs an NVIDIA GPU
    and `pip install 'ptxcheck[hardware]'`. A harness is code: run only those you trust.

    With --prepare nothing is launched: what a harness of a Triton function needs is written to a folder, as data, and
    runs where neither Triton nor the harness's file is.

    Exit codes: 0 right, 1 wrong, hang or fault, 2 bad input, or no GPU.
    """
    from ..repair.device import NoDeviceError
    from ..repair.harness import HarnessError
    from ..repair.harness_files import load_harness
    from ..repair.session import Plan, run_session, session_json, session_text

    try:
        loaded = load_harness(Path(options.harness))
        if options.prepare:
            console.write(_prepared_text(options.harness, loaded, Path(options.prepare)), options.output)
            return
        text = _image(Path(options.image or loaded.source), options.arch)
        against = _image(Path(options.against), options.arch) if options.against else None
        profiled = tuple(each for each in (against, text) if each is not None) if options.metrics else ()
        delayed = delayed_forms(text, loaded.kernel, options.delays)
        plan = Plan(text, delayed, against, options.repeat, options.rounds, profiled=profiled)
        session = run_session(Path(options.harness), plan, limit_seconds=options.limit)
    except HarnessError as error:
        console.fail(str(error))
    except NoDeviceError as error:
        console.fail(f"no usable GPU here: {error}")
    if options.form == "json":
        shown = session_json(session)
    else:
        shown = session_text(session, compared=bool(options.against))
    console.write(shown, options.output)
    console.leave(0 if session.is_right else 1)


def _prepared_text(name: str, harness: Harness, folder: Path) -> str:
    """Write a harness as data, and return what to do with it."""
    from ..repair.prepared import ReferenceHarness, prepare

    if not isinstance(harness, ReferenceHarness):
        console.fail(
            f"{name} is not a Triton harness: where a GPU is, only its own file and its kernel are needed"
        )
    path = prepare(harness, folder)
    cases = "case" if len(harness.cases) == 1 else "cases"
    return f"{len(harness.cases)} {cases} of {harness.kernel}; where the GPU is: ptxcheck run {path}\n"


def _image(path: Path, arch: str | None) -> str:
    """Return the PTX text of a .ptx or .cu file."""
    from ..frontends import NvccOptions, discover, load

    found, problems = discover([str(path)])
    loaded = None if problems else load(found[0], NvccOptions(arch=arch))
    if loaded is not None and loaded.source is not None and not loaded.problems:
        return loaded.source.text
    first = (problems or (() if loaded is None else loaded.problems))[0]
    return console.fail(f"{path}: {first.message}" + (f"\n{first.detail}" if first.detail else ""))


def delayed_forms(text: str, kernel: str, count: int) -> list[str]:
    """Return forms of a PTX text with random delays in a kernel."""
    from ..parser import parse_module
    from ..repair.perturb import perturb
    from ..source import Source

    module = parse_module(Source(f"{kernel}.ptx", text))
    try:
        return [perturb(module, kernel, seed) for seed in range(count)]
    except ValueError as error:
        console.fail(str(error))
