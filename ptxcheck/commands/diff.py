"""`ptxcheck diff`: what changed between two versions of the same kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from . import console
from .check_options import CheckOptions, configuration
from .options import CONFIG_FILE, choice, split_words, takes

if TYPE_CHECKING:
    from ..frontends import Input


@dataclass(frozen=True, slots=True)
class DiffOptions:
    """The two versions, and the compiler of each."""

    old: str
    new: str
    form: str
    output: str | None
    old_nvcc: str | None
    new_nvcc: str | None
    nvcc_args: tuple[str, ...]
    config_file: str | None


@click.command("diff")
@click.argument("old", metavar="OLD", type=click.Path())
@click.argument("new", metavar="NEW", type=click.Path())
@choice("text", "json")
@click.option("--output", "-o", metavar="FILE", help="Write the differences to FILE, whole or not at all.")
@click.option("--old-nvcc", metavar="FILE", help="The nvcc that compiles OLD.")
@click.option("--new-nvcc", metavar="FILE", help="The nvcc that compiles NEW.")
@click.option(
    "--nvcc-args", multiple=True, callback=split_words, metavar="ARGS", help="Further flags for both."
)
@CONFIG_FILE
@takes(DiffOptions)
def diff_command(options: DiffOptions) -> None:
    """Say what changed from OLD to NEW, each a .ptx or .cu file: findings, verdicts, contracts, resources.

    Exit codes: 0 nothing got worse, 1 a finding is new or a verdict says less, 2 bad input or usage.
    """
    from .differences import compare, differences_json, differences_text

    config = configuration(
        CheckOptions((options.new,), nvcc_args=options.nvcc_args, config_file=options.config_file)
    )
    differences = compare(
        _one_input(options.old),
        _one_input(options.new),
        config,
        replace(config.nvcc, compiler=options.old_nvcc),
        replace(config.nvcc, compiler=options.new_nvcc),
    )
    shown = differences_json if options.form == "json" else differences_text
    console.write(shown(differences), options.output)
    console.leave(console.BAD_INPUT if differences.problems else int(differences.worse))


def _one_input(path: str) -> Input:
    from ..frontends import discover

    found, problems = discover([path])
    if problems:
        console.fail(f"{path}: {problems[0].message}")
    if len(found) != 1:
        console.fail(f"{path}: is a folder or pattern; name one file")
    return found[0]
