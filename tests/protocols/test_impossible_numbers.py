"""Runs that go wrong only with numbers that an operation which is not followed never gives."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import VerdictKind

from .verifying import deadlock

TEXT = """
mov.u32 %r9, %tid.x; ld.param.u32 %r2, [n]; and.b32 %r3, %r9, 31;
setp.ge.u32 %p1, %r9, 32; @%p1 bra E;
{body}
setp.gt.u32 %p2, %r5, 39; @!%p2 bra E;
barrier.sync 3, 64;
E:
"""


@pytest.mark.parametrize(
    "body",
    [
        "popc.b32 %r5, %r2;",
        "clz.b32 %r5, %r2; add.u32 %r5, %r5, 7;",
        "bfind.u32 %r5, %r2; add.u32 %r5, %r5, 8;",
        "lop3.b32 %r5, %r2, 1, 0, 0xc0;",
        "prmt.b32 %r5, %r2, 0, 0x4440; shr.u32 %r5, %r5, 3;",
        "mul.lo.u32 %r5, %r2, %r2; and.b32 %r5, %r5, 3; add.u32 %r5, %r5, 38;",
        "shfl.sync.bfly.b32 %r5, %r3, 1, 31, -1;",
        "fns.b32 %r5, %r3, 0, 0;",
        "mov.u32 %r5, %nsmid; setp.eq.u32 %p3, %r5, 0; selp.u32 %r5, 40, 0, %p3;",
        "mov.u32 %r5, %ctaid.y; shr.u32 %r5, %r5, 12;",
    ],
)
def test_numbers_that_never_come(body: str) -> None:
    assert deadlock(TEXT.format(body=body)) is not VerdictKind.VIOLATED


@pytest.mark.parametrize("body", ["mov.u32 %r5, %r2;", "shr.u32 %r5, %r2, 2;"])
def test_numbers_that_may_come(body: str) -> None:
    assert deadlock(TEXT.format(body=body)) is VerdictKind.VIOLATED
