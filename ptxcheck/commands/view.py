"""`ptxcheck view`: one page to look at in a browser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from . import console
from .check_options import CheckOptions, configuration
from .options import CONFIG_FILE, EFFORT, launch_options, takes

if TYPE_CHECKING:
    from ..config import Config
    from ..results import Report


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """The page to write, and the options of `check` for its file."""

    path: str
    output: str
    kernel: str | None
    launch: tuple[str, ...]
    assume: tuple[str, ...]
    tensor_map: tuple[str, ...]
    possible: bool | None
    verify_seconds: float | None
    arch: str | None
    includes: tuple[str, ...]
    defines: tuple[str, ...]
    source_root: tuple[str, ...]
    config_file: str | None
    isolated: bool
    strict: bool | None
    exit_zero: bool

    @property
    def for_check(self) -> CheckOptions:
        """Return the options that `check` would have."""
        return CheckOptions(
            (self.path,),
            launch=self.launch,
            assume=self.assume,
            tensor_map=self.tensor_map,
            possible=self.possible,
            verify_seconds=self.verify_seconds,
            arch=self.arch,
            includes=self.includes,
            defines=self.defines,
            source_root=self.source_root,
            config_file=self.config_file,
            isolated=self.isolated,
            strict=self.strict,
        )


@click.command("view")
@click.argument("path", metavar="FILE", type=click.Path())
@click.option("--output", "-o", required=True, metavar="FILE", help="The page to write, whole or not at all.")
@click.option("--kernel", metavar="NAME", help="Only this kernel.")
@launch_options
@click.option("--possible", is_flag=True, default=None, help="Also show what could not be excluded.")
@EFFORT
@click.option("--arch", metavar="sm_XY", help="Architecture that .cu files are compiled for.")
@click.option("-I", "includes", multiple=True, metavar="DIR", help="Include folder for nvcc.")
@click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="Macro for nvcc.")
@click.option("--source-root", multiple=True, metavar="DIR", help="Show lines of files below DIR.")
@CONFIG_FILE
@click.option("--isolated", is_flag=True, help="Read no configuration file.")
@click.option(
    "--strict", is_flag=True, default=None, help="Exit with 3 when a kernel is not checked in full."
)
@click.option("--exit-zero", is_flag=True, help="Exit with 0 also when there are findings.")
@takes(ViewOptions)
def view_command(options: ViewOptions) -> None:
    """Write one page about the kernels of FILE, to look at in a browser.

    It has the findings with their source lines, the verdicts, and for each kernel its runs as a timeline to step
    through, its control flow, and its shared and tensor memory. The page is one file, which loads nothing else.

    Exit codes: as those of check; the page is written also when there are findings.
    """
    from ..report.plain import summary
    from ..results import exit_code

    config = configuration(options.for_check)
    text, report = _made(options.path, options.kernel, config)
    console.write(text, options.output)
    console.write(f"{options.output}: {summary(report)}\n")
    console.tell_unused(config.launch, [each.name for each in report.kernels])
    if report.problems:
        console.fail_for(report.problems)
    status = exit_code(report, config.fail_on, strict=config.strict)
    console.leave(0 if options.exit_zero and status == 1 else status)


def _made(path: str, kernel: str | None, config: Config) -> tuple[str, Report]:
    """Return the page of a file, and its report; without a kernel there is no page."""
    from ..frontends import discover
    from ..page import NoKernelError, build_page
    from ..rules import UnknownSelectorError

    found, problems = discover([path])
    if problems:
        console.fail_for(problems)
    if len(found) != 1:
        console.fail(f"{path}: is a folder or pattern; name one file")
    try:
        page = build_page(path, found[0].name, config, kernel)
    except NoKernelError as error:
        reasons = "\n".join(map(console.problem_line, error.problems))
        console.fail(f"{path}: {error}" + (f"\n{reasons}" if reasons else ""))
    except UnknownSelectorError as error:
        console.fail(str(error))
    return page.text, page.report
