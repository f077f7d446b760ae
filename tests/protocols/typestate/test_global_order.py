"""`global-order`: right kernels assume what their words say, and each fault of a twin is named at its line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from ptxcheck.checker import check
from ptxcheck.config import Config
from ptxcheck.results import PropertyVerdict, Report
from ptxcheck.source import Source
from ptxcheck.verdict import Property, VerdictKind

from ...fakes import HEADER

LAST_BLOCK = """
.visible .entry k(.param .u64 part, .param .u64 count, .param .u64 out) .reqntid 128
{
    .reg .pred %p<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<12>;
    .shared .align 4 .b32 is_last;
    ld.param.u64 %rd0, [part];
    ld.param.u64 %rd1, [count];
    ld.param.u64 %rd2, [out];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %ctaid.x;
    mad.lo.u32 %r2, %r1, 128, %r0;
    mul.wide.u32 %rd3, %r2, 4;
    add.u64 %rd3, %rd0, %rd3;
    st.global.u32 [%rd3], %r2;
    bar.sync 0; // stored
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra MEET;
    atom.acq_rel.gpu.global.add.u32 %r3, [%rd1], 1; // tell
    mov.u32 %r4, %nctaid.x;
    sub.u32 %r4, %r4, 1;
    setp.eq.u32 %p1, %r3, %r4;
    selp.u32 %r3, 1, 0, %p1;
    st.shared.u32 [is_last], %r3;
MEET:
    bar.sync 0;
    ld.shared.u32 %r3, [is_last];
    setp.eq.u32 %p1, %r3, 0;
    @%p1 bra END;
    mul.wide.u32 %rd4, %r0, 4;
    add.u64 %rd5, %rd0, %rd4;
    ld.global.u32 %r5, [%rd5]; // read
    add.u64 %rd6, %rd2, %rd4;
    st.global.u32 [%rd6], %r5;
END:
    ret;
}
"""
"""Each CTA stores 128 words and counts itself; the last one reads."""
ATOMIC = "atom.acq_rel.gpu.global.add.u32 %r3, [%rd1], 1; // tell"
RELAXED = "atom.relaxed.gpu.global.add.u32 %r3, [%rd1], 1; // tell"

FLAG = """
.visible .entry k(.param .u64 data, .param .u64 flag, .param .u64 out) .reqntid 64
{
    .reg .pred %p<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<12>;
    ld.param.u64 %rd0, [data];
    ld.param.u64 %rd1, [flag];
    ld.param.u64 %rd2, [out];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd3, %r0, 4;
    add.u64 %rd4, %rd0, %rd3;
    mov.u32 %r1, %ctaid.x;
    setp.ne.u32 %p0, %r1, 0;
    setp.ne.u32 %p1, %r0, 0;
    @%p0 bra READER;
    st.global.u32 [%rd4], %r0; // write
    bar.sync 0; // stored
    @%p1 bra END;
    mov.u32 %r2, 1;
    st.release.gpu.global.u32 [%rd1], %r2; // tell
    bra END;
READER:
    @%p1 bra SEEN;
POLL:
    ld.acquire.gpu.global.u32 %r3, [%rd1]; // poll
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra POLL;
SEEN:
    bar.sync 0; // seen
    ld.global.u32 %r4, [%rd4]; // read
    add.u64 %rd5, %rd2, %rd3;
    st.global.u32 [%rd5], %r4;
END:
    ret;
}
"""
"""CTA 0 writes and sets a flag; the other ones wait for it and read."""


@dataclass(frozen=True)
class Said:
    """What is said of one kernel: the verdict, and the findings with the comments of their lines."""

    kind: VerdictKind | None
    reasons: tuple[str, ...]
    findings: tuple[tuple[str, str], ...]


def said(text: str, *, possible: bool = False) -> Said:
    source = Source("k.ptx", HEADER + text)
    report = check(source, config=Config(possible=possible))
    assert report.problems == ()
    lines = source.text.splitlines()
    findings = tuple(
        (each.rule, lines[each.location.primary.line - 1].partition("// ")[2]) for each in report.active
    )
    verdict = order_of(report)
    if verdict is None:
        return Said(None, (), findings)
    return Said(verdict.kind, tuple(each.text for each in verdict.reasons), findings)


def order_of(report: Report) -> PropertyVerdict | None:
    kernel = next(each for each in report.kernels if each.name == "k")
    if kernel.verification is None:
        return None
    found = [each for each in kernel.verification.verdicts if each.property is Property.GLOBAL_ORDER]
    return found[0] if found else None


def changed(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


STORED_AND_FENCED_BY_ONE = (
    "bar.sync 0; // stored\n    setp.ne.u32 %p0, %r0, 0;",
    "setp.ne.u32 %p0, %r0, 0;\n    @!%p0 membar.gl;\n    bar.sync 0;",
)
TOLD_BEFORE_IT_IS_WRITTEN = (
    "[%rd1], %r2; // tell",
    "[%rd1], %r2;\n    st.global.u32 [%rd4], %r0;",
)
BY_A_POINTER = ("add.u64 %rd4, %rd0, %rd3;", "add.u64 %rd4, %rd0, %rd3;\n    ld.global.u64 %rd4, [%rd4];")
FENCE = "membar.gl;\n    "


@pytest.mark.parametrize(
    "text",
    [
        LAST_BLOCK,
        changed(LAST_BLOCK, (ATOMIC, f"{FENCE}{RELAXED}\n    {FENCE}")),
        changed(
            LAST_BLOCK, ("bar.sync 0; // stored", f"{FENCE}bar.sync 0;"), (ATOMIC, f"{RELAXED}\n    {FENCE}")
        ),
        FLAG,
        changed(
            FLAG, ("st.release.gpu", f"{FENCE}st.volatile"), ("bar.sync 0; // seen", f"{FENCE}bar.sync 0;")
        ),
    ],
    ids=["acq_rel", "fences by one", "fences by all", "flag", "volatile flag"],
)
def test_a_handover_in_order_assumes_what_its_word_says(text: str) -> None:
    found = said(text)
    assert found.kind is VerdictKind.ASSUMES
    assert found.findings == ()
    assert all("that all of it has been written" in reason for reason in found.reasons)


@pytest.mark.parametrize(
    ("changes", "rule", "line"),
    [
        ([("bar.sync 0; // stored", "")], "GM001", "tell"),
        ([("acq_rel", "acquire")], "GM002", "tell"),
        ([("acq_rel", "release")], "GM002", "read"),
        ([(ATOMIC, f"membar.cta;\n    {ATOMIC.replace('acq_rel', 'acquire')}")], "GM002", "tell"),
        ([STORED_AND_FENCED_BY_ONE, ("acq_rel", "acquire")], "GM002", "tell"),
    ],
    ids=["no barrier", "no release", "no acquire", "fence of the CTA", "fence of one thread, in front of the barrier"],
)  # fmt: skip
def test_what_is_missing_where_all_read_the_same_is_found(
    changes: list[tuple[str, str]], rule: str, line: str
) -> None:
    found = said(changed(LAST_BLOCK, *changes))
    assert found.kind is VerdictKind.VIOLATED
    assert found.findings == ((rule, line),)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ([("bar.sync 0; // stored", "")], "no barrier behind the writes"),
        ([("bar.sync 0; // seen", "")], "no barrier behind the thread"),
        ([("st.release.gpu", "st.relaxed.gpu")], "no release"),
        ([("ld.acquire.gpu", "ld.relaxed.gpu")], "no acquire"),
        ([("st.release.gpu", "st.release.cta")], "no release"),
        ([("    st.global.u32 [%rd4], %r0; // write\n", ""), TOLD_BEFORE_IT_IS_WRITTEN], "nothing behind tells"),
    ],
)  # fmt: skip
def test_what_is_missing_elsewhere_is_not_decided_and_said(
    changes: list[tuple[str, str]], words: str
) -> None:
    text = changed(FLAG, BY_A_POINTER)
    found = said(changed(text, *changes))
    assert found.kind is VerdictKind.UNKNOWN
    assert any(words in reason for reason in found.reasons)
    assert found.findings == ()


def test_work_from_a_counter_and_own_words_hand_nothing_over() -> None:
    own = changed(
        LAST_BLOCK,
        (
            "    add.u64 %rd5, %rd0, %rd4;\n    ld.global.u32 %r5, [%rd5]; // read",
            "    ld.global.u32 %r5, [%rd3];",
        ),
        ("acq_rel", "relaxed"),
    )
    assert said(own).kind is VerdictKind.PROVED
    elsewhere = changed(
        LAST_BLOCK, ("add.u64 %rd5, %rd0, %rd4;", "add.u64 %rd5, %rd2, %rd4;"), ("%rd6, %rd2", "%rd6, %rd0")
    )
    assert said(elsewhere).kind is not VerdictKind.VIOLATED


def test_a_guess_of_compare_and_swap_is_no_data() -> None:
    text = """
