"""Scales that a path compares with zero."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import VerdictKind
from tests.protocols.verifying import ONE_MBARRIER, WAIT_FOR_PHASE, deadlock

SCALES_COMPARED_WITH_ZERO = """
    ld.param.u64 %rd1, [p]; ld.param.u32 %r4, [m]; ld.param.f32 %f3, [n];
    setp.eq.u32 %p3, %r4, 0; mov.f32 %f2, 0f00000000;
    ld.global.f32 %f1, [%rd1]; setp.{first}.f32 %p2, %f1, %f2; @!%p2 bra C;
    selp.f32 %f1, %f3, %f1, %p3; setp.{then}.f32 %p2, %f1, %f2; @!%p2 bra C;
    ld.global.f32 %f1, [%rd1+4]; setp.{last}.f32 %p2, %f1, %f2; @!%p2 bra C;
"""
"""One scale alone, that or a parameter, and another scale."""


@pytest.mark.parametrize(
    ("first", "then", "last", "expected"),
    [
        ("eq", "eq", "eq", VerdictKind.VIOLATED),
        ("neu", "neu", "neu", VerdictKind.VIOLATED),
        ("eq", "neu", "eq", VerdictKind.UNKNOWN),
        ("eq", "eq", "neu", VerdictKind.UNKNOWN),
    ],
    ids=["all are zero", "none is zero", "one is zero and may not be", "one is zero and another is not"],
)
def test_scales_are_zero_as_the_host_likes(first: str, then: str, last: str, expected: VerdictKind) -> None:
    """Two scales in memory may be one: that only one of them is zero is not known to be possible."""
    body = ONE_MBARRIER + f"""
        .reg .f32 %f<4>; {SCALES_COMPARED_WITH_ZERO.format(first=first, then=then, last=last)} bra E;
        C: mbarrier.arrive.shared.b64 _, [%r1];
        E:
    """ + WAIT_FOR_PHASE.format(name="0", parity=0)  # fmt: skip
    assert deadlock(body, 128) is expected
