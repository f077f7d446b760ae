"""Functions that kernels call: findings are at their lines, told once, and verdicts follow their texts."""

from __future__ import annotations

from dataclasses import replace

import pytest

import ptxcheck
from ptxcheck.config import Config
from ptxcheck.finding import Confidence
from ptxcheck.parser import parse_module
from ptxcheck.patching.judge import TextJudge
from ptxcheck.pipeline.reported import without_callees_own
from ptxcheck.results import Report
from ptxcheck.rules import RULES
from ptxcheck.source import Source
from ptxcheck.verdict import Property, VerdictKind

FILE = """.version 8.0
.target sm_90
.address_size 64
.file 1 "shared.cu"
.shared .align 16 .b8 words[512];
.func (.param .b32 back) hand_over(.param .b32 value)
{
  .reg .b32 %r<8>;
  .loc 1 3 5
  ld.param.b32 %r1, [value];
  mov.u32 %r2, %tid.x;
  shl.b32 %r3, %r2, 2;
  mov.u32 %r4, words;
  add.u32 %r5, %r4, %r3;
  .loc 1 4 5
  st.shared.b32 [%r5], %r1;
  .loc 1 5 5
  MEET
  .loc 1 6 5
  ld.shared.b32 %r6, [%r5+NEIGHBOUR];
  st.param.b32 [back], %r6;
  ret;
}
.visible .entry k(.param .u64 out) .reqntid 64
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  .loc 1 12 7
  mov.u32 %r1, %tid.x;
  {
    .param .b32 to; .param .b32 from;
    st.param.b32 [to], %r1;
    call.uni (from), hand_over, (to);
    ld.param.b32 %r2, [from];
  }
  .loc 1 13 7
  ld.param.u64 %rd1, [out];
  st.global.u32 [%rd1], %r2;
  ret;
}
"""
MEETS = FILE.replace("NEIGHBOUR", "4").replace("MEET", "bar.sync 0;")
RACES = FILE.replace("NEIGHBOUR", "4").replace("MEET", "")


def report_of(text: str, *rules: str) -> Report:
    chosen = [rule for rule in RULES if rule.id in rules]
    return ptxcheck.check(Source("k.ptx", text), config=Config(), rules=chosen)


def verdict(report: Report, which: Property) -> VerdictKind:
    (kernel,) = [each for each in report.kernels if each.entry]
    assert kernel.verification is not None
    return next(each.kind for each in kernel.verification.verdicts if each.property is which)


def test_a_barrier_in_a_function_orders_what_is_around_it() -> None:
    report = report_of(MEETS, "SM024")
    assert report.findings == ()
    assert verdict(report, Property.DATA_RACE) is VerdictKind.PROVED
    assert verdict(report, Property.BARRIER_DIVERGENCE) is VerdictKind.PROVED


def test_a_race_in_a_function_is_at_its_line_inlined_at_the_call() -> None:
    report = report_of(RACES, "SM024")
    (finding,) = report.findings
    assert finding.kernel == "k"
    frames = [(frame.position.line, frame.function) for frame in finding.location.frames]
    assert frames == [(4, "hand_over"), (12, "k")]
    assert finding.location.ptx.line == RACES[: RACES.index("st.shared.b32")].count("\n") + 1
    assert verdict(report, Property.DATA_RACE) is VerdictKind.VIOLATED


def test_what_a_function_alone_shows_is_told_once() -> None:
    report = report_of(MEETS.replace("bar.sync 0;", "bar.sync 17;"), "NB001")
    assert [finding.kernel for finding in report.findings] == ["hand_over"]


def test_what_only_a_kernel_shows_of_a_function_is_told() -> None:
    text = MEETS.replace("bar.sync 0;", "bar.sync %r1;").replace("[to], %r1", "[to], 17")
    report = report_of(text, "NB001")
    assert [finding.kernel for finding in report.findings] == ["k"]