.visible .entry k(.param .u64 most) .reqntid 32
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd0, [most];
    mov.u32 %r0, %ctaid.x;
AGAIN:
    ld.global.u32 %r1, [%rd0];
    max.u32 %r2, %r0, %r1;
    atom.global.cas.b32 %r3, [%rd0], %r1, %r2;
    setp.ne.u32 %p0, %r3, %r1;
    @%p0 bra AGAIN;
    ret;
}
"""
    assert said(text).kind in (None, VerdictKind.PROVED)


def test_possible_ones_are_findings_on_request() -> None:
    text = changed(FLAG, BY_A_POINTER, ("ld.acquire.gpu", "ld.relaxed.gpu"))
    assert said(text).findings == ()
    assert ("GM002", "read") in said(text, possible=True).findings


HANDOVERS = sorted((Path(__file__).parent / "handovers").glob("*.ptx"))
"""Kernels by a reader of the code, each against one step of the argument: right ones, and broken ones."""


@pytest.mark.parametrize("path", HANDOVERS, ids=lambda path: path.stem)
def test_no_step_of_the_argument_fails(path: Path) -> None:
    report = check(str(path))
    told = {each.rule for each in report.active} & {"GM001", "GM002"}
    verdict = order_of(report)
    if path.stem.startswith("right_"):
        assert not told
        assert verdict is None or verdict.kind is not VerdictKind.VIOLATED
    else:
        assert verdict is not None
        assert verdict.kind in (VerdictKind.VIOLATED, VerdictKind.UNKNOWN)
