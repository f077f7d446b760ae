"""Verdicts and counterexamples in every format."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

import ptxcheck
from ptxcheck.config import Config
from ptxcheck.finding import Location
from ptxcheck.report import Format, Verbosity, render
from ptxcheck.results import (
    KernelResult,
    KernelVerdicts,
    PropertyVerdict,
    Remark,
    Report,
    exit_code,
)
from ptxcheck.rules.protocol_kernels import RING, changed
from ptxcheck.source import Position, Source, Span
from ptxcheck.verdict import AssumptionSource, Evidence, Openness, Property, VerdictKind

from .test_render import sarif

WRONG = changed(RING, ("_, [%r8], 1024;", "_, [%r8], 2048;"))
PLACE = Position("k.ptx", 7, 3)


def checked(text: str, **settings: Any) -> Report:
    return ptxcheck.check(Source("k.ptx", text), config=Config(**settings))


@pytest.fixture(scope="module")
def wrong() -> Report:
    return checked(WRONG)


def table(*kinds: VerdictKind, **fields: Any) -> Report:
    reason = Remark("a jump is not followed", Location(PLACE, Span(0, 1)))
    verdicts = tuple(
        PropertyVerdict(
            which, kind, *((reason,), Openness.NOT_DECIDED) if kind is VerdictKind.UNKNOWN else ()
        )
        for which, kind in zip(Property, kinds, strict=False)
    )
    made = KernelVerdicts((64, 1, 1), (2, 1, 1), fields.pop("inferred", False), verdicts, **fields)
    complete = VerdictKind.UNKNOWN not in kinds
    kernel = KernelResult("k", PLACE, ptxcheck.launch.Launch(), 3, complete, verification=made)
    return Report(kernels=(kernel,), inputs=("k.ptx",))


def test_proved_kernels_take_one_line() -> None:
    report = table(VerdictKind.PROVED, VerdictKind.PROVED, runs=4, trips=(0, 1))
    assert render(report, Format.TEXT) == (
        "proved k (block 64×1×1, cluster 2×1×1) [-v shows what it rests on]\n"
        "\n"
        "checked 1 kernel in 1 file; 0 findings; 1 verified (1 proved)\n"
    )


def test_a_text_with_several_places_is_written_once() -> None:
    places = [Location(Position("k.ptx", line, 3), Span(0, 1)) for line in (7, 9, 7)]
    taken = tuple(Remark("loads agree", each) for each in places)
    report = table(VerdictKind.ASSUMES, assumptions=(*taken, Remark("the block is full")))
    assert [line for line in render(report, Format.TEXT).splitlines() if "taking" in line] == [
        "   = taking: loads agree (line 7, line 9)",
        "   = taking: the block is full",
    ]


def test_text_says_who_is_to_make_an_assumption_true() -> None:
    taken = (
        Remark("lanes run in step", source=AssumptionSource.HARDWARE),
        Remark("n is at least 1", source=AssumptionSource.HOST),
    )
    report = table(VerdictKind.ASSUMES, assumptions=taken)
    assert [line for line in render(report, Format.TEXT).splitlines() if "taking" in line] == [
        "   = taking (host): n is at least 1",
        "   = taking (hardware): lanes run in step",
    ]


@pytest.mark.parametrize(("evidence", "told"), [(Evidence.FOR_ALL, "for all"), (Evidence.BOUNDED, "bounded")])
def test_summary_and_table_say_how_far_a_verdict_with_assumptions_goes(evidence: Evidence, told: str) -> None:
    (kernel,) = table(VerdictKind.ASSUMES).kernels
    assert kernel.verification is not None
    (verdict,) = kernel.verification.verdicts
    judged = replace(kernel.verification, verdicts=(replace(verdict, evidence=evidence),))
    text = render(Report(kernels=(replace(kernel, verification=judged),)), Format.TEXT)
    assert text.startswith(f"assumes ({told}) k at k.ptx:7:3; ")
    assert f"1 verified (1 assumes ({told}))" in text


def test_json_and_sarif_have_the_evidence_of_each_property_and_who_assumptions_are_up_to() -> None:
    place = Location(PLACE, Span(0, 1))
    taken = (
        Remark("lanes run in step", place, source=AssumptionSource.HARDWARE),
        Remark("n is at least 1", None, "--assume n=1", AssumptionSource.HOST),
    )
    report = table(VerdictKind.ASSUMES)
    (kernel,) = report.kernels
    assert kernel.verification is not None
    (verdict,) = kernel.verification.verdicts
    verdict = replace(verdict, evidence=Evidence.BOUNDED, assumptions=taken)
    report = replace(
        report, kernels=(replace(kernel, verification=replace(kernel.verification, verdicts=(verdict,))),)
    )
    (told,) = json.loads(render(report, Format.JSON))["kernels"]
    (of_json,) = told["verification"]["properties"]
    assert (told["verification"]["evidence"], of_json["evidence"]) == ("bounded", "bounded")
    assert [(each["source"], each["text"], each["advice"]) for each in of_json["assumptions"]] == [
        ("hardware", "lanes run in step", None), ("host", "n is at least 1", "--assume n=1"),
    ]  # fmt: skip
    assert of_json["assumptions"][0]["location"]["line"] == 7
    (run,) = sarif(report)["runs"]
    (of_sarif,) = run["properties"]["verifications"]
    assert of_sarif["properties"] == [
        {
            "property": "deadlock-freedom", "verdict": "assumes", "evidence": "bounded",
            "assumptions": [
                {"source": "hardware", "text": "lanes run in step"}, {"source": "host", "text": "n is at least 1"},
            ],
        }
    ]  # fmt: skip


def test_the_checker_fills_in_the_evidence() -> None:
    found = {}
    for text in (RING, WRONG, RING.replace(".reqntid", ".maxntid")):
        (kernel,) = json.loads(render(checked(text), Format.JSON))["kernels"]
        verdict = kernel["verification"]["properties"][0]
        found[verdict["verdict"]] = verdict["evidence"], {each["source"] for each in verdict["assumptions"]}
    assert found == {
        "proved": ("for-all", set()),
        "violated": ("counterexample", set()),
        "assumes": ("for-all", {"launch"}),
    }


def test_text_names_launch_reasons_and_contract() -> None:
    report = table(
        VerdictKind.ASSUMES,
        VerdictKind.UNKNOWN,
        inferred=True,
        given=("n=4",),
        equations=("param+640 == box_bytes(param+128)",),
        assumptions=(Remark("loads agree"),),
        runs=2,
        trips=(0, 3),
    )
    first, second = (kind.value for kind in list(Property)[:2])
    assert render(report, Format.TEXT, verbosity=Verbosity.VERBOSE).splitlines()[:6] == [
        "unknown k at k.ptx:7:3; block 64×1×1, cluster 2×1×1 (inferred), n=4",
        f"   = assumes (for all): {first}",
        f"   = not decided: {second}: a jump is not followed (line 7)",
        "   = if: param+640 == box_bytes(param+128)",
        "   = taking: loads agree",
        "   = runs: 2 runs; loops of open length repeat 0, 3 times",
    ]
    assert "1 kernel NOT verified: k (a jump is not followed)" in render(report, Format.TEXT)
    concise = render(report, Format.CONCISE).splitlines()[0]
    assert concise.startswith("k.ptx:7:3: unknown k, block 64×1×1, cluster 2×1×1 (inferred), n=4: ")
    notice = render(report, Format.GITHUB).splitlines()[0]
    assert notice.startswith("::notice file=k.ptx,line=7,col=3,title=ptxcheck%3A unknown::k%0A")


def test_strict_fails_for_unknown_verdicts_alone() -> None:
    for kind, code in (
        (VerdictKind.UNKNOWN, 3), (VerdictKind.ASSUMES, 0), (VerdictKind.PROVED_BOUNDED, 0),
    ):  # fmt: skip
        assert exit_code(table(kind), strict=True) == code
        assert exit_code(table(kind)) == 0


def test_proved_kernels_are_no_notices() -> None:
    assert "::notice" not in render(table(VerdictKind.PROVED), Format.GITHUB)
    (run,) = sarif(table(VerdictKind.PROVED))["runs"]
    assert run["invocations"][0]["toolExecutionNotifications"] == []


def test_undecided_kernels_are_notifications_of_valid_sarif() -> None:
    (run,) = sarif(table(VerdictKind.UNKNOWN))["runs"]
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["descriptor"]["id"] == "verification/unknown"
    assert note["descriptor"]["id"] in {each["id"] for each in run["tool"]["driver"]["notifications"]}
    assert "a jump is not followed" in note["message"]["text"]
    assert run["results"] == []


def test_violation_is_a_finding_with_its_run(wrong: Report) -> None:
    (finding,) = wrong.active
    assert (finding.rule, finding.severity.value) == ("TX001", "hang")
    assert finding.counterexample is not None
    assert exit_code(wrong) == 1
    text = render(wrong, Format.TEXT)
    assert "   = run: block 64×1×1, cluster 1×1×1" in text
    assert "   = role: producer (warp 0, lane 0)" in text
    assert "2048 bytes expected, 1024 complete" in text
    assert any(line.lstrip().startswith(">") and line.rstrip().endswith("]") for line in text.splitlines())


def test_json_has_verdicts_and_the_run(wrong: Report) -> None:
    value = json.loads(render(wrong, Format.JSON))
    (finding,) = value["findings"]
    run = finding["counterexample"]
    assert {"launch", "inputs", "roles", "bad", "state", "needed"} == set(run)
    assert any(step["order"] == run["bad"] for role in run["roles"] for step in role["steps"])
    verification = value["kernels"][0]["verification"]
    assert verification["verdict"] == "violated"
    assert verification["block"] == [64, 1, 1]
    kinds = {each["property"]: each["verdict"] for each in verification["properties"]}
    assert set(kinds) >= {"deadlock-freedom", "phase-safety", "tx-balance", "lifecycle"}
    assert kinds["deadlock-freedom"] == "violated"


def test_sarif_has_a_code_flow_with_a_thread_flow_for_each_role(wrong: Report) -> None:
    (run,) = sarif(wrong)["runs"]
    (result,) = run["results"]
    (flow,) = result["codeFlows"]
    names = [thread["id"] for thread in flow["threadFlows"]]
    assert names == ["consumer (warp 1)", "producer (warp 0, lane 0)"]
    steps = [step for thread in flow["threadFlows"] for step in thread["locations"]]
    assert {step["importance"] for step in steps} == {"essential", "important"}
    assert all(step["location"]["physicalLocation"]["region"]["startLine"] > 0 for step in steps)


def test_without_verification_there_is_no_verdict() -> None:
    report = checked(WRONG, verify=False)
    assert report.active == ()
    assert report.kernels[0].verification is None
    assert report.incomplete == ()
    assert "verified" not in render(report, Format.TEXT)


def test_violations_can_be_suppressed_and_ignored() -> None:
    line = "    mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r8], %r11;"
    said = changed(WRONG, (line, f"{line}  // ptxcheck: ignore[TX001] seen"))
    assert checked(said).active == ()
    assert [finding.suppressed for finding in checked(said).findings] == ["seen"]
    assert checked(WRONG, ignore=("TX",)).active == ()
