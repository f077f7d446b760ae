"""Kernels that make their own tensor maps: what is decided of them, and of copies of them with one mistake each.

    python -m benchmarks.device_maps [--folder DIR] [--mutants] [--unspecialised] [--conditions]

Each kernel is judged with what Triton specialised it for (the text beside the PTX), from the PTX alone, and
with `--unspecialised` compiled for any arguments as well. `--conditions` prints what legality then rests on.

A mistake is a changed or missing line; the finding counts when it is of an expected rule and at an expected line:
that of the mistake, or that of a copy that uses the map where the line is gone.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import ptxcheck
from ptxcheck.config import Config
from ptxcheck.rules import RULES
from ptxcheck.source import Source

from .corpora import triton_group
from .corpora.compiled import REPOSITORY
from .corpora.environments import ensure
from .corpora.process import run
from .corpora.store import Cache, default_root
from .corpora.toolchain import main_toolchain
from .corpora.triton_group import COMPILE_TIMEOUT, MODULES

_REPLACE = re.compile(r"tensormap\.replace\.tile\.(\w+)\.")
_PROPERTIES = "descriptor-"
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


@dataclass(frozen=True)
class Decided:
    """What was decided of the maps of one module's kernels."""

    verdicts: Mapping[str, str]
    """By property, without its first word."""
    conditions: tuple[str, ...]
    findings: tuple[str, ...]
    seconds: float

    def __str__(self) -> str:
        """Return one line."""
        found = "; ".join(f"{name}: {kind}" for name, kind in self.verdicts.items())
        return f"{found}; findings {', '.join(self.findings) or 'none'}; {self.seconds:.1f} s"


def decided(target: str | Source) -> Decided:
    """Return the verdicts on the maps of one module's kernels."""
    started = time.process_time()
    report = ptxcheck.check(target)
    tables = [kernel.verification for kernel in report.kernels if kernel.verification is not None]
    own = [each for table in tables for each in table.verdicts if each.property.value.startswith(_PROPERTIES)]
    return Decided(
        {each.property.value.removeprefix(_PROPERTIES): each.kind.value for each in own},
        tuple(remark.text for each in own for remark in each.reasons),
        tuple(finding.rule for finding in report.active if finding.rule.startswith(_FOUND_BY)),
        time.process_time() - started,
    )


def unspecialised(name: str) -> Path | None:
    """Compile a case of the corpus for any arguments; None where that fails. Made once."""
    cache = Cache(default_root())
    case, _, target = name.removesuffix(".ptx").rpartition(".sm_")
    made = cache.sources("unspecialised") / name
    for module in MODULES:
        if not made.is_file():
            tools = main_toolchain(cache)
            worker: list[str | Path] = [
                ensure(cache, "triton"),
                "-m",
                f"{triton_group.__package__}.triton_worker",
                "build",
                module,
            ]
            how = [case, target.rstrip("af"), str(made), str(min(tools.isa, 90)), "unspecialised"]
            ptxas = str(tools.ptxas)
            run(
                [*worker, *how],
                timeout=COMPILE_TIMEOUT,
                cwd=REPOSITORY,
                env={"TRITON_PTXAS_PATH": ptxas, "TRITON_PTXAS_BLACKWELL_PATH": ptxas},
            )
    return made if made.is_file() else None


def _ways(path: Path, *, compiled: bool) -> Iterator[tuple[str, str | Source]]:
    yield "specialised", str(path)
    yield "PTX alone", Source(path.name, path.read_text(encoding="utf-8"))
    made = unspecialised(path.name) if compiled else None
    if made is not None:
        yield "unspecialised", str(made)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=default_root() / "ptx" / "triton")
    parser.add_argument("--mutants", action="store_true")
    parser.add_argument("--unspecialised", action="store_true")
    parser.add_argument("--conditions", action="store_true")
    options = parser.parse_args()
    tried: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for path in sorted(options.folder.glob("*.ptx")):
        text = path.read_text(encoding="utf-8")
        if "tensormap.replace" not in text:
            continue
        for way, target in _ways(path, compiled=options.unspecialised):
            found = decided(target)
            print(f"{path.name}, {way}: {found}", flush=True)
            for condition in found.conditions if options.conditions else ():
                print(f"    {condition}")
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
