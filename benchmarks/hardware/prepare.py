"""Compile the runnable kernels and make their mutants and delayed forms."""

from __future__ import annotations

import math
import random
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.mutation.operators import Mutant, mutants
from benchmarks.mutation.subject import subjects
from ptxcheck.parser import parse_module
from ptxcheck.repair.harness import Harness, MapArgument
from ptxcheck.repair.harness_files import load_harness
from ptxcheck.repair.outcome import Outcome
from ptxcheck.repair.perturb import perturb
from ptxcheck.repair.prepared import prepare
from ptxcheck.source import Source

from .entries import Entry, harness_path, read_judged, read_manifest, read_results, write_manifest

_ARCH = "sm_90a"
_LATER = 1000
"""Seeds of further delays."""
_LAUNCH = "// ptxcheck: launch"


def prepare_all(folder: Path, root: Path, limit: int, perturbations: int) -> int:
    """Fill a folder; return the number of entries."""
    folder.mkdir(parents=True, exist_ok=True)
    entries: list[Entry] = []
    for path in sorted((root / "corpus" / "runnable").iterdir()):
        if path.suffix in (".toml", ".py"):
            harness = load_harness(path)
            subject = _Subject(path.stem, str(path.relative_to(root)), harness, compile_ptx(harness.source))
            entries += subject.entries(folder, limit, perturbations)
    write_manifest(folder, entries)
    return len(entries)


def prepare_triton(folder: Path, limit: int, perturbations: int, *, large: bool = False) -> int:
    """Fill a folder with Triton's kernels of the corpora, data and mutants; return the number of entries."""
    from .triton_cases import harnesses, large_harnesses

    entries: list[Entry] = []
    for name, harness in (large_harnesses() if large else harnesses()).items():
        written = prepare(harness, folder / name)
        text = written.with_suffix(".ptx").read_text(encoding="utf-8")
        subject = _Subject(name, str(written.relative_to(folder)), harness, text)
        entries += subject.entries(folder, limit, perturbations)
    write_manifest(folder, entries)
    return len(entries)


def prepare_more(folder: Path, out: Path, root: Path, seeds: int) -> int:
    """Fill another folder with the mutants that were found and ran right, under further delays; return how many."""
    out.mkdir(parents=True, exist_ok=True)
    judged = read_judged(folder)
    right = {r.name for r in read_results(folder / "results.jsonl") if r.outcome == Outcome.RIGHT.value}
    entries: list[Entry] = []
    for entry in read_manifest(folder):
        known = judged.get(entry.name)
        if not entry.operator or entry.name not in right or known is None:
            continue
        if not known.findings and known.verdict != "violated":
            continue
        text = (folder / entry.image).read_text(encoding="utf-8")
        kernel = load_harness(harness_path(entry.harness, folder, root)).kernel
        module = parse_module(Source(entry.name, text))
        _stored(out, entry.image, text)
        images = [
            _stored(out, f"{Path(entry.image).stem}.{seed}.ptx", perturb(module, kernel, _LATER + seed))
            for seed in range(seeds)
        ]
        entries.append(replace(entry, perturbed=tuple(images)))
    write_manifest(out, entries)
    return len(entries)


@dataclass(frozen=True, slots=True)
class _Subject:
    """A correct kernel and its text."""

    name: str
    path: str
    """Of the harness."""
    harness: Harness
    text: str

    def entries(self, folder: Path, limit: int, perturbations: int) -> Iterable[Entry]:
        """Write the kernel, its mutants and delayed forms of each; yield what they are."""
        variants, kernel = [("", "", self.text)], self.harness.kernel
        assumptions = tuple(_boxes(self.harness, self.text))
        for subject in subjects(Source(f"{self.name}.ptx", self.text), kernel):
            for mutant in _spread(mutants(subject), limit):
                described = f"{mutant.what}: line {mutant.line}: {mutant.statement}"
                variants.append((mutant.operator, described, mutant.text))
        for number, (operator, description, changed) in enumerate(variants):
            name = f"{self.name}/{number}" if number else self.name
            images = [_stored(folder, f"{name.replace('/', '-')}.ptx", changed)]
            for seed in range(perturbations):
                delayed = perturb(parse_module(Source(name, changed)), kernel, seed)
                images.append(_stored(folder, f"{name.replace('/', '-')}.{seed}.ptx", delayed))
            yield Entry(
                name, self.path, operator, description, images[0], tuple(images[1:]), assumptions
            )  # fmt: skip


def _boxes(harness: Harness, text: str) -> Iterable[str]:
    """Yield how many bytes a copy through each tensor map of a kernel moves."""
    module = parse_module(Source(harness.kernel, text))
    function = next(each for each in module.functions if each.name == harness.kernel and each.is_entry)
    plan = harness.plan(harness.cases[0])
    for argument, (offset, _, _) in zip(plan.arguments.values(), function.parameter_places, strict=True):
        if isinstance(argument, MapArgument):
            size = math.prod(argument.fields["box"]) * plan.buffers[argument.buffer].itemsize
            yield f"{harness.kernel}: box_bytes(param+{offset})={size}"


def _spread(found: Iterable[Mutant], limit: int) -> list[Mutant]:
    """Return at most `limit` mutants, of as many operators as there are, chosen reproducibly."""
    by_operator: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in found:
        by_operator[mutant.operator].append(mutant)
    generator = random.Random(1)
    for group in by_operator.values():
        generator.shuffle(group)
    kept: list[Mutant] = []
    while len(kept) < limit and any(by_operator.values()):
        for _, group in sorted(by_operator.items()):
            if group and len(kept) < limit:
                kept.append(group.pop())
    return sorted(kept, key=lambda m: (m.point, m.operator))


def _stored(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return name


def compile_ptx(source: Path) -> str:
    """Return the PTX of a .cu file, with its launch comment. Raises CalledProcessError."""
    text = subprocess.run(
        ["nvcc", f"-arch={_ARCH}", "-lineinfo", "-ptx", str(source), "-o", "-"], check=True, text=True,
        stdout=subprocess.PIPE,
    ).stdout  # fmt: skip
    launch = next((x for x in source.read_text(encoding="utf-8").splitlines() if x.startswith(_LAUNCH)), "")
    return f"{launch}\n{text}" if launch else text
