"""What is run: an image of a kernel or of a mutant, its perturbed forms, and the checker's verdict on it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Entry:
    """One kernel or mutant. Paths are relative to the folder of the manifest."""

    name: str
    """`ring`, or `ring/17` for a mutant."""
    harness: str
    """In the folder where it was written there as data, otherwise in the checkout."""
    operator: str
    """"" for the correct kernel."""
    description: str
    image: str
    perturbed: tuple[str, ...]
    assumptions: tuple[str, ...] = ()
    """What the host passes, as `--assume` takes it: the bytes of each tensor map's box."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What the checker says of one entry."""

    name: str
    verdict: str
    """The worst verdict over all properties: violated, unknown, assumes, proved-bounded, proved; "" for none."""
    findings: tuple[str, ...]
    unknown: str
    """Why a property is unknown, "" when none is."""


@dataclass(frozen=True, slots=True)
class Result:
    """What the GPU said of one entry."""

    name: str
    outcome: str
    detail: str
    runs: int
    perturbed: bool
    """True when only a delayed form showed it."""


def harness_path(harness: str, folder: Path, root: Path) -> Path:
    """Return where the harness of an entry or a trial of a folder is."""
    written = folder / harness
    return written if written.exists() else root / harness


def write_manifest(folder: Path, entries: list[Entry]) -> None:
    """Write `manifest.json`."""
    text = json.dumps([asdict(entry) for entry in entries], indent=1)
    (folder / "manifest.json").write_text(text + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> list[Entry]:
    """Read `manifest.json`."""
    rows = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    lists = ("perturbed", "assumptions")
    return [Entry(**{**row, **{name: tuple(row.get(name, ())) for name in lists}}) for row in rows]


def read_results(*paths: Path) -> Iterator[Result]:
    """Yield the results of JSON-lines files that exist; a half-written last line is left out."""
    for path in paths:
        if not path.exists():
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                yield Result(**json.loads(line))
            except (json.JSONDecodeError, TypeError):
                continue


def read_judged(folder: Path) -> dict[str, Judged]:
    """Read `judged.jsonl`; by name, the last line of each. A half-written last line is left out."""
    path = folder / "judged.jsonl"
    found: dict[str, Judged] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        found[row["name"]] = Judged(**{**row, "findings": tuple(row["findings"])})
    return found
