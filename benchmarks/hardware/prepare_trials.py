"""Assemble what was repaired or optimised, with delayed forms of it, for the GPU to run and to time."""

from __future__ import annotations

import math
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.repair import read_records
from ptxcheck.parser import parse_module
from ptxcheck.repair.harness_files import load_harness
from ptxcheck.repair.perturb import perturb
from ptxcheck.source import Source

from .entries import Entry, harness_path, read_manifest
from .trials import Trial, write_trials

_ARCH = "sm_90a"
_FIRST_SEED = 100
"""Other delays than those that the mutants were run under."""
_TAKEN = frozenset({"safe", "faster"})


def prepare_trials(
    mutants: Path, repairs: Iterable[Path], texts: Path, out: Path, root: Path, *, seeds: int, cubins: bool
) -> int:
    """Assemble the correct kernels and what was repaired safely or optimised; return the number of trials.

    Without `cubins` the driver on the GPU's machine assembles the PTX.

    `mutants` is the folder of the mutants, `repairs` are results of benchmarks.repair, `texts` holds what they kept.
    Raises CalledProcessError when ptxas refuses a text.
    """
    out.mkdir(parents=True, exist_ok=True)
    preparation = Preparation(out, root, seeds, cubins)
    entries = {entry.name: entry for entry in read_manifest(mutants)}
    for harness in sorted({Path(entry.harness) for entry in entries.values()}):
        if (mutants / harness).exists():
            shutil.copytree(mutants / harness.parent, out / harness.parent, dirs_exist_ok=True)
    trials = [
        preparation.trial(
            entry,
            entry.name,
            "correct",
            (mutants / entry.image).read_text(encoding="utf-8"),
            preparation.image(entry.name),
        )
        for entry in entries.values()
        if not entry.operator
    ]
    for record in (record for path in repairs for record in read_records(path)):
        if record.outcome in _TAKEN:
            entry = entries[record.name.removesuffix("+optimise")]
            text = (texts / f"{_stem(record.name)}.ptx").read_text(encoding="utf-8")
            kind = "optimise" if record.group == "optimise" else "repair"
            original = preparation.image(entry.name.split("/")[0])
            if kind == "optimise" and entry.operator:
                before = (mutants / entry.image).read_text(encoding="utf-8")
                original = preparation.assembled(f"{_stem(entry.name)}.before", before)
            trials.append(preparation.trial(entry, record.name, kind, text, original, record.restored))
    write_trials(out, trials)
    return len(trials)


def _stem(name: str) -> str:
    return name.replace("/", "-")


@dataclass(frozen=True, slots=True)
class Preparation:
    """Where images go, and how many delayed forms each trial has; without `cubins` the driver assembles PTX."""

    out: Path
    root: Path
    seeds: int
    cubins: bool

    def trial(
        self, entry: Entry, name: str, kind: str, text: str, original: str, restored: bool = False
    ) -> Trial:
        """Assemble one text; `original` is the image to compare its time with."""
        loaded = load_harness(harness_path(entry.harness, self.out, self.root))
        module = parse_module(Source(f"{_stem(name)}.ptx", text))
        delayed = tuple(
            self.assembled(f"{_stem(name)}.{seed}", perturb(module, loaded.kernel, _FIRST_SEED + seed))
            for seed in range(self.seeds)
        )
        image = self.assembled(_stem(name), text)
        work = [math.prod(case.values()) for case in loaded.cases]
        return Trial(
            name,
            kind,
            entry.operator,
            entry.harness,
            image,
            delayed,
            original,
            work.index(max(work)),
            restored,
        )

    def image(self, stem: str) -> str:
        """Return the name of an image."""
        return f"{stem}.cubin" if self.cubins else f"{stem}.ptx"

    def assembled(self, stem: str, text: str) -> str:
        """Store a text, assembled or not; return its name. Raises CalledProcessError."""
        source = self.out / f"{stem}.ptx"
        source.write_text(text, encoding="utf-8")
        if self.cubins:
            command = ["ptxas", f"-arch={_ARCH}", str(source), "-o", str(self.out / self.image(stem))]
            subprocess.run(command, check=True, capture_output=True)
            source.unlink()
        return self.image(stem)
