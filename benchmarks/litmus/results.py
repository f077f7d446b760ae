"""Raw counts and verdicts as they are kept: `results/counts-….json` for each GPU, and `results/verdicts.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .litmus_test import Litmus, Variant
from .program import digest, kernel_name, program

FOLDER = Path(__file__).with_name("results")
VERDICTS = FOLDER / "verdicts.json"


@dataclass(frozen=True, slots=True)
class Setting:
    """Bounds of the delays of both sides in cycles, and whether another kernel keeps caches busy."""

    late_a: int
    late_b: int
    pressure: bool


@dataclass(frozen=True, slots=True)
class Count:
    """What one variant did under one setting."""

    setting: Setting
    launches: int
    hand_overs: int
    """Rounds of all CTAs."""
    weak: int
    """Words that threads found wrong."""
    seconds: float
    outcome: str
    """ended, hang, fault, refused or broken."""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """One variant on one GPU."""

    kernel: str
    digest: str
    """Of the PTX that ran."""
    counts: tuple[Count, ...]


@dataclass(frozen=True, slots=True)
class Campaign:
    """One run of the suite."""

    gpu: str
    driver: str
    clocks: str
    date: str
    measured: tuple[Measured, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the checker says of one variant."""

    kernel: str
    digest: str
    verdict: str
    """The worst over all properties."""
    at_fault: tuple[str, ...]
    """Properties that are violated or unknown."""
    axioms: tuple[str, ...]
    findings: tuple[str, ...]
    """Rules, without `--pedantic`."""


def write_campaign(path: Path, campaign: Campaign) -> None:
    """Write the raw counts, a line for each variant."""
    head = {name: value for name, value in asdict(campaign).items() if name != "measured"}
    lines = ",\n".join("  " + json.dumps(_compact(each)) for each in campaign.measured)
    text = json.dumps(head)[:-1] + f', "measured": [\n{lines}\n]}}\n'
    path.write_text(text, encoding="utf-8")


def _compact(measured: Measured) -> dict[str, Any]:
    """Return a variant with each count as a list, in the order of the fields."""
    counts = [
        [*asdict(count.setting).values(), *list(asdict(count).values())[1:]] for count in measured.counts
    ]
    return {"kernel": measured.kernel, "digest": measured.digest, "counts": counts}


def read_campaigns(folder: Path = FOLDER) -> tuple[Campaign, ...]:
    """Read all raw counts."""
    return tuple(read_campaign(path) for path in sorted(folder.glob("counts-*.json")))


def read_campaign(path: Path) -> Campaign:
    """Read the raw counts of one file."""
    table = json.loads(path.read_text(encoding="utf-8"))
    measured = tuple(
        Measured(
            row["kernel"],
            row["digest"],
            tuple(Count(Setting(*count[:3]), *count[3:]) for count in row["counts"]),
        )
        for row in table["measured"]
    )
    return Campaign(**{**table, "measured": measured})


def counts_of(campaigns: Iterable[Campaign], litmus: Litmus, variant: Variant) -> list[Count]:
    """Return all counts of the present text of a variant."""
    wanted = kernel_name(litmus, variant), digest(program(litmus, variant))
    return [
        count
        for campaign in campaigns
        for measured in campaign.measured
        if (measured.kernel, measured.digest) == wanted
        for count in measured.counts
    ]


def is_weak(counts: Iterable[Count]) -> bool:
    """Tell whether a weak outcome was seen."""
    return any(count.weak or count.outcome in ("hang", "fault") for count in counts)


def write_judgements(path: Path, judgements: tuple[Judgement, ...]) -> None:
    """Write the verdicts, a line for each variant."""
    lines = ",\n".join("  " + json.dumps(asdict(each)) for each in judgements)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def read_judgements(path: Path = VERDICTS) -> tuple[Judgement, ...]:
    """Read the verdicts."""
    lists = ("at_fault", "axioms", "findings")
    rows = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return tuple(Judgement(**{**row, **{name: tuple(row[name]) for name in lists}}) for row in rows)
