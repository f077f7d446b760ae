"""Polls that are not repeated: each warp may find another answer."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import VerdictKind

from .verifying import deadlock

ASKED = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p1, %r9, 0;
@!%p1 bra S; mbarrier.init.shared::cta.b64 [%r1], 64; S: bar.sync 0;
mbarrier.arrive.shared::cta.b64 _, [%r1];
mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r1], 0;
{behind}
"""
AGAIN = "W: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r1], 0; @!%p3 bra W;"


@pytest.mark.parametrize(
    ("behind", "verdict"),
    [
        # Both warps meet where both have heard yes, and none where none has.
        ("@%p2 barrier.sync 1, 64;", VerdictKind.VIOLATED),
        (f"@%p2 bra X; {AGAIN} X: barrier.sync 1, 64;", VerdictKind.PROVED_BOUNDED),
        ("@%p2 barrier.arrive 1, 64;", VerdictKind.PROVED_BOUNDED),
    ],
)
def test_one_warp_hears_yes_and_another_no(behind: str, verdict: VerdictKind) -> None:
    assert deadlock(ASKED.format(behind=behind)) is verdict
