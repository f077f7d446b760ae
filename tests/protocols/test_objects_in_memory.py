"""The bytes of mbarriers: where they may lie, and what was there before and comes behind them."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind

from .machine.running import kernel
from .verifying import kind, verified

BARRIERS = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; shr.u32 %r2, %r9, 5; and.b32 %r3, %r9, 31; setp.eq.u32 %p1, %r3, 0;
mul.lo.u32 %r4, %r2, {apart}; add.u32 %r4, %r4, %r1;
@!%p1 bra S; mbarrier.init.shared::cta.b64 [%r4], 32; S: bar.sync 0;
mbarrier.arrive.shared::cta.b64 _, [%r4];
W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r4], 0; @!%p2 bra W;
"""


@pytest.mark.parametrize(("apart", "verdict"), [(8, VerdictKind.PROVED), (4, VerdictKind.UNKNOWN)])
def test_barriers_that_share_bytes(apart: int, verdict: VerdictKind) -> None:
    found = verified(kernel(BARRIERS.format(apart=apart), threads=64))
    assert kind(found, Property.LIFECYCLE) is verdict


BEFORE = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p1, %r9, 0; setp.ne.u32 %p2, %r9, 32; ld.param.u64 %rd1, [p];
@!%p1 bra S; mbarrier.init.shared::cta.b64 [%r1+1024], 1; S: bar.sync 0;
@%p2 bra T; {used} T:
{between}
@!%p1 bra U; mbarrier.init.shared::cta.b64 [%r1+8], 64; U: bar.sync 0;
mbarrier.arrive.shared::cta.b64 _, [%r1+8];
W: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r1+8], 0; @!%p3 bra W;
"""
LOAD = "ld.shared.u32 %r2, [%r1+8];"
COPY = """
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1+1024], 64;
cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 64, [%r1+1024];
"""
AWAITED = "V: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r1+1024], 0; @!%p4 bra V;"


@pytest.mark.parametrize(
    ("used", "between", "verdict"),
    [
        (LOAD, "", VerdictKind.VIOLATED),
        (LOAD, "bar.sync 0;", VerdictKind.PROVED),
        (COPY, "", VerdictKind.VIOLATED),
        (COPY, AWAITED, VerdictKind.PROVED),
    ],
)
def test_an_mbarrier_is_made_of_bytes_that_are_free(used: str, between: str, verdict: VerdictKind) -> None:
    found = verified(kernel(BEFORE.format(used=used, between=between), threads=64))
    assert kind(found, Property.SLOT_SAFETY) is verdict


BEHIND = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p1, %r9, 0; setp.ne.u32 %p2, %r9, 32;
@!%p1 bra S; mbarrier.init.shared::cta.b64 [%r1], 64; S: bar.sync 0;
mbarrier.arrive.shared::cta.b64 _, [%r1];
W: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r1], 0; @!%p3 bra W;
bar.sync 0;
@!%p1 bra T; mbarrier.inval.shared::cta.b64 [%r1]; T:
{between}
@%p2 bra E; st.shared.u32 [%r1], %r9;
E:
"""


@pytest.mark.parametrize(
    ("between", "verdict"), [("", VerdictKind.VIOLATED), ("bar.sync 0;", VerdictKind.PROVED)]
)
def test_bytes_are_used_again_behind_the_invalidation(between: str, verdict: VerdictKind) -> None:
    found = verified(kernel(BEHIND.format(between=between), threads=64))
    assert kind(found, Property.SLOT_SAFETY) is verdict


ARRIVALS = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p1, %r9, 0; setp.eq.u32 %p2, %r9, 32;
@!%p1 bra S; mbarrier.init.shared::cta.b64 [%r1], {count}; S: bar.sync 0;
{arrive}
W: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r1], 0; @!%p3 bra W;
"""


@pytest.mark.parametrize(
    ("count", "arrive", "verdict"),
    [
        # Lanes 0 and 1 arrive as often as their number says.
        (
            1,
            "setp.le.u32 %p4, %r9, 1; @%p4 mbarrier.arrive.shared::cta.b64 _, [%r1], %r9;",
            VerdictKind.VIOLATED,
        ),
        (
            3,
            "add.u32 %r8, %r9, 1; setp.le.u32 %p4, %r9, 1; @%p4 mbarrier.arrive.shared::cta.b64 _, [%r1], %r8;",
            VerdictKind.PROVED,
        ),
    ],
)
def test_an_arrival_counts_for_one_at_least(count: int, arrive: str, verdict: VerdictKind) -> None:
    found = verified(kernel(ARRIVALS.format(count=count, arrive=arrive), threads=64))
    assert kind(found, Property.TX_BALANCE) is verdict


FIRST = "@%p1 mbarrier.arrive.noComplete.shared::cta.b64 %rd2, [%r1], 1;"
SECOND = "@%p2 mbarrier.arrive.shared::cta.b64 _, [%r1];"


@pytest.mark.parametrize(
    ("arrive", "verdict"),
    [
        (f"{FIRST} {SECOND}", VerdictKind.VIOLATED),
        (f"{SECOND} {FIRST}", VerdictKind.VIOLATED),
        (f"{FIRST} bar.sync 0; {SECOND}", VerdictKind.PROVED),
        (f"{SECOND} bar.sync 0; {FIRST}", VerdictKind.VIOLATED),
    ],
)
def test_an_arrival_that_must_not_complete_the_phase_comes_first_in_every_schedule(
    arrive: str, verdict: VerdictKind
) -> None:
    found = verified(kernel(ARRIVALS.format(count=2, arrive=arrive), threads=64))
    assert kind(found, Property.PHASE_SAFETY) is verdict
