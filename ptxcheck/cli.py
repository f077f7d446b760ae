"""The command line. The only module that prints or exits; heavy modules are imported where they are used."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from . import __version__
from .check import Progress, check
from .commands.fix import fix_command
from .commands.lsp import lsp_command
from .commands.repair import repair_command
from .commands.run import run_command
from .commands.show import show_group
from .commands.tma import tma_group
from .commands.view import view_command
from .config import (
    Config,
    ConfigError,
    find_config,
    load_config,
    parse_severity,
    with_setting,
)
from .finding import Severity
from .launches.hints import (
    LaunchError,
    parse_assumption,
    parse_hint,
    parse_tensor_map,
)
from .report import REVIEWED, Format, render
from .results import (
    PluginError,
    Report,
    UnknownSelectorError,
    exit_code,
)
from .runtime.output import OutputError, write_atomically
from .source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .frontends import Input
    from .rules import Rule
    from .runtime.cache import Cache
    from .runtime.executors import Executor

BAD_INPUT = 2
INTERRUPTED = 130

_SEVERITIES = [severity.value for severity in Severity]
_FORMATS = [form.value for form in Format]


class _Commands(click.Group):
    """Turns whatever goes wrong into one line and exit code 2; 1 means findings."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt:
            click.echo("ptxcheck: interrupted", err=True)
            sys.exit(INTERRUPTED)
        except MemoryError:
            _fail("out of memory")
        except (PluginError, UnknownSelectorError) as error:
            _fail(str(error))
        except Exception as error:
            if os.environ.get("PTXCHECK_TRACEBACK"):
                raise
            _fail(f"internal error, please report it: {type(error).__name__}: {error}")


def _version(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from .isa.versions import known_versions

        first, last = known_versions()
        _write(f"ptxcheck {__version__} (PTX ISA {first} to {last})\n", None)
        context.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Say which version."
)
def main() -> None:
    """Check PTX and CUDA kernels: mbarrier phases, copy groups, proxies and fences, wgmma, tcgen05.

    Exit codes: 0 clean, 1 findings, 2 bad input or usage, 3 not checked in full (with --strict).
    """


