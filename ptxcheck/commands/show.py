"""`ptxcheck show`: drawings of what verification sees of kernels; what prints and exits is handed in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from ..config import (
    Config,
    ConfigError,
    find_config,
    load_config,
)
from ..launches.hints import LaunchError, parse_assumption, parse_hint
from .command_output import Fail, Write

if TYPE_CHECKING:
    from ..results import Problem


Show: TypeAlias = Callable[[str, str, str | None, Config], "tuple[str, tuple[Problem, ...]]"]
"""Makes the text for a file, a format, a kernel and a configuration, and says what was wrong."""

_RESOURCES = "Show what kernels keep on the chip, and what limits their main loop."
_PROTOCOL = "Draw roles and barriers of kernels as a graph for Graphviz."
_TIMELINE = "Show one run of a kernel step by step: the one that goes wrong, or the longest."


def show_group(write: Write, fail: Fail) -> click.Group:
    """Return the group of commands."""
    group = click.Group("show", help="Draw what verification sees of kernels.")
    group.add_command(_command("protocol", _PROTOCOL, ("dot",), write, fail))
    group.add_command(_command("timeline", _TIMELINE, ("text", "svg"), write, fail))
    group.add_command(_command("resources", _RESOURCES, ("text", "json"), write, fail, _place))
    return group


def _draw(path: str, form: str, kernel: str | None, config: Config) -> tuple[str, tuple[Problem, ...]]:
    from .drawings import draw_file

    return draw_file(path, form, kernel, config)


def _place(path: str, form: str, kernel: str | None, config: Config) -> tuple[str, tuple[Problem, ...]]:
    from .placement import place_file

    return place_file(path, form, kernel, config)


def _command(
    name: str, summary: str, formats: tuple[str, ...], write: Write, fail: Fail, show: Show = _draw
) -> click.Command:
    @click.pass_context
    def callback(context: click.Context, /, path: str, form: str, **options: Any) -> None:
        text, problems = show(path, form, options["kernel"], _config(path, options, fail))
        if text:
            write(text, options["output"])
        if problems:
            fail("\n".join(map(_line, problems)))
        context.exit(0)

    params: list[click.Parameter] = [
        click.Argument(["path"], metavar="FILE"),
        click.Option(
            ["--format", "form"], type=click.Choice(formats), default=formats[0], help="Output format."
        ),
        click.Option(["--kernel"], metavar="NAME", help="Only this kernel."),
        click.Option(["--launch"], multiple=True, metavar="SPEC", help="How kernels are launched."),
        click.Option(["--assume"], multiple=True, metavar="SPEC", help="A value that the host passes."),
        click.Option(["--config", "config_file"], metavar="FILE", help="Read this configuration file."),
        click.Option(["--isolated"], is_flag=True, help="Read no configuration file."),
        click.Option(["--output", "-o"], metavar="FILE", help="Write to FILE, whole or not at all."),
    ]
    return click.Command(name, callback=callback, params=params, help=summary)


def _config(path: str, options: dict[str, Any], fail: Fail) -> Config:
    try:
        file = options["config_file"]
        if file is None and not options["isolated"]:
            file = find_config(Path(path) if Path(path).exists() else Path())
        config = Config() if file is None else load_config(Path(file))
        hints = tuple(parse_hint(text, "--launch") for text in options["launch"])
        hints += tuple(parse_assumption(text) for text in options["assume"])
    except (ConfigError, LaunchError) as error:
        fail(str(error))
    return replace(config, launch=hints + config.launch)


def _line(problem: Problem) -> str:
    from ..report.plain import place, visible

    detail = f"\n{visible(problem.detail)}" if problem.detail else ""
    return f"{place(problem.position)}: {visible(problem.message)}{detail}"


__all__ = ["show_group"]
