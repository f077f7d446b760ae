"""`ptxcheck show`: drawings of what verification sees of kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import click

from ..config import Config
from . import console
from .check_options import CheckOptions, configuration
from .options import takes

if TYPE_CHECKING:
    from ..results import Problem

Show: TypeAlias = Callable[[str, str, str | None, Config], "tuple[str, tuple[Problem, ...]]"]
"""Makes the text for a file, a format, a kernel and a configuration, and says what was wrong."""

_RESOURCES = "Show what kernels keep on the chip, and what limits their main loop."
_PROTOCOL = "Draw roles and barriers of kernels as a graph, for Graphviz or as GraphML."
_AUTOMATON = "Draw what the threads of each role do, in which order, and what decides how they go on."
_TIMELINE = "Show one run of a kernel step by step: the one that goes wrong, or the longest."


@dataclass(frozen=True, slots=True)
class ShowOptions:
    """What to draw of which file, and how it is launched."""

    path: str
    form: str
    kernel: str | None
    launch: tuple[str, ...]
    assume: tuple[str, ...]
    tensor_map: tuple[str, ...]
    config_file: str | None
    isolated: bool
    output: str | None


@click.group("show")
def show_group() -> None:
    """Draw what verification sees of kernels."""


def _draw(path: str, form: str, kernel: str | None, config: Config) -> tuple[str, tuple[Problem, ...]]:
    from .drawings import draw_file

    return draw_file(path, form, kernel, config)


def _draw_automata(
    path: str, form: str, kernel: str | None, config: Config
) -> tuple[str, tuple[Problem, ...]]:
    from .drawings import draw_automata, draw_file

    return draw_file(path, form, kernel, config, draw_automata)


def _place(path: str, form: str, kernel: str | None, config: Config) -> tuple[str, tuple[Problem, ...]]:
    from .placement import place_file

    return place_file(path, form, kernel, config)


def _command(name: str, summary: str, formats: tuple[str, ...], show: Show) -> click.Command:
    @takes(ShowOptions)
    def callback(options: ShowOptions) -> None:
        config = configuration(
            CheckOptions(
                (options.path,),
                launch=options.launch,
                assume=options.assume,
                tensor_map=options.tensor_map,
                config_file=options.config_file,
                isolated=options.isolated,
            )
        )
        text, problems = show(options.path, options.form, options.kernel, config)
        if text:
            console.write(text, options.output)
        if problems:
            console.fail_for(problems)

    params: list[click.Parameter] = [
        click.Argument(["path"], metavar="FILE"),
        click.Option(
            ["--format", "form"], type=click.Choice(formats), default=formats[0], help="Output format."
        ),
        click.Option(["--kernel"], metavar="NAME", help="Only this kernel."),
        click.Option(["--launch"], multiple=True, metavar="SPEC", help="How kernels are launched."),
        click.Option(["--assume"], multiple=True, metavar="SPEC", help="A value that the host passes."),
        click.Option(
            ["--tensor-map"], multiple=True, metavar="PARAM=SPEC", help="A tensor map that it passes."
        ),
        click.Option(["--config", "config_file"], metavar="FILE", help="Read this configuration file."),
        click.Option(["--isolated"], is_flag=True, help="Read no configuration file."),
        click.Option(["--output", "-o"], metavar="FILE", help="Write to FILE, whole or not at all."),
    ]
    return click.Command(name, callback=callback, params=params, help=summary)


show_group.add_command(_command("protocol", _PROTOCOL, ("dot", "graphml"), _draw))
show_group.add_command(_command("automaton", _AUTOMATON, ("dot", "graphml"), _draw_automata))
show_group.add_command(_command("timeline", _TIMELINE, ("text", "svg"), _draw))
show_group.add_command(_command("resources", _RESOURCES, ("text", "json"), _place))
