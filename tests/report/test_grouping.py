"""One mistake is told once: with those like it, and with what follows from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import ptxcheck
from ptxcheck.finding import Confidence, Finding, Location, Severity
from ptxcheck.report import Format, Verbosity, render
from ptxcheck.report.grouping import grouped
from ptxcheck.results import Report
from ptxcheck.rules.protocol_kernels import RING, changed
from ptxcheck.source import Position, Source, Span

CORPUS = Path(__file__).parents[2] / "corpus" / "protocols"


def found(line: int, message: str, *, fingerprint: str = "", caused_by: str = "") -> Finding:
    return Finding(
        "XX001", "rule", Severity.UNDEFINED, Confidence.PROVED, message,
        Location(Position("k.ptx", line, 1), Span(0, 1)), "k", fingerprint=fingerprint, caused_by=caused_by,
    )  # fmt: skip


def test_findings_that_differ_in_numbers_are_one_group() -> None:
    loads = [found(line, f"row {line} is misaligned", fingerprint=str(line)) for line in range(1, 31)]
    other = found(40, "something else", fingerprint="x")
    first, second = grouped([*loads, other])
    assert (first.first, len(first.similar)) == (loads[0], 29)
    assert (second.first, second.similar) == (other, ())


def test_text_says_how_many_more_there_are_and_where() -> None:
    loads = tuple(found(line, f"row {line} is misaligned", fingerprint=str(line)) for line in range(1, 31))
    text = render(Report(findings=loads), Format.TEXT)
    assert text.count("is misaligned") == 1
    assert "= also: 29 more like it: line 2, line 3, " in text
    assert "30 findings" in text


def test_what_follows_is_listed_under_its_cause() -> None:
    cause = found(1, "wrong count", fingerprint="a")
    race = found(2, "a race", fingerprint="b", caused_by="a")
    report = Report(findings=(cause, race))
    text = render(report, Format.TEXT)
    assert "   = so: undefined[XX001] at line 2: a race" in text
    assert "1 finding (1 undefined) and 1 that follows from them" in text


def test_a_consequence_of_a_suppressed_cause_stands_for_itself() -> None:
    cause = replace(found(1, "wrong count", fingerprint="a"), suppressed="known")
    race = found(2, "a race", fingerprint="b", caused_by="a")
    (group,) = grouped(Report(findings=(cause, race)).active)
    assert group.first == race


def test_races_follow_from_the_barrier_between_their_accesses() -> None:
    report = ptxcheck.check(str(CORPUS / "ring" / "elected_thread_loads.three_warps_counted.ptx"))
    by_id = {finding.fingerprint: finding.rule for finding in report.active}
    assert {finding.rule: by_id.get(finding.caused_by) for finding in report.active} == {
        "MB022": None,
        "SM021": "MB022",
    }
    assert [group.first.rule for group in grouped(report.active)] == ["MB022"]


def test_what_is_wrong_with_a_barrier_follows_from_its_count() -> None:
    report = ptxcheck.check(str(CORPUS / "init" / "one_thread_then_barrier.count_of_zero.ptx"))
    (group,) = grouped(report.active)
    assert group.first.rule == "MB001"
    assert {each.first.rule for each in group.follow} == {"MB021", "MB022", "MB023", "MB024"}


def test_a_race_with_no_mistake_between_stands_for_itself() -> None:
    report = ptxcheck.check(str(CORPUS / "cluster" / "tells_its_peer.read_before_told.ptx"))
    assert {finding.rule for finding in report.active} == {"SM020", "SM021"}
    assert not any(finding.caused_by for finding in report.active)


@pytest.mark.parametrize(
    ("verbosity", "lines"),
    [(Verbosity.QUIET, 0), (Verbosity.NORMAL, 1), (Verbosity.VERBOSE, 4)],
)
def test_what_holds_takes_as_many_lines_as_are_wanted(verbosity: Verbosity, lines: int) -> None:
    report = ptxcheck.check(Source("k.ptx", RING))
    *blocks, _ = render(report, Format.TEXT, verbosity=verbosity).rstrip("\n").split("\n\n")
    assert sum(len(block.splitlines()) for block in blocks) == lines


def test_lines_of_concise_fit() -> None:
    report = ptxcheck.check(Source("k.ptx", changed(RING, ("_, [%r8], 1024;", "_, [%r8], 2048;"))))
    lines = render(report, Format.CONCISE, verbosity=Verbosity.VERBOSE).splitlines()[:-1]
    assert len(lines) == 2
    assert max(map(len, lines)) <= 160
