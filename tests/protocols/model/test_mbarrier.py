"""The bytes of mbarriers, how arrivals count, and states that one thread returns and others wait for."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

BARRIERS_SIDE_BY_SIDE = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; shr.u32 %r2, %r9, 5; and.b32 %r3, %r9, 31; setp.eq.u32 %p1, %r3, 0;
mul.lo.u32 %r4, %r2, {apart}; add.u32 %r4, %r4, %r1;
@!%p1 bra S; mbarrier.init.shared::cta.b64 [%r4], 32; S: bar.sync 0;
mbarrier.arrive.shared::cta.b64 _, [%r4];
W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r4], 0; @!%p2 bra W;
"""
"""The bytes of mbarriers: where they may lie, and what was there before and comes behind them."""


@pytest.mark.parametrize(("apart", "verdict"), [(8, VerdictKind.PROVED), (4, VerdictKind.UNKNOWN)])
def test_barriers_that_share_bytes(apart: int, verdict: VerdictKind) -> None:
    found = verified(kernel(BARRIERS_SIDE_BY_SIDE.format(apart=apart), threads=64))
    assert kind(found, Property.LIFECYCLE) is verdict


BARRIER_IN_USED_BYTES = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p1, %r9, 0; setp.ne.u32 %p2, %r9, 32; ld.param.u64 %rd1, [p];
@!%p1 bra S; mbarrier.init.shared::cta.b64 [%r1+1024], 1; S: bar.sync 0;
@%p2 bra T; {used} T:
{between}
@!%p1 bra U; mbarrier.init.shared::cta.b64 [%r1+8], 64; U: bar.sync 0;
mbarrier.arrive.shared::cta.b64 _, [%r1+8];
W: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r1+8], 0; @!%p3 bra W;
"""
LOAD_OF_THE_BYTES = "ld.shared.u32 %r2, [%r1+8];"
COPY_INTO_THE_BYTES = """
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1+1024], 64;
cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 64, [%r1+1024];
"""
WAIT_FOR_THE_COPY = "V: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r1+1024], 0; @!%p4 bra V;"


@pytest.mark.parametrize(
    ("used", "between", "verdict"),
    [
        (LOAD_OF_THE_BYTES, "", VerdictKind.VIOLATED),
        (LOAD_OF_THE_BYTES, "bar.sync 0;", VerdictKind.PROVED),
        (COPY_INTO_THE_BYTES, "", VerdictKind.VIOLATED),
        (COPY_INTO_THE_BYTES, WAIT_FOR_THE_COPY, VerdictKind.PROVED),
    ],
)
def test_an_mbarrier_is_made_of_bytes_that_are_free(used: str, between: str, verdict: VerdictKind) -> None:
    found = verified(kernel(BARRIER_IN_USED_BYTES.format(used=used, between=between), threads=64))
    assert kind(found, Property.SLOT_SAFETY) is verdict


STORE_BEHIND_INVALIDATION = """
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
    found = verified(kernel(STORE_BEHIND_INVALIDATION.format(between=between), threads=64))
    assert kind(found, Property.SLOT_SAFETY) is verdict


ARRIVALS_OF_LANES = """
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
    found = verified(kernel(ARRIVALS_OF_LANES.format(count=count, arrive=arrive), threads=64))
    assert kind(found, Property.TX_BALANCE) is verdict


ARRIVE_WITHOUT_COMPLETING = "@%p1 mbarrier.arrive.noComplete.shared::cta.b64 %rd2, [%r1], 1;"
ARRIVE_OF_ANOTHER_WARP = "@%p2 mbarrier.arrive.shared::cta.b64 _, [%r1];"


@pytest.mark.parametrize(
    ("arrive", "verdict"),
    [
        (f"{ARRIVE_WITHOUT_COMPLETING} {ARRIVE_OF_ANOTHER_WARP}", VerdictKind.VIOLATED),
        (f"{ARRIVE_OF_ANOTHER_WARP} {ARRIVE_WITHOUT_COMPLETING}", VerdictKind.VIOLATED),
        (f"{ARRIVE_WITHOUT_COMPLETING} bar.sync 0; {ARRIVE_OF_ANOTHER_WARP}", VerdictKind.PROVED),
        (f"{ARRIVE_OF_ANOTHER_WARP} bar.sync 0; {ARRIVE_WITHOUT_COMPLETING}", VerdictKind.VIOLATED),
    ],
)
def test_an_arrival_that_must_not_complete_the_phase_comes_first_in_every_schedule(
    arrive: str, verdict: VerdictKind
) -> None:
    found = verified(kernel(ARRIVALS_OF_LANES.format(count=2, arrive=arrive), threads=64))
    assert kind(found, Property.PHASE_SAFETY) is verdict


STATE_OF_ANOTHER_THREAD = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; and.b32 %r3, %r9, 31; setp.eq.u32 %p9, %r9, 0; setp.eq.u32 %p8, %r3, 0;
@%p9 mbarrier.init.shared.b64 [%r1], {count}; @%p9 mbarrier.init.shared.b64 [%r1+8], 1; bar.sync 0;
{handed}
W: mbarrier.try_wait.shared.b64 %p5, [%r1{at}], %rd2; @!%p5 bra W;
"""
"""States of arrivals that one thread returns and others wait for."""
THROUGH_MEMORY = """
@!%p9 bra X; mbarrier.arrive.shared.b64 %rd1, [%r1]; st.shared.b64 [table], %rd1;
X: bar.sync 0; ld.shared.b64 %rd2, [table];
"""
BY_SHUFFLE = """
mov.b64 %rd1, 0; @%p8 mbarrier.arrive.shared.b64 %rd1, [%r1];
mov.b64 {%r5, %r6}, %rd1;
shfl.sync.idx.b32 %r5, %r5, 0, 31, -1; shfl.sync.idx.b32 %r6, %r6, 0, 31, -1;
mov.b64 %rd2, {%r5, %r6};
"""
WAYS_TO_HAND_ON = [(THROUGH_MEMORY, 1), (BY_SHUFFLE, 2)]


def verdict_on_state(handed: str, count: int, which: Property, at: str = "") -> VerdictKind:
    return kind(
        verified(kernel(STATE_OF_ANOTHER_THREAD.format(handed=handed, count=count, at=at), threads=64)), which
    )


@pytest.mark.parametrize(("handed", "count"), WAYS_TO_HAND_ON)
def test_others_wait_for_the_phase_of_the_arrival(handed: str, count: int) -> None:
    for which in (Property.DEADLOCK_FREEDOM, Property.LIFECYCLE, Property.PHASE_SAFETY):
        assert verdict_on_state(handed, count, which) is VerdictKind.PROVED


@pytest.mark.parametrize(("handed", "count"), WAYS_TO_HAND_ON)
def test_a_phase_that_lacks_an_arrival(handed: str, count: int) -> None:
    assert verdict_on_state(handed, count + 1, Property.DEADLOCK_FREEDOM) is VerdictKind.VIOLATED


@pytest.mark.parametrize(("handed", "count"), WAYS_TO_HAND_ON)
def test_the_state_of_another_mbarrier(handed: str, count: int) -> None:
    assert verdict_on_state(handed, count, Property.LIFECYCLE, at="+8") is VerdictKind.VIOLATED


def test_a_number_that_is_no_state() -> None:
    handed = "@%p9 mbarrier.arrive.shared.b64 %rd1, [%r1]; mov.b64 %rd2, 0;"
    assert verdict_on_state(handed, 1, Property.DEADLOCK_FREEDOM) is VerdictKind.UNKNOWN
