"""Numbers that lose their high bits: no proof covers them."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import VerdictKind
from tests.protocols.verifying import deadlock

TWO = """
.reg .b16 %h<9>; .reg .f32 %f<9>;
mov.u32 %r9, %tid.x; ld.param.u32 %r1, [n]; ld.param.u64 %rd1, [p]; mov.u32 %r8, table; setp.eq.u32 %p9, %r9, 0;
@!%p9 bra S; st.shared.u32 [table], {stored}; S: bar.sync 0;
setp.ge.u32 %p1, %r9, 32; @%p1 bra T;
{one} @!%p2 bra E; barrier.sync 1, 64; bra E;
T: {other} @!%p2 bra E; barrier.sync 1, 64;
E:
"""
"""Two warps meet, or none of them comes: each decides by numbers of its own."""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cvt.u32.u64 %r2, %rd1; setp.lt.u32 %p2, %r2, 5;", "setp.lt.u64 %p2, %rd1, 5;"),
        ("mul.lo.u32 %r2, %r1, 65536; setp.eq.u32 %p2, %r2, 0;", "setp.eq.u32 %p2, %r1, 0;"),
        ("setp.eq.u32 %p2, %r1, 0;", "shl.b32 %r2, %r1, 31; setp.eq.u32 %p2, %r2, 0;"),
        (
            "sub.u32 %r2, %r1, 1; mul.wide.u32 %rd2, %r2, 4; setp.gt.s64 %p2, %rd2, -1;",
            "setp.gt.s32 %p2, %r1, 0;",
        ),
        ("cvt.u64.u32 %rd2, %r1; setp.lt.s64 %p2, %rd2, 5;", "setp.lt.s32 %p2, %r1, 5;"),
        ("mul.wide.u32 %rd2, %r1, 1; setp.lt.s64 %p2, %rd2, 5;", "setp.lt.s32 %p2, %r1, 5;"),
        (
            "cvt.u16.u32 %h1, %r1; add.u16 %h2, %h1, 1; setp.eq.u16 %p2, %h2, 0;",
            "cvt.u16.u32 %h1, %r1; cvt.u32.u16 %r2, %h1; add.u32 %r2, %r2, 1; setp.eq.u32 %p2, %r2, 0;",
        ),
    ],
)
def test_what_holds_without_wrap_around_is_not_proved(one: str, other: str) -> None:
    text = TWO.format(one=one, other=other, stored="%r1")
    assert deadlock(text) is VerdictKind.PROVED_BOUNDED
    assert deadlock(text, for_every_count=True) in (VerdictKind.PROVED_BOUNDED, VerdictKind.ASSUMES)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("setp.lt.u64 %p2, %rd1, 5;", "setp.ge.u64 %p3, %rd1, 5; not.pred %p2, %p3;"),
        ("cvt.s64.s32 %rd2, %r1; setp.lt.s64 %p2, %rd2, 5;", "setp.lt.s32 %p2, %r1, 5;"),
        (
            "and.b32 %r3, %r1, 255; cvt.u64.u32 %rd2, %r3; setp.lt.s64 %p2, %rd2, 5;",
            "and.b32 %r3, %r1, 255; setp.lt.s32 %p2, %r3, 5;",
        ),
        (
            "cvt.s64.s32 %rd2, %r1; cvt.u32.u64 %r2, %rd2; setp.lt.u32 %p2, %r2, 5;",
            "setp.lt.u32 %p2, %r1, 5;",
        ),
        ("shr.u32 %r2, %r1, 2; setp.eq.u32 %p2, %r2, 0;", "shr.u32 %r2, %r1, 2; setp.lt.u32 %p2, %r2, 1;"),
    ],
)
def test_what_keeps_its_bits_is_proved(one: str, other: str) -> None:
    assert deadlock(TWO.format(one=one, other=other, stored="%r1")) is VerdictKind.PROVED


READ = "ld.shared.u32 %r2, [table]; setp.lt.u32 %p2, %r2, 5;"


@pytest.mark.parametrize(
    ("stored", "other", "verdict"),
    [
        ("%r1", "setp.lt.u32 %p2, %r1, 5;", VerdictKind.PROVED),
        ("%rd1", "setp.lt.u64 %p2, %rd1, 5;", VerdictKind.PROVED_BOUNDED),
    ],
)
def test_what_is_stored_in_less_bits(stored: str, other: str, verdict: VerdictKind) -> None:
    assert deadlock(TWO.format(one=READ, other=other, stored=stored)) is verdict


ROUNDED = "ld.global.f32 %f1, [%rd1]; cvt.{}.s32.f32 %r2, %f1; setp.eq.s32 %p2, %r2, 3;"


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [("rmi", "rpi", VerdictKind.UNKNOWN), ("rmi", "rmi", VerdictKind.ASSUMES)],
)
def test_numbers_that_are_rounded_in_other_ways(one: str, other: str, verdict: VerdictKind) -> None:
    text = TWO.format(one=ROUNDED.format(one), other=ROUNDED.format(other), stored="%r1")
    assert deadlock(text) is verdict
