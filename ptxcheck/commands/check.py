"""`ptxcheck check`: check files and folders, and report what was found."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING

import click

from ..checker import check
from ..finding import Severity
from ..pipeline.work import Progress
from ..report import REVIEWED, Format, Verbosity, render
from ..results import Report, exit_code
from ..source import Source
from ..terms.refutations import SECOND_SOLVERS
from . import console
from .check_options import CheckOptions, chosen_inputs, configuration, configuration_file
from .options import CONFIG_FILE, EFFORT, split_commas, split_words, takes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..config import Config
    from ..runtime.cache import Cache
    from ..runtime.executors import Executor

_SEVERITIES = [severity.value for severity in Severity]
_FORMATS = [form.value for form in Format]


@click.command("check")
@click.argument("paths", nargs=-1, required=True, metavar="PATHS...", type=click.Path())
@click.option("--format", "form", type=click.Choice(_FORMATS), default="text", help="Output format.")
@click.option(
    "--select", multiple=True, callback=split_commas, help="Rules to run: id prefixes, names, severities."
)
@click.option(
    "--extend-select", multiple=True, callback=split_commas, help="Rules to run besides those selected."
)
@click.option("--ignore", multiple=True, callback=split_commas, help="Rules to leave out.")
@click.option(
    "--exclude", multiple=True, metavar="PATTERN", help="Files and folders that a search leaves out."
)
@click.option(
    "--gitignore/--no-gitignore", default=None, help="Search no files that Git ignores (the default), or all."
)
@click.option("--force-exclude", is_flag=True, help="Leave them out also when they are named outright.")
@click.option("--fail-on", type=click.Choice(_SEVERITIES), help="Exit with 1 from this severity up.")
@click.option("--output", "-o", metavar="FILE", help="Write the report to FILE, whole or not at all.")
@click.option(
    "--strict", is_flag=True, default=None, help="Exit with 3 when a kernel is not checked in full."
)
@click.option("--pedantic", is_flag=True, default=None, help="Also run rules that released libraries break.")
@click.option("--possible", is_flag=True, default=None, help="Also report what could not be excluded.")
@click.option(
    "--for-every-count/--no-for-every-count",
    default=None,
    help="Show kernels for every count of rounds first (default), or by runs alone.",
)
@click.option(
    "--nvcc-args", multiple=True, callback=split_words, metavar="ARGS", help="Further flags for nvcc."
)
@click.option("-I", "includes", multiple=True, metavar="DIR", help="Include folder for nvcc.")
@click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="Macro for nvcc.")
@click.option("--arch", metavar="sm_XY", help="Architecture that .cu files are compiled for.")
@click.option("--compile-commands", metavar="PATH", help="compile_commands.json with the flags of .cu files.")
@click.option(
    "--launch", multiple=True, metavar="SPEC", help="'block=384 cluster=2' or 'kernel*: block=128'."
)
@click.option(
    "--assume", multiple=True, metavar="SPEC", help="A value that the host passes: 'param+640=8192'."
)
@click.option(
    "--tensor-map",
    "tensor_map",
    multiple=True,
    metavar="PARAM=SPEC",
    help="A tensor map that the host passes: 'a_map=type=fp16 shape=64,64 box=64,64'.",
)
@click.option("--verify/--no-verify", default=None, help="Verify whole kernels (the default), or only lint.")
@EFFORT
@click.option(
    "--cross-check",
    type=click.Choice(SECOND_SOLVERS),
    help="Let a second solver confirm what the first found.",
)
@click.option("--source-root", multiple=True, metavar="DIR", help="Show lines of files below DIR.")
@CONFIG_FILE
@click.option("--isolated", is_flag=True, help="Read no configuration file.")
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="A setting, as in the configuration."
)
@click.option("--show-settings", is_flag=True, help="Print the settings, and check nothing.")
@click.option("--show-files", is_flag=True, help="Print the files that would be checked, and check nothing.")
@click.option("--stdin-filename", metavar="NAME", help="The name of what is on standard input.")
@click.option("-v", "--verbose", is_flag=True, help="Show each kernel, also those that hold.")
@click.option("-q", "--quiet", is_flag=True, help="Show findings and problems alone.")
@click.option(
    "--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Colours in the report."
)
@click.option("--statistics", is_flag=True, help="Count the findings of each rule instead.")
@click.option("--fix", is_flag=True, help="Write safe repairs into the files first, as fix --in-place does.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 also when there are findings.")
@click.option(
    "--jobs", "-j", type=click.IntRange(min=0), default=1, help="Check in N processes; 0: one a processor."
)
@click.option("--executor", metavar="dask://HOST:PORT", help="Check on an existing Dask cluster.")
@click.option("--no-cache", is_flag=True, help="Neither use nor keep results of earlier runs.")
@click.option("--clear-cache", is_flag=True, help="Forget the results of all earlier runs first.")
@click.option("--profile", is_flag=True, help="Say on standard error where the time went.")
@click.option("--baseline", metavar="FILE", help="Do not report the findings that FILE lists.")
@click.option("--since", metavar="REV", help="Only files that changed since the branch left REV, by Git.")
@click.option("--watch", is_flag=True, help="Check again after each change, until interrupted.")
@takes(CheckOptions)
def check_command(options: CheckOptions) -> None:
    """Check .ptx and .cu files, folders, globs, or PTX on standard input (-)."""
    if options.show_settings or options.show_files:
        console.write((_settings if options.show_settings else _files)(options), options.output)
        return
    status = _check_once(options)
    if options.watch:
        from ..runtime.watch import WatchError, changes

        try:
            for _ in changes(options.paths):
                with suppress(SystemExit):  # a configuration that is wrong for now
                    status = _check_once(options)
        except WatchError as error:
            console.fail(str(error))
    console.leave(status)


def _settings(options: CheckOptions) -> str:
    """Return what `--show-settings` prints."""
    from ..rules import known_rules, select_rules
    from .settings import settings_json

    config = configuration(options)
    rules = select_rules(
        known_rules(), config.select, config.ignore, pedantic=config.pedantic, possible=config.possible
    )
    return settings_json(config, configuration_file(options), [rule.id for rule in rules])


def _files(options: CheckOptions) -> str:
    """Return what `--show-files` prints."""
    from ..frontends import discover
    from ..frontends.repository import RepositoryError

    config = configuration(options)
    found, problems = discover(options.paths, config.exclude, gitignore=config.gitignore)
    if problems:
        console.fail(f"{problems[0].position.file}: {problems[0].message}")
    try:
        chosen = chosen_inputs(config, options) or (lambda _: True)
    except RepositoryError as error:
        console.fail(str(error))
    return "".join(f"{item.name}\n" for item in found if chosen(item))


def _check_once(options: CheckOptions) -> int:
    """Check, write the report, and return the exit code."""
    config = configuration(options)
    report = _without_known(checked(options, config), options.baseline)
    if options.fix and _has_fixed(report, config):
        report = _without_known(checked(options, config), options.baseline)
    form = Format(options.form)
    if form in REVIEWED:
        report = _from_root(report)
    if options.statistics:
        from ..report.plain import statistics

        text = statistics(report)
    else:
        color = options.output is None and console.has_color(options.color)
        text = render(report, form, color=color, verbosity=_verbosity(options))
    console.write(text, options.output)
    status = exit_code(report, config.fail_on, strict=config.strict)
    return 0 if options.exit_zero and status == 1 else status


def _has_fixed(report: Report, config: Config) -> bool:
    """Repair the files that have findings, where that is safe, and tell whether any was changed."""
    from .fixing import FixOptions, repaired_file

    is_changed = False
    for path in _to_repair(report):
        repaired = repaired_file(path, FixOptions((path,), in_place=True), config)
        if repaired.after != repaired.before:
            console.write(repaired.after, path)
            console.remark(repaired.report.rstrip("\n"))
            is_changed = True
    return is_changed


def _to_repair(report: Report) -> Iterator[str]:
    """Yield the files with findings that are kept in one text."""
    places = {each.location.ptx.file for each in report.active}
    for name in report.inputs:
        if name.endswith((".ptx", ".cu")) and not {name, f"{name}.ptx"}.isdisjoint(places):
            yield name


def _verbosity(options: CheckOptions) -> Verbosity:
    if options.quiet:
        return Verbosity.QUIET
    return Verbosity.VERBOSE if options.verbose else Verbosity.NORMAL


def checked(options: CheckOptions, config: Config) -> Report:
    """Check what the options name, as they say."""
    from ..frontends.repository import RepositoryError
    from ..runtime.executors import ExecutorError
    from ..runtime.profile import Profile, profile_table

    profile = Profile() if options.profile else None
    progress: AbstractContextManager[Progress | None] = nullcontext(
        _said if Format(options.form) in (Format.TEXT, Format.CONCISE) else None
    )
    if console.has_progress():
        from .progress import progress_bar

        progress = progress_bar()
    try:
        with progress as shown:
            report = check(
                _targets(options.paths, options.stdin_filename),
                config=config,
                progress=shown,
                cache=_cache(options),
                executor=_executor(options),
                profile=profile,
                choose=chosen_inputs(config, options),
            )
    except (RepositoryError, ExecutorError) as error:
        console.fail(str(error))
    if profile is not None:
        console.remark(profile_table(profile).removesuffix("\n"))
    return report


def _said(_done: int, _total: int, name: str) -> None:
    """Say what takes long, where nobody sees a bar: results that are kept are not compiled again."""
    if name.endswith(".cu"):
        console.remark(f"ptxcheck: compiling and checking {name}")


def _targets(paths: tuple[str, ...], stdin_filename: str | None) -> Sequence[str | Source]:
    """Return what to check; standard input by its name, if it was given one."""
    if stdin_filename is None or "-" not in paths:
        return paths
    from ..frontends.text import UnreadableError, read_bytes

    if stdin_filename.endswith(".cu"):
        console.fail("--stdin-filename: nvcc reads CUDA sources from files; save it, and name the file")
    try:
        text = read_bytes("-").decode("utf-8", errors="replace")
    except UnreadableError as error:
        console.fail(f"{stdin_filename}: {error}")
    return [Source(stdin_filename, text) if path == "-" else path for path in dict.fromkeys(paths)]


def _without_known(report: Report, path: str | None) -> Report:
    if path is None:
        return report
    from ..triage.baseline import BaselineError, read_baseline, without_known

    try:
        return without_known(report, read_baseline(path), path)
    except BaselineError as error:
        console.fail(str(error))


def _from_root(report: Report) -> Report:
    """Return the report with paths from the root of the repository around the current folder."""
    from ..frontends.repository import find_root
    from ..report.relative import Root, renamed

    root = find_root(".")
    return report if root is None else renamed(report, Root(root, os.getcwd()))


def _cache(options: CheckOptions) -> Cache | None:
    from ..runtime.cache import Cache, default_folder

    folder = default_folder()
    if folder is None:
        return None
    if options.clear_cache:
        try:
            Cache(folder).clear()
        except OSError as error:
            console.fail(f"cannot clear the cache {folder}: {error.strerror}")
    return None if options.no_cache else Cache(folder)


def _executor(options: CheckOptions) -> Executor | None:
    from ..runtime.executors import Processes, executor_at, processors

    if options.executor is not None:
        return executor_at(options.executor)
    return None if options.jobs == 1 else Processes(options.jobs or processors())
