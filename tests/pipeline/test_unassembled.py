"""Of a kernel that cannot be assembled nothing is decided, and what rules find is told all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxcheck.checker import check
from ptxcheck.finding import Severity
from ptxcheck.results import ProblemKind
from ptxcheck.source import Source
from ptxcheck.verdict import VerdictKind

CORPUS = Path(__file__).parent.parent.parent / "corpus"
TEXT = """
.version 8.6
.target sm_90a
.address_size 64
{outside}
.visible .entry k() .reqntid 64
{{
    .reg .pred %p<4>;
    .reg .b32 %r<4>;
    .shared .align 8 .b64 bar;
    mov.u32 %r0, %tid.x;
    setp.ne.u32 %p0, %r0, 0;
    @!%p0 mbarrier.init.shared::cta.b64 [bar], {count};
    bar.sync 0;
    mbarrier.arrive.shared::cta.b64 _, [bar];
    {line}
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
    @!%p1 bra WAIT;
    ret;
}}
"""
WRONG = {
    "syntax": "add.u32 %r1 %r0, ;",
    "modifier": "add.u32.foo %r1, %r0, 1;",
    "instruction": "adds.u32 %r1, %r0, 1;",
    "operand": "bar.sync 1, 33;",
    "narrow address": "st.global.u32 [%r1], %r0;",
    "target": "tcgen05.wait::ld.sync.aligned;",
    "name": "mov.u32 %r1, nowhere;",
}


@pytest.mark.parametrize("count", [64, 65])
@pytest.mark.parametrize("line", WRONG.values(), ids=WRONG.keys())
def test_nothing_is_decided_of_it(line: str, count: int) -> None:
    report = check(Source("k.ptx", TEXT.format(outside="", count=count, line=line)))
    (kernel,) = report.kernels
    assert kernel.verification is not None
    assert {each.kind for each in kernel.verification.verdicts} == {VerdictKind.UNKNOWN}
    reasons = {reason.text for each in kernel.verification.verdicts for reason in each.reasons}
    assert all(text.startswith("the kernel cannot be assembled: ") for text in reasons)
    assert report.active or report.problems


@pytest.mark.parametrize("line", [WRONG["target"], WRONG["name"]])
def test_what_rules_find_in_it_is_told(line: str) -> None:
    report = check(Source("k.ptx", TEXT.format(outside="", count=65, line=line)))
    assert "MB020" in {finding.rule for finding in report.active}


@pytest.mark.parametrize("count", [64, 65])
def test_nothing_is_found_for_want_of_a_line_that_is_no_ptx(count: int) -> None:
    """What the line was to do is not known: an arrival, perhaps."""
    report = check(Source("k.ptx", TEXT.format(outside="", count=count, line=WRONG["syntax"])))
    assert report.problems
    assert report.active == ()


def test_what_ptxas_refuses_is_told_beside_a_line_that_is_no_ptx() -> None:
    lines = f"{WRONG['syntax']} {WRONG['operand']}"
    report = check(Source("k.ptx", TEXT.format(outside="", count=65, line=lines)))
    assert Severity.ERROR in {finding.severity for finding in report.active}
    assert "MB020" not in {finding.rule for finding in report.active}


@pytest.mark.parametrize("last", [".reg .b32 bar;", ".shared .align 8 .b64 bar;"])
def test_a_declaration_behind_the_last_instruction(last: str) -> None:
    text = TEXT.format(outside="", count=64, line="")
    report = check(Source("k.ptx", text.replace("    ret;\n}", f"    ret;\n    {last}\n}}")))
    assert {problem.kind for problem in report.problems} <= {ProblemKind.SYNTAX}
    assert report.active
    assert report.kernels[0].verification is not None
    assert {each.kind for each in report.kernels[0].verification.verdicts} == {VerdictKind.UNKNOWN}


@pytest.mark.parametrize("size", [1 << 40, (1 << 63) + 1, (1 << 64) - 1])
def test_a_variable_of_more_bytes_than_there_are(size: int) -> None:
    text = TEXT.format(outside=f".shared .b8 large[{size}];", count=64, line="ld.shared.u32 %r1, [large];")
    report = check(Source("k.ptx", text))
    assert not any(problem.kind is ProblemKind.TOOL for problem in report.problems)


@pytest.mark.parametrize(("count", "kind"), [(64, VerdictKind.PROVED), (65, VerdictKind.VIOLATED)])
def test_one_that_can_be_is_verified(count: int, kind: VerdictKind) -> None:
    report = check(Source("k.ptx", TEXT.format(outside="", count=count, line="")))
    assert report.kernels[0].verification is not None
    assert report.kernels[0].verification.verdicts[0].kind is kind
    assert len(report.active) == (count != 64)


def test_a_file_that_is_no_ptx_around_it() -> None:
    report = check(Source("k.ptx", TEXT.format(outside=".gobal .b32 x;", count=64, line="")))
    assert report.problems
    assert report.kernels[0].verification is not None
    assert {each.kind for each in report.kernels[0].verification.verdicts} == {VerdictKind.UNKNOWN}


def kinds_of(name: str) -> dict[str, set[VerdictKind]]:
    """Return the verdicts on each kernel of a file of the corpus that has some."""
    found = {each.name: each.verification for each in check(str(CORPUS / name)).kernels}
    return {
        name: {each.kind for each in table.verdicts} for name, table in found.items() if table is not None
    }


@pytest.mark.parametrize(
    ("right", "wrong", "kernel"),
    [
        ("handover_that_is_assembled", "handover_that_cannot_be_assembled", "handover"),
        ("handover_that_is_assembled", "handover_by_a_narrow_address", "handover"),
        ("handover_by_a_function", "function_of_a_handover", "handover"),
        ("two_handovers_that_are_assembled", "first_of_two_handovers", "forwards"),
        ("two_handovers_that_are_assembled", "second_of_two_handovers", "backwards"),
    ],
)
def test_the_pairs_of_the_corpus(right: str, wrong: str, kernel: str) -> None:
    """What cannot be assembled hands over as its twin does; another kernel of the file could be assembled alone."""
    good, bad = kinds_of(f"good/{right}.ptx"), kinds_of(f"bad/PT003/{wrong}.ptx")
    assert set(map(frozenset, good.values())) == {frozenset({VerdictKind.PROVED})}
    assert bad == {**good, kernel: {VerdictKind.UNKNOWN}}