@pytest.mark.parametrize("order", [(MEETS, RACES), (RACES, MEETS)])
def test_a_judge_of_patches_judges_anew_what_a_changed_function_is_called_from(
    order: tuple[str, ...],
) -> None:
    judge = TextJudge("k.ptx", (), Config())
    found = [judge(text).verdicts["k", Property.DATA_RACE] for text in order]
    expected = {MEETS: VerdictKind.PROVED, RACES: VerdictKind.VIOLATED}
    assert found == [expected[text] for text in order]


NARROWED = """.version 8.0
.target sm_90
.address_size 64
.func meet(.param .align 8 .b8 wide[8])
{
  .reg .b32 %r<2>; .reg .pred %p;
  ld.param.b32 %r1, [wide];
  setp.lt.u32 %p, %r1, 64;
  @%p bra LEAVE;
  bar.sync 0;
LEAVE:
  ret;
}
.visible .entry k() .reqntid 128
{
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  mov.u32 %r1, %tid.x;
  cvt.u64.u32 %rd1, %r1;
  {
    .param .align 8 .b8 to[8];
    STORE
    call.uni meet, (to);
  }
  bar.sync 0;
  ret;
}
"""


@pytest.mark.parametrize(
    ("store", "expected"),
    [
        ("st.param.b64 [to], %rd1;", VerdictKind.VIOLATED),
        ("st.param.b16 [to], 0; st.param.b16 [to+2], 0;", VerdictKind.UNKNOWN),
    ],
)
def test_what_is_read_in_another_width_is_of_each_thread(store: str, expected: VerdictKind) -> None:
    report = report_of(NARROWED.replace("STORE", store), "PT004", "PT003", "PT007")
    assert report.findings == ()
    assert verdict(report, Property.BARRIER_DIVERGENCE) is expected


def test_what_is_sure_in_a_kernel_is_told_beside_what_is_possible_in_the_function() -> None:
    report = report_of(MEETS.replace("bar.sync 0;", "bar.sync 17;"), "NB001")
    (own,) = report.findings
    module = parse_module(Source("k.ptx", MEETS))
    again = replace(own, kernel="k")
    sure, possible = Confidence.PROVED, Confidence.POSSIBLE
    assert without_callees_own([own, again], module) == (own,)
    said = [replace(own, confidence=possible), replace(again, confidence=sure)]
    assert without_callees_own(said, module) == tuple(said)


TWO_OF_ONE_NAME = MEETS.replace(
    ".func (.param .b32 back) hand_over",
    ".func other() { .shared .align 4 .b8 words[4]; .reg .b32 %r<2>; st.shared.b32 [words], 1; ret; }\n"
    ".func again() { .shared .align 4 .b8 words[4]; .reg .b32 %r<2>; st.shared.b32 [words], 1; ret; }\n"
    ".func (.param .b32 back) hand_over",
).replace("  .loc 1 12 7\n", "  .loc 1 12 7\n  call.uni other;\n  call.uni again;\n")


def test_variables_of_one_name_in_two_functions_are_two() -> None:
    assert report_of(TWO_OF_ONE_NAME, "PT007").findings == ()


def test_a_kernel_without_lines_of_its_own_takes_none_from_a_function() -> None:
    text = RACES.replace("  .loc 1 12 7\n", "").replace("  .loc 1 13 7\n", "")
    (finding,) = report_of(text, "SM024").findings
    assert finding.location.frames == ()


def test_a_judge_of_patches_knows_where_called_functions_are_now() -> None:
    judge = TextJudge("k.ptx", [rule for rule in RULES if rule.id == "SM024"], Config())
    first = judge(RACES).findings[0].location
    moved = judge(RACES.replace(".file 1", "// one line more\n.file 1"))
    assert moved.findings[0].location.ptx.line == first.ptx.line + 1
    later = RACES.replace("  mov.u32 %r2, %tid.x;", "  mov.u32 %r2, %tid.x; // moved", 1)
    (found,) = [each for each in judge(later).findings if each.kernel == "k"]
    assert later[slice(*found.location.span)].startswith("st.shared.b32")
