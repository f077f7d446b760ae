"""The options of `ptxcheck check`, and the configuration that they make with a configuration file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..config import Config, ConfigError, find_config, load_config, parse_severity, with_setting
from ..launches.hints import LaunchError, stated
from ..report import Format
from .console import fail

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..frontends import Input


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What `check` is asked for; its parameters with their defaults. Other commands set some of them."""

    paths: tuple[str, ...]
    form: str = Format.TEXT.value
    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    gitignore: bool | None = None
    force_exclude: bool = False
    fail_on: str | None = None
    output: str | None = None
    strict: bool | None = None
    pedantic: bool | None = None
    possible: bool | None = None
    nvcc_args: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    arch: str | None = None
    compile_commands: str | None = None
    launch: tuple[str, ...] = ()
    assume: tuple[str, ...] = ()
    tensor_map: tuple[str, ...] = ()
    verify: bool | None = None
    verify_seconds: float | None = None
    for_every_count: bool | None = None
    cross_check: str | None = None
    source_root: tuple[str, ...] = ()
    config_file: str | None = None
    isolated: bool = False
    settings: tuple[str, ...] = ()
    show_settings: bool = False
    show_files: bool = False
    stdin_filename: str | None = None
    verbose: bool = False
    quiet: bool = False
    color: str = "auto"
    statistics: bool = False
    exit_zero: bool = False
    fix: bool = False
    jobs: int = 1
    executor: str | None = None
    no_cache: bool = False
    clear_cache: bool = False
    profile: bool = False
    baseline: str | None = None
    since: str | None = None
    watch: bool = False


def configuration(options: CheckOptions) -> Config:
    """Return the configuration file's settings with the options of the command line over them."""
    try:
        file = configuration_file(options)
        config = Config() if file is None else load_config(file)
        for setting in options.settings:
            config = with_setting(config, setting)
        hints = stated(options.launch, options.assume, options.tensor_map)
    except (ConfigError, LaunchError) as error:
        fail(str(error))
    nvcc = config.nvcc
    cross_check = options.cross_check or config.cross_check
    if cross_check is not None:
        from ..terms.smt import MissingSolverError, SecondSolver

        try:
            SecondSolver(cross_check)
        except MissingSolverError as error:
            fail(str(error))
    return replace(
        config,
        select=(options.select or config.select) + options.extend_select,
        exclude=config.exclude + options.exclude,
        gitignore=config.gitignore if options.gitignore is None else options.gitignore,
        ignore=config.ignore + options.ignore,
        fail_on=config.fail_on if options.fail_on is None else parse_severity(options.fail_on),
        strict=options.strict or config.strict,
        pedantic=options.pedantic or config.pedantic,
        possible=options.possible or config.possible,
        source_roots=config.source_roots + options.source_root,
        launch=hints + config.launch,
        verify=config.verify if options.verify is None else options.verify,
        verify_seconds=options.verify_seconds or config.verify_seconds,
        for_every_count=config.for_every_count
        if options.for_every_count is None
        else options.for_every_count,
        cross_check=cross_check,
        nvcc=replace(
            nvcc,
            args=nvcc.args + options.nvcc_args,
            includes=options.includes + nvcc.includes,
            defines=nvcc.defines + options.defines,
            arch=options.arch or nvcc.arch,
            compile_commands=options.compile_commands or nvcc.compile_commands,
        ),
    )


def configuration_file(options: CheckOptions) -> Path | None:
    """Return the configuration file that counts. Raises ConfigError."""
    if options.config_file is not None:
        return Path(options.config_file)
    if options.isolated:
        return None
    if options.paths[0] == "-":
        first = Path(options.stdin_filename or ".").absolute()
        return find_config(first if first.is_dir() else first.parent)
    first = Path(options.paths[0])
    return find_config(first if first.exists() else Path())


def chosen_inputs(config: Config, options: CheckOptions) -> Callable[[Input], bool] | None:
    """Return which of the files that were found are checked; None for all. Raises RepositoryError."""
    from ..frontends import is_excluded
    from ..frontends.repository import changes_since

    tests: list[Callable[[Input], bool]] = []
    if options.since is not None:
        tests.append(changes_since(options.since, ".").touch)
    if options.force_exclude:
        tests.append(lambda item: not is_excluded(item.path, config.exclude))
    return (lambda item: all(test(item) for test in tests)) if tests else None
