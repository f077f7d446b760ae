"""Break one constant of a matrix or instruction descriptor at a time, and count what the rules prove.

    python -m benchmarks.descriptor_mutants [--cache DIR] [--group triton] [--match NAME] [--verbose]

Needs the corpora (`python -m benchmarks.corpora build`). Files over 2 MB are left out. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpora.store import default_root
from benchmarks.matrix_descriptors import flaws
from ptxcheck.descriptors.matrix import instruction, operand
from ptxcheck.descriptors.matrix.bit_fields import Layout
from ptxcheck.launches.hints import launch_of
from ptxcheck.parser import parse_module
from ptxcheck.protocols.typestate.matrix_tiles import MatrixTiles
from ptxcheck.source import Source
from ptxcheck.view import KernelView

_LARGEST = 2_000_000
_WIDE = re.compile(r"^\s*(?:or|add|mov)\.[bsu]64\s[^;]*?(-?\d{17,});", re.MULTILINE)
_HIGH = re.compile(r"^\s*mov\.[bsu]32\s[^;{]*?(-?\d{6,});", re.MULTILINE)
_SHIFT = re.compile(r"^\s*bfe\.u32\s[^;]*?, (4), 1[45];", re.MULTILINE)
_NARROW = (1 << 32) - 1
_FULL = (1 << 64) - 1


@dataclass(frozen=True)
class Mutant:
    """One changed number: where, what it becomes, and the kind of mistake."""

    start: int
    end: int
    number: int
    kind: str

    def applied(self, text: str) -> str:
        return f"{text[: self.start]}{self.number}{text[self.end :]}"


def main() -> int:
    """Run the campaign; return 1 when fewer than 97 % of the mutants are found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, default=default_root())
    parser.add_argument("--group", action="append")
    parser.add_argument("--match", default="")
    parser.add_argument("--verbose", action="store_true", help="name each mutant that is not found")
    arguments = parser.parse_args()
    counts: Counter[tuple[str, bool]] = Counter()
    for path in sorted(arguments.cache.glob("ptx/*/*.ptx")):
        if arguments.match not in path.name or path.stat().st_size > _LARGEST:
            continue
        if arguments.group and path.parent.name not in arguments.group:
            continue
        text = path.read_text(encoding="ascii")
        if "wgmma.mma" not in text and "tcgen05.mma" not in text:
            continue
        for mutant in _mutants(text):
            found = _is_found(path.name, mutant.applied(text))
            counts[mutant.kind, found] += 1
            if arguments.verbose and not found:
                line = text.count("\n", 0, mutant.start) + 1
                print(f"{path.name}:{line}: {mutant.kind} to {mutant.number} is not found", file=sys.stderr)
    print(_table(counts))
    total = sum(counts.values())
    return int(total == 0 or sum(n for (_, found), n in counts.items() if found) < 0.97 * total)


def _mutants(text: str) -> Iterator[Mutant]:
    layout = operand.TCGEN05 if "tcgen05.mma" in text else operand.WGMMA
    for match in _WIDE.finditer(text):
        yield from _operand_mutants(match, int(match[1]) & _FULL, layout, 0)
    for match in _HIGH.finditer(text):
        number = int(match[1]) & _NARROW
        if operand.swizzle(layout, layout.decode(number << 32)["mode"]) is not None:
            yield from _operand_mutants(match, number << 32, layout, 32)
        yield from _instruction_mutants(match, number)
    for match in _SHIFT.finditer(text):
        yield Mutant(match.start(1), match.end(1), 0, "address not divided by 16")


def _operand_mutants(match: re.Match[str], word: int, layout: Layout, low: int) -> Iterator[Mutant]:
    """Yield changes of a number that is a whole descriptor, or its upper half."""
    fields = layout.decode(word)
    is_tcgen05 = layout is operand.TCGEN05
    stride_fits = fields["stride"] in (256, 512, 1024)
    if not stride_fits or not fields["mode"] or (is_tcgen05 and fields["version"] != 1):
        return
    changes = {
        "stride of a quarter": {"stride": fields["stride"] // 4},
        "of the other generation": {"version": 0} if is_tcgen05 else {"unused46": 1},
    }
    if is_tcgen05:
        changes["no swizzle mode"] = {"mode": 3}
        changes["unused bit"] = {"unused53": 1}
    else:
        changes["unused bit"] = {"unused52": 4}
    for kind, change in changes.items():
        yield Mutant(match.start(1), match.end(1), layout.encode({**fields, **change}) >> low, kind)


def _instruction_mutants(match: re.Match[str], word: int) -> Iterator[Mutant]:
    """Yield changes of a number that is an instruction descriptor of dense f16, tf32 or 8-bit floats."""
    fields = instruction.PLAIN.decode(word)
    plausible = fields["m"] in (64, 128, 256) and fields["n"] and fields["d_type"] == 1
    reserved = ("selector", "sparse", "saturate", "reserved6", "reserved23", "reserved29", "b_shift")
    if not plausible or any(fields[name] for name in reserved) or max(fields["a_type"], fields["b_type"]) > 5:
        return
    changes = {
        "reserved bit of the instruction": {"reserved6": 1},
        "no type": {"a_type": 7},
        "no columns": {"n": 0},
        "rows that no kind has": {"m": 48},
        "sparse flag": {"sparse": 1},
    }
    for kind, change in changes.items():
        yield Mutant(match.start(1), match.end(1), instruction.PLAIN.encode({**fields, **change}), kind)


def _is_found(name: str, text: str) -> bool:
    module = parse_module(Source(name, text))
    for function in module.functions:
        if function.body is None:
            continue
        tiles = KernelView(module, function, launch_of(function, ())[0]).get(MatrixTiles)
        if any(flaw.sure for flaw in flaws(tiles)):
            return True
        if any(any(tiles.broken(word)) for word in tiles.operands.instruction_words):
            return True
    return False


def _table(counts: Counter[tuple[str, bool]]) -> str:
    lines = ["| mistake | mutants | proved |", "| --- | --- | --- |"]
    for kind in sorted({kind for kind, _ in counts}):
        found, missed = counts[kind, True], counts[kind, False]
        lines.append(f"| {kind} | {found + missed} | {found} |")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
