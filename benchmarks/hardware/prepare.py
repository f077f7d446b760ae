"""Compile the runnable kernels, make their mutants and delayed forms, and ask the checker about each."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ptxcheck.parser import parse_module
from ptxcheck.repair.harness import load_harness
from ptxcheck.repair.perturb import perturb
from ptxcheck.source import Source

from .entries import Entry, write_manifest

_ARCH = "sm_90a"


def prepare_all(folder: Path, root: Path, mutants: int, perturbations: int, jobs: int) -> int:
    """Fill a folder; return the number of entries."""
    folder.mkdir(parents=True, exist_ok=True)
    entries: list[Entry] = []
    for path in sorted((root / "corpus" / "runnable").iterdir()):
        if path.suffix in (".toml", ".py"):
            entries += _entries(path, folder, root, mutants, perturbations, jobs)
    write_manifest(folder, entries)
    return len(entries)


def _entries(
    path: Path, folder: Path, root: Path, mutants: int, perturbations: int, jobs: int
) -> list[Entry]:
    harness = load_harness(path)
    text = compile_ptx(harness.source)
    variants = [("", "", text)]
    found: list[Entry] = []
    for number, (operator, description, changed) in enumerate(variants):
        name = f"{path.stem}/{number}" if number else path.stem
        images = [_stored(folder, f"{name.replace('/', '-')}.ptx", changed)]
        for seed in range(perturbations):
            delayed = perturb(parse_module(Source(name, changed)), harness.kernel, seed)
            images.append(_stored(folder, f"{name.replace('/', '-')}.{seed}.ptx", delayed))
        found.append(
            Entry(
                name, str(path.relative_to(root)), operator, description, "unknown", (), images[0],
                tuple(images[1:]),
            )
        )  # fmt: skip
    return found


def _stored(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return name


def compile_ptx(source: Path) -> str:
    """Return the PTX of a .cu file. Raises CalledProcessError with the compiler's messages."""
    return subprocess.run(
        ["nvcc", f"-arch={_ARCH}", "-lineinfo", "-ptx", str(source), "-o", "-"], check=True, text=True,
        stdout=subprocess.PIPE,
    ).stdout  # fmt: skip
