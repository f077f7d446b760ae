"""`ptxcheck parse`: the IR of one file, as PTX, as graphs or as JSON."""

from __future__ import annotations

import click

from . import console


@click.command("parse")
@click.argument("path", metavar="FILE", type=click.Path())
@click.option("--dump", type=click.Choice(["ir", "cfg", "json"]), default="ir", help="What to print.")
@click.option("--kernel", help="Only this kernel.")
def parse_command(path: str, dump: str, kernel: str | None) -> None:
    """Parse one .ptx or .cu file and print its IR as PTX, its graphs as DOT, or its IR as JSON."""
    from .dump import dump_file

    text, problems = dump_file(path, dump, kernel)
    console.write(text)
    for problem in problems:
        console.remark(console.problem_line(problem))
    console.leave(console.BAD_INPUT if problems else 0)
