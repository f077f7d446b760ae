"""Accesses that may be outside of their variables: a race with what lies behind is not seen, so that is named."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import VerdictKind

from .test_judgement import judgement

ROUNDS = (
    "mov.u32 %r10, 128; L: and.b32 %r11, %r10, 1; mad.lo.u32 %r12, %r0, 2, %r11; {test} @%p1 bra N; {access} "
    "N: bar.sync 0; sub.u32 %r10, %r10, 1; setp.ne.u32 %p2, %r10, 0; @%p2 bra L;"
)
PAIRS = (
    "shl.b32 %r13, %r12, 2; add.u32 %r13, %r20, %r13; "
    "ld.shared.u32 %r14, [%r13+{first}]; st.shared.u32 [%r13+{second}], %r14;"
)
LOADED = "ld.param.u64 %rd1, [p]; ld.global.u32 %r5, [%rd1]; "


def rounds(most: int, *, first: int = 3072, second: int = 3076) -> str:
    """Return a body in which 256 threads have pairs of words that begin at word 768, or a word later."""
    return ROUNDS.format(
        test=f"setp.gt.u32 %p1, %r12, {most};", access=PAIRS.format(first=first, second=second)
    )


@pytest.mark.parametrize(
    ("body", "stays"),
    [
        ("st.shared.u32 [%r2], %r0;", True),
        ("st.shared.u32 [%r2+3584], %r0;", True),
        ("st.shared.u32 [%r2+3588], %r0;", False),
        ("setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.v2.u32 [a+4088], {%r0, %r0};", True),
        ("sub.u32 %r3, %r2, 4; st.shared.u32 [%r3], %r0;", False),
        ("setp.gt.u32 %p1, %r0, 3; sub.u32 %r3, %r2, 16; @%p1 st.shared.u32 [%r3], %r0;", True),
        ("setp.lt.u32 %p1, %r0, 3; sub.u32 %r3, %r2, 16; @%p1 st.shared.u32 [%r3], %r0;", False),
        ("selp.u32 %r3, %r20, %r21, %p1; add.u32 %r3, %r3, %r1; st.shared.u32 [%r3], %r0;", True),
        (LOADED + "and.b32 %r5, %r5, 3; shl.b32 %r5, %r5, 9; add.u32 %r5, %r5, %r2; st.shared.u32 [%r5], %r0;", True),
        (LOADED + "and.b32 %r5, %r5, 15; shl.b32 %r5, %r5, 9; add.u32 %r5, %r5, %r2; st.shared.u32 [%r5], %r0;", False),
        ("cvt.u64.u32 %rd2, %r2; cvta.shared.u64 %rd2, %rd2; st.u32 [%rd2], %r0;", True),
        (rounds(254), True),
        (rounds(255), False),
    ],
    ids=[
        "own word", "last word", "behind the end", "vector at the end", "in front", "first threads left out",
        "first threads alone", "one of two arrays", "row by data", "row by more data", "generic",
        "last pair left out", "last pair",
    ],
)  # fmt: skip
def test_accesses_that_leave_their_variable(body: str, stays: bool) -> None:
    verdict = judgement(body).verdicts()[0]
    said = [reason.text for reason in verdict.reasons]
    assert verdict.kind is (VerdictKind.PROVED if stays else VerdictKind.ASSUMES), said
    assert any("stays inside the variable" in text for text in said) is not stays


def test_kernels_that_store_nothing_in_shared_memory_need_nothing() -> None:
    assert judgement("ld.shared.u32 %r9, [%r2+8192];").verdicts()[0].kind is VerdictKind.PROVED


def test_shared_memory_of_open_size_is_taken_to_be_long_enough() -> None:
    body = ".extern .shared .align 16 .b8 more[]; mov.u32 %r3, more; add.u32 %r3, %r3, %r1; "
    assert judgement(body + "st.shared.u32 [%r3+8192], %r0;").verdicts()[0].kind is VerdictKind.PROVED