def _split(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


def _words(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    import shlex

    try:
        return tuple(word for value in values for word in shlex.split(value))
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@main.command("check")
@click.argument("paths", nargs=-1, required=True, metavar="PATHS...")
@click.option("--format", "form", type=click.Choice(_FORMATS), default="text", help="Output format.")
@click.option(
    "--select", multiple=True, callback=_split, help="Rules to run: id prefixes, names, severities."
)
@click.option("--extend-select", multiple=True, callback=_split, help="Rules to run besides those selected.")
@click.option("--ignore", multiple=True, callback=_split, help="Rules to leave out.")
@click.option(
    "--exclude", multiple=True, metavar="PATTERN", help="Files and folders that a search leaves out."
)
@click.option("--force-exclude", is_flag=True, help="Leave them out also when they are named outright.")
@click.option("--fail-on", type=click.Choice(_SEVERITIES), help="Exit with 1 from this severity up.")
@click.option("--output", "-o", metavar="FILE", help="Write the report to FILE, whole or not at all.")
@click.option(
    "--strict", is_flag=True, default=None, help="Exit with 3 when a kernel is not checked in full."
)
@click.option("--pedantic", is_flag=True, default=None, help="Also run rules that released libraries break.")
@click.option("--possible", is_flag=True, default=None, help="Also report what could not be excluded.")
@click.option("--nvcc-args", multiple=True, callback=_words, metavar="ARGS", help="Further flags for nvcc.")
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
@click.option(
    "--verify-seconds", type=click.FloatRange(0, min_open=True), help="Time for verifying one kernel."
)
@click.option("--source-root", multiple=True, metavar="DIR", help="Show lines of files below DIR.")
@click.option("--config", "config_file", metavar="FILE", help="Read this configuration file.")
@click.option("--isolated", is_flag=True, help="Read no configuration file.")
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="A setting, as in the configuration."
)
@click.option("--show-settings", is_flag=True, help="Print the settings, and check nothing.")
@click.option("--show-files", is_flag=True, help="Print the files that would be checked, and check nothing.")
@click.option("--stdin-filename", metavar="NAME", help="The name of what is on standard input.")
@click.option("--statistics", is_flag=True, help="Count the findings of each rule instead.")
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
def check_command(paths: tuple[str, ...], **options: Any) -> None:
    """Check .ptx and .cu files, folders, globs, or PTX on standard input (-)."""
    if options["show_settings"] or options["show_files"]:
        _write((_settings if options["show_settings"] else _files)(paths, options), options["output"])
        return
    status = _check_once(paths, options)
    if options["watch"]:
        from .runtime.watch import WatchError, changes

        try:
            for _ in changes(paths):
                with suppress(SystemExit):  # a configuration that is wrong for now
                    status = _check_once(paths, options)
        except WatchError as error:
            _fail(str(error))
    sys.exit(status)


def _settings(paths: tuple[str, ...], options: dict[str, Any]) -> str:
    """Return what `--show-settings` prints."""
    from .commands.settings import settings_json
    from .rules import known_rules, select_rules

    config = _config(paths, options)
    rules = select_rules(
        known_rules(), config.select, config.ignore, pedantic=config.pedantic, possible=config.possible
    )
    return settings_json(config, _config_file(paths, options), [rule.id for rule in rules])


def _files(paths: tuple[str, ...], options: dict[str, Any]) -> str:
    """Return what `--show-files` prints."""
    from .frontends import discover
    from .frontends.repository import RepositoryError

    config = _config(paths, options)
    found, problems = discover(paths, config.exclude)
    if problems:
        _fail(f"{problems[0].position.file}: {problems[0].message}")
    try:
        chosen = _choice(config, options) or (lambda _: True)
    except RepositoryError as error:
        _fail(str(error))
    return "".join(f"{item.name}\n" for item in found if chosen(item))


def _choice(config: Config, options: dict[str, Any]) -> Callable[[Input], bool] | None:
    """Return which of the files that were found are checked; None for all. Raises RepositoryError."""
    from .frontends import is_excluded
    from .frontends.repository import changes_since

    tests: list[Callable[[Input], bool]] = []
    if options["since"] is not None:
        tests.append(changes_since(options["since"], ".").touch)
    if options["force_exclude"]:
        tests.append(lambda item: not is_excluded(item.path, config.exclude))
    return (lambda item: all(test(item) for test in tests)) if tests else None


def _check_once(paths: tuple[str, ...], options: dict[str, Any]) -> int:
    """Check, write the report, and return the exit code."""
    config = _config(paths, options)
    report = _without_known(_checked(paths, config, options), options["baseline"])
    form = Format(options["form"])
    if form in REVIEWED:
        report = _from_root(report)
    output = options["output"]
    if options["statistics"]:
        from .report.plain import statistics

        text = statistics(report)
    else:
        text = render(report, form, color=output is None and _has_color(sys.stdout))
    _write(text, output)
    status = exit_code(report, config.fail_on, strict=config.strict)
    return 0 if options["exit_zero"] and status == 1 else status


def _config(paths: tuple[str, ...], options: dict[str, Any]) -> Config:
    """Return the configuration file's settings with the options of the command line over them."""
    try:
        file = _config_file(paths, options)
        config = Config() if file is None else load_config(file)
        for setting in options["settings"]:
            config = with_setting(config, setting)
        hints = tuple(parse_hint(text, "--launch") for text in options["launch"])
        hints += tuple(parse_assumption(text) for text in options["assume"])
        hints += tuple(parse_tensor_map(text) for text in options["tensor_map"])
    except (ConfigError, LaunchError) as error:
        _fail(str(error))
    nvcc = config.nvcc
    return replace(
        config,
        select=(options["select"] or config.select) + options["extend_select"],
        exclude=config.exclude + options["exclude"],
        ignore=config.ignore + options["ignore"],
        fail_on=config.fail_on if options["fail_on"] is None else parse_severity(options["fail_on"]),
        strict=options["strict"] or config.strict,
        pedantic=options["pedantic"] or config.pedantic,
        possible=options["possible"] or config.possible,
        source_roots=config.source_roots + options["source_root"],
        launch=hints + config.launch,
        verify=config.verify if options["verify"] is None else options["verify"],
        verify_seconds=options["verify_seconds"] or config.verify_seconds,
        nvcc=replace(
            nvcc,
            args=nvcc.args + options["nvcc_args"],
            includes=options["includes"] + nvcc.includes,
            defines=nvcc.defines + options["defines"],
            arch=options["arch"] or nvcc.arch,
            compile_commands=options["compile_commands"] or nvcc.compile_commands,
        ),
    )


def _config_file(paths: tuple[str, ...], options: dict[str, Any]) -> Path | None:
    """Return the configuration file that counts. Raises ConfigError."""
    if options["config_file"] is not None:
        return Path(options["config_file"])
    if options["isolated"]:
        return None
    if paths[0] == "-":
        first = Path(options["stdin_filename"] or ".").absolute()
        return find_config(first if first.is_dir() else first.parent)
    first = Path(paths[0])
    return find_config(first if first.exists() else Path())


def _checked(paths: tuple[str, ...], config: Config, options: dict[str, Any]) -> Report:
    from .frontends.repository import RepositoryError
    from .runtime.executors import ExecutorError
    from .runtime.profile import Profile, profile_table

    profile = Profile() if options["profile"] else None
    progress: AbstractContextManager[Progress | None] = nullcontext()
    if _has_progress():
        from .commands.progress import progress_bar

        progress = progress_bar()
    try:
        with progress as shown:
            report = check(
                _targets(paths, options["stdin_filename"]),
                config=config,
                progress=shown,
                cache=_cache(options),
                executor=_executor(options),
                profile=profile,
                choose=_choice(config, options),
            )
    except (RepositoryError, ExecutorError) as error:
        _fail(str(error))
    if profile is not None:
        click.echo(profile_table(profile), err=True, nl=False)
    return report


def _targets(paths: tuple[str, ...], stdin_filename: str | None) -> Sequence[str | Source]:
    """Return what to check; standard input by its name, if it was given one."""
    if stdin_filename is None or "-" not in paths:
        return paths
    from .frontends.text import UnreadableError, read_bytes

    if stdin_filename.endswith(".cu"):
        _fail("--stdin-filename: nvcc reads CUDA sources from files; save it, and name the file")
    try:
        text = read_bytes("-").decode("utf-8", errors="replace")
    except UnreadableError as error:
        _fail(f"{stdin_filename}: {error}")
    return [Source(stdin_filename, text) if path == "-" else path for path in dict.fromkeys(paths)]


def _without_known(report: Report, path: str | None) -> Report:
    if path is None:
        return report
    from .triage.baseline import BaselineError, read_baseline, without_known

    try:
        return without_known(report, read_baseline(path), path)
    except BaselineError as error:
        _fail(str(error))


def _from_root(report: Report) -> Report:
    """Return the report with paths from the root of the repository around the current folder."""
    from .frontends.repository import find_root
    from .report.relative import Root, renamed

    root = find_root(".")
    return report if root is None else renamed(report, Root(root, os.getcwd()))


def _cache(options: dict[str, Any]) -> Cache | None:
    from .runtime.cache import Cache, default_folder

    folder = default_folder()
    if folder is None:
        return None
    if options["clear_cache"]:
        try:
            Cache(folder).clear()
        except OSError as error:
            _fail(f"cannot clear the cache {folder}: {error.strerror}")
    return None if options["no_cache"] else Cache(folder)


def _executor(options: dict[str, Any]) -> Executor | None:
    from .runtime.executors import Processes, executor_at, processors

    if options["executor"] is not None:
        return executor_at(options["executor"])
    jobs = options["jobs"]
    return None if jobs == 1 else Processes(jobs or processors())


@main.group("baseline")
def baseline_group() -> None:
    """Baselines: findings that are known and not to be reported again."""


@baseline_group.command("write")
@click.argument("paths", nargs=-1, required=True, metavar="PATHS...")
@click.option("--output", "-o", default="ptxcheck-baseline.json", metavar="FILE", help="The file to write.")
@click.option("--config", "config_file", metavar="FILE", help="Read this configuration file.")
@click.pass_context
def baseline_write_command(context: click.Context, /, paths: tuple[str, ...], **options: Any) -> None:
    """List all findings in a file for `ptxcheck check --baseline`."""
    from .triage.baseline import baseline_text

    settings = _check_options(context, paths, options)
    report = _checked(paths, _config(paths, settings), settings)
    if report.problems:
        _write(render(replace(report, findings=(), notes=()), Format.TEXT), None)
        sys.exit(BAD_INPUT)
    _write(baseline_text(report, options["output"]), options["output"])


@main.command("suppress")
@click.argument("paths", nargs=-1, required=True, metavar="PATHS...")
@click.option("--reason", required=True, metavar="TEXT", help="Why the findings are meant to be there.")
@click.option("--select", multiple=True, callback=_split, help="Only findings of these rules.")
@click.option("--diff", is_flag=True, help="Print the change as a unified diff, and write nothing.")
@click.option("--config", "config_file", metavar="FILE", help="Read this configuration file.")
@click.pass_context
def suppress_command(context: click.Context, /, paths: tuple[str, ...], **options: Any) -> None:
    """Write a comment above each finding that suppresses it, with the reason given.

    Exit codes: 0 all are suppressed, 1 some could not be, 2 bad input or usage.
    """
    from .commands.fix import diff_text
    from .triage.write_suppressions import own_files, suppressions, text_of

    reason = " ".join(options.pop("reason").split())
    only_diff = options.pop("diff")
    if not reason:
        _fail("a suppression needs a reason: --reason TEXT")
    settings = _check_options(context, paths, options)
    report = _checked(paths, _config(paths, settings), settings)
    made = suppressions(report.active, reason, own_files(report.inputs), text_of)
    for file, text in made.texts.items():
        if only_diff:
            _write(diff_text(file, text_of(file) or "", text), None)
        else:
            _write(text, file)
    for finding, why in made.left:
        place = finding.location.primary
        click.echo(f"{place.file}:{place.line}: {finding.rule} is not suppressed: {why}", err=True)
    click.echo(f"{made.written} suppressed in {len(made.texts)} files, {len(made.left)} left", err=True)
    if report.problems:
        _write(render(replace(report, findings=(), notes=()), Format.CONCISE), None)
    sys.exit(BAD_INPUT if report.problems else int(bool(made.left)))


def _check_options(context: click.Context, paths: tuple[str, ...], options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of `check` with those given here over their defaults."""
    defaults = check_command.make_context("check", ["--", *paths], parent=context).params
    return {**defaults, **{name: value for name, value in options.items() if value is not None}}


def _as_for_check(context: click.Context, path: str, options: dict[str, Any]) -> Config:
    """Return the configuration that `check` would have for a file, with some of its options given."""
    return _config((path,), _check_options(context, (path,), options))


@main.command("diff")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@click.option("--output", "-o", metavar="FILE", help="Write the differences to FILE, whole or not at all.")
@click.option("--old-nvcc", metavar="FILE", help="The nvcc that compiles OLD.")
@click.option("--new-nvcc", metavar="FILE", help="The nvcc that compiles NEW.")
@click.option("--nvcc-args", multiple=True, callback=_words, metavar="ARGS", help="Further flags for both.")
@click.option("--config", "config_file", metavar="FILE", help="Read this configuration file.")
@click.pass_context
def diff_command(context: click.Context, /, old: str, new: str, **options: Any) -> None:
    """Say what changed from OLD to NEW, each a .ptx or .cu file: findings, verdicts, contracts, resources.

    Exit codes: 0 nothing got worse, 1 a finding is new or a verdict says less, 2 bad input or usage.
    """
    from .commands.differences import compare, differences_json, differences_text

    config = _config((new,), _check_options(context, (new,), options))
    old_nvcc = replace(config.nvcc, compiler=options["old_nvcc"])
    new_nvcc = replace(config.nvcc, compiler=options["new_nvcc"])
    differences = compare(_one_input(old), _one_input(new), config, old_nvcc, new_nvcc)
    _write(
        (differences_json if options["form"] == "json" else differences_text)(differences), options["output"]
    )
    sys.exit(BAD_INPUT if differences.problems else int(differences.worse))


def _one_input(path: str) -> Input:
    from .frontends import discover

    found, problems = discover([path])
    if problems:
        _fail(f"{path}: {problems[0].message}")
    if len(found) != 1:
        _fail(f"{path}: is a folder or pattern; name one file")
    return found[0]


@main.command("explain")
@click.argument("rule_id", metavar="ID")
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", help="Output format."
)
def explain_command(rule_id: str, form: str) -> None:
    """Say what a rule is about, by its id or name."""
    from .report.json import render_rules
    from .report.rule_page import markdown_page, text_page
    from .rules import check_selectors, info_of

    for rule in _all_rules():
        if rule_id.upper() == rule.id or rule_id.lower() == rule.name:
            info = info_of(rule)
            pages = {"text": text_page, "json": lambda info: render_rules((info,)), "markdown": markdown_page}
            _write(pages[form](info), None)
            return
    check_selectors(_all_rules(), [rule_id])
    _fail(f"{rule_id} stands for several rules; `ptxcheck rules` lists them")


@main.command("rules")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format.")
def rules_command(form: str) -> None:
    """List all rules."""
    from .rules import info_of

    infos = tuple(info_of(rule) for rule in _all_rules())
    if form == "json":
        from .report.json import render_rules

        _write(render_rules(infos), None)
        return
    from .report.rule_page import rule_table

    _write(rule_table(infos), None)


def _all_rules() -> tuple[Rule, ...]:
    from .rules import known_rules

    return tuple(sorted(known_rules(), key=lambda rule: rule.id))


@main.command("parse")
@click.argument("path", metavar="FILE")
@click.option("--dump", type=click.Choice(["ir", "cfg", "json"]), default="ir", help="What to print.")
@click.option("--kernel", help="Only this kernel.")
def parse_command(path: str, dump: str, kernel: str | None) -> None:
    """Parse one .ptx or .cu file and print its IR as PTX, its graphs as DOT, or its IR as JSON."""
    from .commands.dump import dump_file

    text, problems = dump_file(path, dump, kernel)
    _write(text, None)
    for problem in problems:
        from .report.plain import place, visible

        click.echo(f"{place(problem.position)}: {visible(problem.message)}", err=True)
        if problem.detail:
            click.echo(visible(problem.detail), err=True)
    sys.exit(BAD_INPUT if problems else 0)


def _fail(message: str) -> NoReturn:
    click.echo(f"ptxcheck: {message}", err=True)
    sys.exit(BAD_INPUT)


def _write(text: str, output: str | None) -> None:
    """Write to a file, or to standard output without failing when the reader is gone."""
    if output is not None:
        try:
            write_atomically(output, text)
        except OutputError as error:
            _fail(str(error))
        return
    data = text.encode("utf-8", errors="backslashreplace")
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        _fail(f"cannot write to standard output: {error.strerror}")


def _has_color(stream: Any) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or bool(stream.isatty() and os.environ.get("TERM") != "dumb")


def _has_progress() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


main.add_command(tma_group(_write, _fail))
main.add_command(show_group(_write, _fail))
main.add_command(run_command(_write, _fail))
main.add_command(fix_command(_write, _fail))
main.add_command(repair_command(_write, _fail))
main.add_command(view_command(_write, _fail, _as_for_check))
main.add_command(lsp_command(_fail))

if __name__ == "__main__":
    main()
