"""Parse, print and parse again every built corpus file; ptxas must take the print of what it took.

    python -m benchmarks.round_trip [--cache DIR] [--ptxas] [--match WORD] [--most-megabytes 4]

Prints each file that does not come back equal, that has a syntax error, or whose print ptxas refuses.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpora.store import default_root
from ptxcheck.ir import Module
from ptxcheck.parser import parse_module, show
from ptxcheck.source import Source

_NEWER = re.compile(r"\.isa95\.ptx\Z")


@dataclass
class Figures:
    """Counts of one run."""

    files: int = 0
    bytes: int = 0
    instructions: int = 0
    unresolved: int = 0
    different: int = 0
    syntax_errors: int = 0
    assembled: int = 0
    refused: int = 0


def main() -> int:
    """Run the campaign; return 1 when anything did not come back."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, default=default_root())
    parser.add_argument("--ptxas", action="store_true")
    parser.add_argument("--match", default="")
    parser.add_argument("--most-megabytes", type=float, default=100.0)
    arguments = parser.parse_args()
    figures = Figures()
    for path in sorted(arguments.cache.glob("ptx/*/*.ptx")):
        if arguments.match in str(path) and path.stat().st_size <= arguments.most_megabytes * 1e6:
            _one(path, figures, assemble=arguments.ptxas)
    print(figures)
    return int(bool(figures.different or figures.syntax_errors or figures.unresolved or figures.refused))


def _one(path: Path, figures: Figures, *, assemble: bool) -> None:
    text = path.read_text(encoding="ascii")
    module = parse_module(Source(str(path), text))
    printed = show(module)
    again = parse_module(Source(str(path), printed))
    figures.files += 1
    figures.bytes += len(text)
    errors = _syntax_errors(module)
    figures.syntax_errors += len(errors)
    for message in errors[:3]:
        print(f"{path.name}: {message}")
    for function in module.functions:
        for instruction in () if function.body is None else function.body.instructions:
            figures.instructions += 1
            if instruction.operation.problem is not None:
                figures.unresolved += 1
                print(f"{path.name}: {instruction.operation.problem}")
    if again != module:
        figures.different += 1
        print(f"{path.name}: the print does not parse to the same")
    if assemble and _NEWER.search(path.name) is None and module.target is not None:
        _assemble(path.name, printed, str(module.target), figures)


def _syntax_errors(module: Module) -> list[str]:
    found = list(module.problems)
    for function in module.functions:
        if function.body is not None:
            found.extend(function.body.problems)
    return [problem.message for problem in found]


def _assemble(name: str, text: str, target: str, figures: Figures) -> None:
    ptxas = shutil.which("ptxas")
    if ptxas is None:
        raise SystemExit("no ptxas on PATH")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "printed.ptx"
        file.write_text(text, encoding="ascii")
        command = [ptxas, f"-arch={target}", "-O0", "-o", os.devnull, str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    figures.assembled += 1
    if done.returncode:
        figures.refused += 1
        print(f"{name}: ptxas refuses the print: {(done.stderr or done.stdout).strip().splitlines()[:2]}")


if __name__ == "__main__":
    raise SystemExit(main())
