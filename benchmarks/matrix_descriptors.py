"""Decode every matrix descriptor of the built corpora: which fields are known, and what the rules say of them.

    python -m benchmarks.matrix_descriptors [--cache DIR] [--group cutlass] [--match NAME] [--verbose]

Needs the corpora (`python -m benchmarks.corpora build`). Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.corpora.store import default_root
from ptxcheck.launches.hints import launch_of
from ptxcheck.parser import parse_module
from ptxcheck.protocols.typestate.matrix_operands import MatrixOperand
from ptxcheck.protocols.typestate.matrix_tiles import Flaw, MatrixTiles
from ptxcheck.source import Source
from ptxcheck.view import KernelView

_WORDS = ("wgmma.mma_async", "tcgen05.mma", "tcgen05.cp")
_CONSTANT = ("leading", "stride", "base", "mode")


def main() -> int:
    """Run the campaign; return 1 when a descriptor of a library kernel has a flaw."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, default=default_root())
    parser.add_argument("--group", action="append")
    parser.add_argument("--match", default="")
    parser.add_argument("--verbose", action="store_true", help="name each field that is not known")
    arguments = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    for path in sorted(arguments.cache.glob("ptx/*/*.ptx")):
        if arguments.match not in path.name or (arguments.group and path.parent.name not in arguments.group):
            continue
        text = path.read_text(encoding="ascii")
        if any(word in text for word in _WORDS):
            _count(path, text, counts, arguments.verbose)
    print(_table(counts))
    return int(any(number for (_, what), number in counts.items() if what == "flaws"))


def _count(path: Path, text: str, counts: Counter[tuple[str, str]], verbose: bool) -> None:
    module = parse_module(Source(path.name, text))
    counts[path.parent.name, "files"] += 1
    for function in module.functions:
        if function.body is None:
            continue
        view = KernelView(module, function, launch_of(function, ())[0])
        for operand in view.get(MatrixTiles).operands.all:
            for what in _known(operand, view.get(MatrixTiles)):
                counts[path.parent.name, what] += 1
            missing = sorted(set(operand.layout.by_name) - set(operand.fields) - {"start"})
            if verbose and (missing or operand.start is None):
                place = f"{path.name} {function.name[:30]} point {operand.point} {operand.name}"
                print(f"{place}: start {operand.start}, not known: {', '.join(missing)}", file=sys.stderr)
        for word in view.get(MatrixTiles).operands.instruction_words:
            counts[path.parent.name, "instruction words"] += 1
            counts[path.parent.name, "whole"] += len(word.fields) == len(word.shape.kind.layout.fields)
            counts[path.parent.name, "shape"] += {"m", "n"} <= set(word.fields)
            for broken in view.get(MatrixTiles).broken(word):
                counts[path.parent.name, "flaws"] += 1
                print(f"{path.name} point {word.point}: {broken.text}", file=sys.stderr)
        for flaw in flaws(view.get(MatrixTiles)):
            counts[path.parent.name, "flaws"] += 1
            print(f"{path.name} point {flaw.operand.point}: {flaw.message}", file=sys.stderr)


def _known(operand: MatrixOperand, tiles: MatrixTiles) -> Iterator[str]:
    yield "wgmma" if operand.is_hopper else "tcgen05"
    yield "operands"
    for name in _CONSTANT:
        if name in operand.fields:
            yield name
    others = set(operand.layout.by_name) - set(_CONSTANT) - {"start"}
    if others <= set(operand.fields):
        yield "unused"
    if operand.start is not None:
        yield "start"
        if operand.start.symbol is not None:
            yield "variable"
        if operand.start.is_known:
            yield "offset"
    if tiles.tile(operand) is not None:
        yield "tile"


def flaws(tiles: MatrixTiles) -> Iterator[Flaw]:
    """Yield everything that the rules about descriptors say of a kernel."""
    yield from tiles.illegal_fields()
    yield from tiles.unencoded_addresses()
    yield from tiles.misaligned()
    yield from tiles.base_offsets()
    yield from tiles.overlaps()
    yield from tiles.outside()
    yield from tiles.differing()
    yield from tiles.transposed()


_COLUMNS = (
    "files", "wgmma", "tcgen05", "mode", "leading", "stride", "base", "unused", "start", "variable", "offset",
    "tile", "instruction words", "shape", "whole", "flaws",
)  # fmt: skip


def _table(counts: Counter[tuple[str, str]]) -> str:
    groups = sorted({group for group, _ in counts})
    lines = [f"| group | {' | '.join(_COLUMNS)} |", "| --- |" + " --- |" * len(_COLUMNS)]
    for group in groups:
        lines.append(f"| {group} | {' | '.join(str(counts[group, what]) for what in _COLUMNS)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
