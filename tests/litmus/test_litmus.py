"""The litmus suite: kernels that assemble, counts and verdicts of their present texts, and a table that agrees."""

from __future__ import annotations

import dataclasses

import pytest

from benchmarks.litmus.coverage import (
    EXPLAINED,
    FOUND_AND_REQUIRED,
    REQUIRED,
    RULES_WITHOUT_ROW,
    ordering_rules,
    uncovered,
    unfounded,
)
from benchmarks.litmus.judging import judge, kernels
from benchmarks.litmus.litmus_test import BLACKWELL, HOPPER, Kind, Litmus, Variant
from benchmarks.litmus.program import digest, kernel_name, program
from benchmarks.litmus.report import PATH, contradicted, found_and_not_weak, page
from benchmarks.litmus.results import counts_of, is_weak, read_campaigns, read_judgements
from benchmarks.litmus.table import SUITE
from ptxcheck.protocols.order.axioms import AXIOMS
from ptxcheck.repair.assemble import assemble, find_ptxas
from ptxcheck.rules import RULES

_CLAIMS = frozenset(claim for litmus in SUITE for claim in litmus.claims)
_VARIANTS = [(litmus, variant) for litmus in SUITE for variant in litmus.variants]


def _name(pair: object) -> str:
    return str(getattr(pair, "name", pair))


def test_every_axiom_has_a_row_and_every_default_ordering_rule_a_row_or_a_reason() -> None:
    assert list(uncovered(SUITE)) == []
    known = {rule.id for rule in RULES} | {axiom.id for axiom in AXIOMS}
    assert _CLAIMS | REQUIRED.keys() | RULES_WITHOUT_ROW.keys() <= known
    assert set(REQUIRED) <= ordering_rules()


@pytest.mark.parametrize("claim", ["unfenced-copy", "tensor-without-fences", "SM020"])
def test_a_row_that_is_missing_is_seen(claim: str) -> None:
    assert claim in list(uncovered([litmus for litmus in SUITE if claim not in litmus.claims]))


def test_what_no_row_runs_here_is_no_default_finding() -> None:
    assert list(unfounded(SUITE)) == []


def test_a_default_finding_that_no_row_runs_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    told = dataclasses.replace(next(axiom for axiom in AXIOMS if axiom.id == "peer-runs"), rule="TM038")
    monkeypatch.setattr("benchmarks.litmus.coverage.AXIOMS", (told,))
    assert list(unfounded(SUITE)) == ["peer-runs"]


def test_rows_have_a_control() -> None:
    assert [row.name for row in SUITE if all(each.kind is not Kind.CONTROL for each in row.variants)] == []


def test_holes_of_variants_are_in_their_rows() -> None:
    for litmus, variant in _VARIANTS:
        steps = " ".join([litmus.setup, litmus.end or "", *(role.steps for role in litmus.roles)])
        steps += " ".join(variant.holes.values())
        assert [hole for hole in variant.holes if f"?{hole}" not in steps] == [], kernel_name(litmus, variant)


@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
@pytest.mark.parametrize("litmus", SUITE, ids=_name)
def test_kernels_assemble(litmus: Litmus) -> None:
    texts = [program(litmus, variant) for variant in litmus.variants]
    framed = [text[text.index(".visible") :] if index else text for index, text in enumerate(texts)]
    assert litmus.target in (HOPPER, BLACKWELL)
    assert assemble("\n".join(framed), litmus.target, find_ptxas() or "").error == ""


def test_verdicts_are_of_the_present_kernels() -> None:
    kept = [(judgement.kernel, judgement.digest) for judgement in read_judgements()]
    assert kept == [(name, digest(text)) for name, text in kernels()]


@pytest.mark.parametrize("variant", SUITE[1].variants[:3], ids=_name)
def test_verdicts_are_those_of_the_checker(variant: Variant) -> None:
    name = kernel_name(SUITE[1], variant)
    assert judge(name, program(SUITE[1], variant)) in read_judgements()


def test_counts_are_of_the_present_kernels() -> None:
    present = {(name, digest(text)) for name, text in kernels()}
    for campaign in read_campaigns():
        assert [each.kernel for each in campaign.measured if (each.kernel, each.digest) not in present] == []


def test_controls_show_no_weak_outcome() -> None:
    campaigns = read_campaigns()
    for litmus, variant in _VARIANTS:
        if variant.kind is Kind.CONTROL:
            assert not is_weak(counts_of(campaigns, litmus, variant)), kernel_name(litmus, variant)


def test_weak_outcomes_that_are_not_found_are_explained() -> None:
    judged = {judgement.kernel: judgement for judgement in read_judgements()}
    assert set(contradicted(read_campaigns(), judged)) == set(EXPLAINED)


def test_what_is_found_and_not_weak_is_required_by_vendors() -> None:
    judged = {judgement.kernel: judgement for judgement in read_judgements()}
    assert set(found_and_not_weak(read_campaigns(), judged)) == set(FOUND_AND_REQUIRED)


def test_what_is_found_without_need_is_seen() -> None:
    judged = {judgement.kernel: judgement for judgement in read_judgements()}
    name = "arrival_at_an_mbarrier__relaxed"
    judged[name] = dataclasses.replace(judged[name], findings=("SM020",))
    assert name in found_and_not_weak(read_campaigns(), judged)


def test_the_page_agrees_with_the_counts() -> None:
    assert PATH.read_text(encoding="utf-8") == page(read_campaigns(), read_judgements())


def test_the_page_changes_with_the_counts() -> None:
    campaigns = read_campaigns()
    fewer = dataclasses.replace(campaigns[0], measured=campaigns[0].measured[1:])
    assert page((fewer, *campaigns[1:]), read_judgements()) != page(campaigns, read_judgements())


@pytest.mark.parametrize("told", ["release", "odd_lanes"])
def test_an_address_that_an_allocation_wrote_is_no_number_that_was_stored_before(told: str) -> None:
    name = f"address_of_an_allocation__{told}"
    found = judge(name, dict(kernels())[name])
    assert (found.findings, "slot-safety" in found.at_fault) == ((), False)
