"""Kernels that make their own tensor maps: what is decided of them, and of copies of them with one mistake each.

    python -m benchmarks.device_maps [--folder DIR] [--mutants]

A mistake is a changed or missing line; the finding counts when it is of an expected rule and at an expected line:
that of the mistake, or that of a copy that uses the map where the line is gone.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import ptxcheck
from ptxcheck.config import Config
from ptxcheck.rules import RULES
from ptxcheck.source import Source

from .corpora.store import default_root

_REPLACE = re.compile(r"tensormap\.replace\.tile\.(\w+)\.")
_FOUND_BY = ("TD05", "TD06", "PX004")


@dataclass(frozen=True)
class Mutant:
    """One kernel with one mistake."""

    name: str
    line: int
    text: str
    rules: tuple[str, ...]
    at_line: bool
    """False: the finding is at a use of the map."""


_VALUES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "rank": (("0x1;", "0x2;", "TD051"), ("0x1;", "0x5;", "TD050")),
    "elemtype": (("0x6;", "0x9;", "TD054"),),
    "box_dim": ((r"%r\d+;", "512;", "TD050"), (r"%r\d+;", "0;", "TD050")),
    "global_dim": ((r"%r\d+;", "0;", "TD050"),),
    "element_stride": ((r"%r\d+;", "9;", "TD050"),),
    "global_stride": ((r"%rd\d+;", "8;", "TD050"), ("0x0, %", "0x4, %", "TD050")),
    "global_address": ((r"%rd\d+;", "8;", "TD050"),),
}
_NEEDED = frozenset({*_VALUES})


def mutants(text: str) -> Iterator[Mutant]:
    """Yield the broken copies of a module."""
    lines = text.split("\n")
    for index, line in enumerate(lines):
        match = _REPLACE.search(line)
        if match is not None:
            field = match[1]
            for old, new, rule in _VALUES.get(field, ()):
                changed = re.sub(old, new, line, count=1)
                if changed != line:
                    yield _with(lines, index, changed, f"{field} {new.strip('; %')}", (rule,), True)
            if field in _NEEDED:
                yield _with(lines, index, "", f"no {field}", ("TD055",), False)
        elif "fence.proxy.tensormap" in line and "acquire" in line:
            yield _with(lines, index, "", "no acquire", ("PX004", "TD058", "TD066"), False)
        elif "tensormap.cp_fenceproxy" in line:
            yield _with(lines, index, "", "no copy", ("TD059",), False)


def _with(lines: list[str], index: int, line: str, name: str, rules: tuple[str, ...], at: bool) -> Mutant:
    changed = "\n".join((*lines[:index], line, *lines[index + 1 :]))
    return Mutant(name, index + 1, changed, rules, at)


def is_found(mutant: Mutant) -> bool:
    """Tell whether the mistake is reported, by an expected rule at an expected line."""
    rules = [rule for rule in RULES if rule.id.startswith(_FOUND_BY)]
    report = ptxcheck.check(Source("mutant.ptx", mutant.text), rules=rules, config=Config(verify=False))
    uses = {number for number, line in enumerate(mutant.text.split("\n"), 1) if "bulk.tensor" in line}
    replaced = {number for number, line in enumerate(mutant.text.split("\n"), 1) if _REPLACE.search(line)}
    wanted = {mutant.line} if mutant.at_line else uses | (replaced if "TD059" in mutant.rules else set())
    return any(f.rule in mutant.rules and f.location.ptx.line in wanted for f in report.active)


def decided(path: Path) -> str:
    """Return the verdicts on the maps of one module's kernels, and the time."""
    started = time.monotonic()
    text = path.read_text(encoding="utf-8")
    report = ptxcheck.check(Source(path.name, text))
    found = [
        f"{verdict.property.value.removeprefix('descriptor-')}: {verdict.kind.value}"
        for kernel in report.kernels
        if kernel.verification is not None
        for verdict in kernel.verification.verdicts
        if verdict.property.value.startswith("descriptor-")
    ]
    wrong = [finding.rule for finding in report.active if finding.rule.startswith(_FOUND_BY)]
    return f"{'; '.join(found)}; findings {wrong or 'none'}; {time.monotonic() - started:.1f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=default_root() / "ptx" / "triton")
    parser.add_argument("--mutants", action="store_true")
    options = parser.parse_args()
    tried: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for path in sorted(options.folder.glob("*.ptx")):
        text = path.read_text(encoding="utf-8")
        if "tensormap.replace" not in text:
            continue
        print(path.name, decided(path), flush=True)
        for mutant in mutants(text) if options.mutants else ():
            tried[mutant.name] += 1
            if not is_found(mutant):
                missed[mutant.name] += 1
                print(f"  missed: {mutant.name} at line {mutant.line}", flush=True)
    for name, count in sorted(tried.items()):
        print(f"{name}: {count - missed[name]} of {count}")
    if tried:
        print(f"all: {tried.total() - missed.total()} of {tried.total()}")


if __name__ == "__main__":
    main()
