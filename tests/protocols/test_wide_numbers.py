"""Numbers of 64 bits that the host passes or has put into memory."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import VerdictKind

from .verifying import deadlock

TEXT = """
mov.u32 %r9, %tid.x; ld.param.u64 %rd1, [p]; ld.param.u32 %r2, [n];
setp.ge.u32 %p1, %r9, 32; @%p1 bra E;
{body} @!%p2 bra E;
barrier.sync 3, 64;
E:
"""


@pytest.mark.parametrize(
    "body",
    [
        "setp.gt.u64 %p2, %rd1, 8589934592;",
        "setp.gt.s64 %p2, %rd1, 8589934592;",
        "shr.u64 %rd2, %rd1, 32; setp.ne.u64 %p2, %rd2, 0;",
        "and.b64 %rd2, %rd1, 0xFFFFFFFF00000000; setp.ne.u64 %p2, %rd2, 0;",
    ],
)
def test_numbers_of_more_than_32_bits(body: str) -> None:
    assert deadlock(TEXT.format(body=body)) is VerdictKind.VIOLATED


def test_numbers_in_memory_of_more_than_32_bits() -> None:
    assert (
        deadlock(TEXT.format(body="ld.global.u64 %rd2, [%rd1]; setp.gt.u64 %p2, %rd2, 8589934592;"))
        is VerdictKind.UNKNOWN
    )


def test_numbers_of_32_bits_are_no_greater() -> None:
    assert deadlock(TEXT.format(body="setp.gt.s32 %p2, %r2, 2147483647;")) is VerdictKind.PROVED
