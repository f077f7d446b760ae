"""Claims about released kernels: each has a class, and what it refers to is there and shows what it says."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from benchmarks.library_bugs import Bug, Shown, read_bugs, table
from benchmarks.litmus.results import counts_of, is_weak, read_campaigns
from benchmarks.litmus.table import SUITE
from benchmarks.protocols import Row
from ptxcheck.protocols.order.axioms import AXIOMS
from ptxcheck.rules import RULES
from ptxcheck.verdict import Property

ROOT = Path(__file__).parents[1]
_HARDWARE = (ROOT / "benchmarks/hardware.md").read_text(encoding="utf-8")
_PEDANTIC = {rule.id for rule in RULES if rule.pedantic}
_FIELDS = {
    Shown.IN_KERNEL: ({"gpu", "report"},),
    Shown.IN_LITMUS: ({"litmus"}, {"question"}),
    Shown.REQUIRED: ({"required"}, {"required", "not_seen"}),
    Shown.ISA_ONLY: ({"axiom"}, {"axiom", "not_seen"}),
}


def _problems(bug: Bug) -> list[str]:
    """Return what is wrong with a claim."""
    names = ("gpu", "report", "litmus", "question", "required", "not_seen", "axiom")
    given = {name for name in names if getattr(bug, name)}
    found = [] if given in _FIELDS[bug.shown] else [f"{bug.shown.value} with {sorted(given)}"]
    if bug.litmus and not _weak(bug.litmus):
        found.append(f"{bug.litmus} shows no weak outcome")
    if bug.not_seen and _weak(bug.not_seen) is not False:
        found.append(f"{bug.not_seen} was not run, or shows weak outcomes")
    if bug.question and not _is_answered(bug.question):
        found.append(f"hardware.md does not answer {bug.question}")
    if bug.report and not (ROOT / bug.report).is_file():
        found.append(f"{bug.report} is missing")
    elif bug.report and bug.gpu not in (ROOT / bug.report).read_text(encoding="utf-8"):
        found.append(f"{bug.report} does not name {bug.gpu}")
    if bug.axiom and bug.axiom not in {axiom.id for axiom in AXIOMS if axiom.rule in _PEDANTIC}:
        found.append(f"{bug.axiom} is no axiom with a pedantic rule")
    if Property(bug.property).value != bug.property or not bug.reasons or not bug.evidence:
        found.append("property, reasons or evidence is missing")
    return found


def _weak(reference: str) -> bool | None:
    """Tell whether a variant showed weak outcomes, None if there is none or it was not run."""
    name, _, variant_name = reference.partition("/")
    for litmus in SUITE:
        for variant in litmus.variants:
            if (litmus.name, variant.name) == (name, variant_name):
                counts = counts_of(read_campaigns(), litmus, variant)
                return is_weak(counts) if counts else None
    return None


def _is_answered(question: str) -> bool:
    folder = ROOT / "benchmarks/hardware/questions"
    is_there = all((folder / f"{question}{end}.toml").is_file() for end in ("", ".control"))
    return is_there and f"| `{question}` |" in _HARDWARE


@pytest.mark.parametrize("bug", read_bugs(), ids=lambda bug: f"{bug.file}-{bug.property}")
def test_claims_are_of_a_class_and_bear_it_out(bug: Bug) -> None:
    assert _problems(bug) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"litmus": ""},
        {"litmus": "wgmma_of_stored_bytes/fence_of_another"},
        {"litmus": "wgmma_of_stored_bytes/no_such_variant"},
        {"litmus": "", "question": "unasked"},
        {"required": "somewhere"},
        {"shown": Shown.ISA_ONLY},
        {"shown": Shown.ISA_ONLY, "litmus": "", "axiom": "no-such-axiom"},
        {"shown": Shown.IN_KERNEL, "litmus": "", "gpu": "H100", "report": "docs/upstream/none.md"},
        {
            "shown": Shown.REQUIRED,
            "litmus": "",
            "required": "here",
            "not_seen": "wgmma_of_stored_bytes/no_fence",
        },
    ],
)
def test_claims_that_bear_nothing_out_are_seen(changes: dict[str, object]) -> None:
    bug = next(bug for bug in read_bugs() if bug.litmus == "wgmma_of_stored_bytes/no_fence")
    assert _problems(bug) == []
    assert _problems(dataclasses.replace(bug, **changes)) != []  # type: ignore[arg-type]


def test_what_rests_on_the_isa_alone_is_no_default_finding() -> None:
    """Entries are what is violated by default, so that such an entry would be one."""
    assert [bug.file for bug in read_bugs() if bug.shown is Shown.ISA_ONLY] == []


def test_a_claim_is_of_its_file_property_and_reason() -> None:
    bug = read_bugs()[0]
    row = Row(
        bug.file, "k", "", {bug.property: "violated"}, {bug.property: bug.reasons[0] + ", line 5"}, 1, 0.0
    )
    assert row.is_known_bug(bug.property)
    assert not dataclasses.replace(row, file="other/file").is_known_bug(bug.property)
    assert not dataclasses.replace(row, reasons={bug.property: "something else"}).is_known_bug(bug.property)


def test_the_table_of_classes_is_that_of_the_claims() -> None:
    text = (ROOT / "benchmarks/README.md").read_text(encoding="utf-8")
    assert table(read_bugs()) in text
    assert table(read_bugs()[1:]) not in text
