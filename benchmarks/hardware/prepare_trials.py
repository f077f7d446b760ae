"""Assemble what was repaired or optimised, with delayed forms of it, for the GPU to run and to time."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ptxcheck.parser import parse_module
from ptxcheck.repair.harness import load_harness
from ptxcheck.repair.perturb import perturb
from ptxcheck.source import Source

from .entries import read_manifest
from .trials import Trial, write_trials

_ARCH = "sm_90a"


def prepare_trials(
    mutants: Path, repairs: Iterable[Path], texts: Path, out: Path, root: Path, seeds: int
) -> int:
    """Assemble the correct kernels and what was repaired safely or optimised; return the number of trials.

    `mutants` is the folder of the mutants, `repairs` are results of benchmarks.repair, `texts` holds what they kept.
    Raises CalledProcessError when ptxas refuses a text.
    """
    out.mkdir(parents=True, exist_ok=True)
    entries = {entry.name: entry for entry in read_manifest(mutants)}
    trials: list[Trial] = []
    for kernel, entry in entries.items():
        if entry.operator:
            continue
        text = (mutants / entry.image).read_text(encoding="utf-8")
        trials.append(_trial(kernel, "correct", "", text, entry.harness, False, out, root, seeds))
    for record in _records(repairs):
        entry = entries[record["name"].removesuffix("+optimise")]
        kind = "optimise" if record["group"] == "optimise" else "repair"
        if record["outcome"] not in ("safe", "faster"):
            continue
        text = (texts / f"{record['name'].replace('/', '-')}.ptx").read_text(encoding="utf-8")
        trials.append(
            _trial(
                record["name"],
                kind,
                entry.operator,
                text,
                entry.harness,
                record["restored"],
                out,
                root,
                seeds,
            )
        )
    write_trials(out, trials)
    return len(trials)


def _records(paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def _trial(
    name: str, kind: str, group: str, text: str, harness: str, restored: bool, out: Path, root: Path, seeds: int
) -> Trial:  # fmt: skip
    loaded = load_harness(root / harness)
    stem = name.replace("/", "-")
    images = [_assembled(out, f"{stem}.cubin", text)]
    module = parse_module(Source(f"{stem}.ptx", text))
    for seed in range(seeds):
        images.append(_assembled(out, f"{stem}.{seed}.cubin", perturb(module, loaded.kernel, 100 + seed)))
    work = [math.prod(case.values()) for case in loaded.cases]
    original = f"{Path(harness).stem}.cubin"
    case = work.index(max(work))
    return Trial(name, kind, group, harness, images[0], tuple(images[1:]), original, case, restored)


def _assembled(folder: Path, name: str, text: str) -> str:
    path = folder / name
    source = path.with_suffix(".ptx")
    source.write_text(text, encoding="utf-8")
    subprocess.run(["ptxas", f"-arch={_ARCH}", str(source), "-o", str(path)], check=True)
    source.unlink()
    return name
