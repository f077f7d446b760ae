"""Accesses that may be outside of their variables: a race with what lies behind is not seen, so that is named."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ptxcheck.protocols.races.extents import STAYS_INSIDE
from ptxcheck.protocols.races.intervals import Interval, TooManyVisitsError
from ptxcheck.verdict import VerdictKind

from .test_judgement import judgement, only_stays_inside, races

ROUNDS = (
    "mov.u32 %r10, 128; L: and.b32 %r11, %r10, 1; mad.lo.u32 %r12, %r0, 2, %r11; {test} @%p1 bra N; {access} "
    "N: bar.sync 0; sub.u32 %r10, %r10, 1; setp.ne.u32 %p2, %r10, 0; @%p2 bra L;"
)
PAIRS = (
    "shl.b32 %r13, %r12, 2; add.u32 %r13, %r20, %r13; "
    "ld.shared.u32 %r14, [%r13+3072]; st.shared.u32 [%r13+3076], %r14;"
)
LOADED = "ld.param.u64 %rd1, [p]; ld.global.u32 %r5, [%rd1]; "


def rounds(most: int) -> str:
    """Return a body in which 128 threads have pairs of words from word 768 on, in odd rounds a word further."""
    return ROUNDS.format(test=f"setp.gt.u32 %p1, %r12, {most};", access=PAIRS)


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
    if stays:
        assert races(body) is VerdictKind.PROVED
    else:
        assert only_stays_inside(body)


PLANES = (
    "mov.u32 %r3, %tid.y; setp.lt.u32 %p1, %r3, 32; mad.lo.u32 %r4, %r3, 32, %r0; shl.b32 %r4, %r4, 2; "
    "add.u32 %r4, %r4, %r20; @%p1 st.shared.u32 [%r4+{offset}], %r0;"
)


@pytest.mark.parametrize(("offset", "stays"), [(0, True), (2048, False)])
def test_an_access_that_is_outside_in_the_last_block_that_is_tried_alone(offset: int, stays: bool) -> None:
    """Of 16 by 16, 32 by 8 and 32 by 32 threads."""
    verdict = judgement(PLANES.format(offset=offset), "").verdicts()[0]
    assert verdict.kind is VerdictKind.ASSUMES
    assert (STAYS_INSIDE in {reason.text for reason in verdict.reasons}) is not stays


def test_an_effort_that_ends_before_accesses_were_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptxcheck.protocols.races.extents.intervals_of", _too_many)
    assert only_stays_inside("st.shared.u32 [%r2], %r0;")


def _too_many(*_: object) -> Iterator[Interval]:
    raise TooManyVisitsError


def test_kernels_that_store_nothing_in_shared_memory_need_nothing() -> None:
    assert races("ld.shared.u32 %r9, [%r2+8192];") is VerdictKind.PROVED


def test_shared_memory_of_open_size_is_taken_to_be_long_enough() -> None:
    body = ".extern .shared .align 16 .b8 more[]; mov.u32 %r3, more; add.u32 %r3, %r3, %r1; "
    assert races(body + "st.shared.u32 [%r3+8192], %r0;") is VerdictKind.PROVED
