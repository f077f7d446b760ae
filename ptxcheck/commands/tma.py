"""`ptxcheck tma`: check, solve and explain descriptions of tensor maps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from . import console
from .options import takes

if TYPE_CHECKING:
    from ..descriptors import Answer, TensorMap, TiledMap

Run: TypeAlias = Callable[[dict[str, Any], str], tuple[str, int]]
"""From the fields of a description and a format to a text and an exit code."""

_CODE = ("cpp", "triton", "gluon")
_ANSWERS = ("text", "json", *_CODE)
_CHECK = "Say whether a tensor map is legal, which rules it breaks, and what follows from it."
_SOLVE = "Find the cheapest legal encode of `tile=`, or the rules that clash."
_EXPLAIN = "Draw the box in shared memory as SVG: which bytes land in which banks."
_FIELDS = """

DESCRIPTION is a .toml or .json file, or words such as
type=bf16 shape=4096,4096 box=64,128 swizzle=128B (elements, innermost first; strides in bytes).
"""


@dataclass(frozen=True, slots=True)
class TmaOptions:
    """A description in words, and what to write of it."""

    description: tuple[str, ...]
    form: str
    output: str | None


@click.group("tma")
def tma_group() -> None:
    """Tensor maps: is one legal, what is the cheapest legal one, how does its box lie.

    Exit codes: 0 legal or solved, 1 illegal or no encode exists, 2 bad input or usage.
    """


def _command(name: str, run: Run, summary: str, formats: tuple[str, ...]) -> click.Command:
    @takes(TmaOptions)
    def callback(options: TmaOptions) -> None:
        from ..descriptors.spec import SpecError, read

        try:
            text, status = run(read(" ".join(options.description)), options.form)
        except SpecError as error:
            console.fail(str(error))
        console.write(text.rstrip("\n") + "\n", options.output)
        console.leave(status)

    params: list[click.Parameter] = [
        click.Argument(["description"], nargs=-1, required=True, metavar="DESCRIPTION..."),
        click.Option(
            ["--format", "form"], type=click.Choice(formats), default=formats[0], help="Output format."
        ),
        click.Option(["--output", "-o"], metavar="FILE", help="Write to FILE, whole or not at all."),
    ]
    return click.Command(name, callback=callback, params=params, help=summary + _FIELDS)


def _check(table: dict[str, Any], form: str) -> tuple[str, int]:
    from ..descriptors import render, violations
    from ..descriptors.nearest import nearest
    from ..descriptors.spec import platform_of, tensor_map_of

    tensor_map, platform = tensor_map_of(table), platform_of(table)
    found = violations(tensor_map, platform)
    better = nearest(tensor_map, platform)
    if form == "json":
        return render.json_of_check(tensor_map, found, better), int(bool(found))
    if form == "text":
        return render.text_of_check(tensor_map, found, better), int(bool(found))
    legal = tensor_map if better is None else better.tensor_map
    if better is None and found:
        return render.text_of_check(tensor_map, found), 1
    return _code(legal, form), int(bool(found))


def _solve(table: dict[str, Any], form: str) -> tuple[str, int]:
    from ..descriptors import Impossible, render, solve
    from ..descriptors.spec import request_of

    answer: Answer = solve(request_of(table))
    status = int(isinstance(answer, Impossible))
    if form == "json":
        return render.json_of_answer(answer), status
    if form == "text" or isinstance(answer, Impossible):
        return render.text_of_answer(answer), status
    return _code(answer.tensor_map, form), status


def _explain(table: dict[str, Any], _form: str) -> tuple[str, int]:
    from ..descriptors import svg
    from ..descriptors.spec import SpecError, tensor_map_of

    try:
        return svg(tensor_map_of(table)), 0
    except ValueError as error:
        raise SpecError(str(error)) from error


def _code(tensor_map: TensorMap | TiledMap, form: str) -> str:
    from ..descriptors import TiledMap, render
    from ..descriptors.spec import SpecError

    if not isinstance(tensor_map, TiledMap):
        raise SpecError(f"--format {form} is for tiled maps")
    forms: dict[str, Callable[[TiledMap], str]] = {
        "cpp": render.cpp_of,
        "triton": render.triton_of,
        "gluon": render.gluon_of,
    }
    try:
        return forms[form](tensor_map)
    except ValueError as error:
        raise SpecError(str(error)) from error


tma_group.add_command(_command("check", _check, _CHECK, _ANSWERS))
tma_group.add_command(_command("solve", _solve, _SOLVE, _ANSWERS))
tma_group.add_command(_command("explain", _explain, _EXPLAIN, ("svg",)))
