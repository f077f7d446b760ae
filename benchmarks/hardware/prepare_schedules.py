"""Schedules of the runnable kernels that mark a number, proved here, as trials beside the kernel as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ptxcheck.commands.schedules import candidates_of
from ptxcheck.repair.harness_files import load_harness
from ptxcheck.repair.schedules import Candidate
from ptxcheck.source import Source
from ptxcheck.sources.comments import Verb, comments

from .entries import Entry
from .prepare_trials import Preparation
from .trials import Trial, write_trials

_RUNNABLE = Path("corpus") / "runnable"


def prepare_schedules(out: Path, root: Path, *, seeds: int) -> list[str]:
    """Write the trials of every schedule that holds; return a line for each candidate. Needs nvcc."""
    out.mkdir(parents=True, exist_ok=True)
    preparation = Preparation(out, root, seeds, cubins=False)
    trials: list[Trial] = []
    lines = []
    for source in _marked(root):
        harness = source.with_suffix(".toml").relative_to(root)
        kernel = load_harness(root / harness).kernel
        for number, candidate in enumerate(candidates_of(str(source), kernel, None)):
            said = _said(candidate)
            lines.append(f"{kernel}: {said}: {candidate.verdict}")
            if candidate.holds:
                name = kernel if number == 0 else f"{kernel}.schedule{number}"
                entry = Entry(name, str(harness), said, "", "", ())
                kind = "correct" if number == 0 else "schedule"
                trials.append(preparation.trial(entry, name, kind, candidate.text, preparation.image(kernel)))
    write_trials(out, trials)
    return lines


def _marked(root: Path) -> Iterator[Path]:
    """Yield the sources that mark a number, where a table launches them."""
    for path in sorted((root / _RUNNABLE).glob("*.cu")):
        said = comments(Source(path.name, path.read_text(encoding="utf-8")))
        if any(comment.verb is Verb.SCHEDULE for comment in said) and path.with_suffix(".toml").exists():
            yield path


def _said(candidate: Candidate) -> str:
    numbers = (f"{name} = {value}" for name, value in candidate.setting)
    return ", ".join((*numbers, *candidate.changes))
