"""`ptxcheck view`: one page to look at in a browser; what prints and exits is handed in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from .command_output import Fail, Write

if TYPE_CHECKING:
    from ..config import Config
    from ..results import Problem, Report

Configure: TypeAlias = "Callable[[click.Context, str, dict[str, Any]], Config]"
"""Returns the configuration for a file, as `check` has it, with some options of `check` given."""

_HELP = """Write one page about the kernels of FILE, to look at in a browser.

It has the findings with their source lines, the verdicts, and for each kernel its runs as a timeline to step
through, its control flow, and its shared and tensor memory. The page is one file, which loads nothing else.

Exit codes: as those of check; the page is written also when there are findings.
"""


def view_command(write: Write, fail: Fail, configure: Configure) -> click.Command:
    """Return the command."""

    @click.command("view", help=_HELP)
    @click.argument("path", metavar="FILE")
    @click.option(
        "--output", "-o", required=True, metavar="FILE", help="The page to write, whole or not at all."
    )
    @click.option("--kernel", metavar="NAME", help="Only this kernel.")
    @click.option("--launch", multiple=True, metavar="SPEC", help="How kernels are launched, as for check.")
    @click.option("--assume", multiple=True, metavar="SPEC", help="A value that the host passes.")
    @click.option(
        "--tensor-map", "tensor_map", multiple=True, metavar="PARAM=SPEC", help="A tensor map that it passes."
    )
    @click.option("--possible", is_flag=True, default=None, help="Also show what could not be excluded.")
    @click.option(
        "--verify-seconds", type=click.FloatRange(0, min_open=True), help="Time for verifying one kernel."
    )
    @click.option("--arch", metavar="sm_XY", help="Architecture that .cu files are compiled for.")
    @click.option("-I", "includes", multiple=True, metavar="DIR", help="Include folder for nvcc.")
    @click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="Macro for nvcc.")
    @click.option("--source-root", multiple=True, metavar="DIR", help="Show lines of files below DIR.")
    @click.option("--config", "config_file", metavar="FILE", help="Read this configuration file.")
    @click.option("--isolated", is_flag=True, help="Read no configuration file.")
    @click.option(
        "--strict", is_flag=True, default=None, help="Exit with 3 when a kernel is not checked in full."
    )
    @click.option("--exit-zero", is_flag=True, help="Exit with 0 also when there are findings.")
    @click.pass_context
    def view(context: click.Context, /, path: str, output: str, kernel: str | None, **options: Any) -> None:
        from ..report.plain import summary
        from ..results import exit_code

        config = configure(context, path, options)
        text, report = _made(path, kernel, config, fail)
        write(text, output)
        write(f"{output}: {summary(report)}\n", None)
        if report.problems:
            fail("\n".join(map(_line, report.problems)))
        status = exit_code(report, config.fail_on, strict=config.strict)
        context.exit(0 if options["exit_zero"] and status == 1 else status)

    return view


def _made(path: str, kernel: str | None, config: Config, fail: Fail) -> tuple[str, Report]:
    """Return the page of a file, and its report; without a kernel there is no page."""
    from ..frontends import discover
    from ..page import LibraryError, NoKernelError, build_page
    from ..rules import UnknownSelectorError

    found, problems = discover([path])
    if problems:
        fail("\n".join(map(_line, problems)))
    if len(found) != 1:
        fail(f"{path}: is a folder or pattern; name one file")
    try:
        page = build_page(path, found[0].name, config, kernel)
    except NoKernelError as error:
        reasons = "\n".join(map(_line, error.problems))
        fail(f"{path}: {error}" + (f"\n{reasons}" if reasons else ""))
    except (LibraryError, UnknownSelectorError) as error:
        fail(str(error))
    return page.text, page.report


def _line(problem: Problem) -> str:
    from ..report.plain import place, visible

    detail = f"\n{visible(problem.detail)}" if problem.detail else ""
    return f"{place(problem.position)}: {visible(problem.message)}{detail}"


__all__ = ["view_command"]
