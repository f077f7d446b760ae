"""Masks of lanes, and places of CTAs on multiprocessors."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import deadlock, kind, verified

LEADER_BY_A_MASK_OF_LANES = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.lt.u32 %p3, %r9, 32;
mov.u32 %r2, {mask}; setp.eq.u32 %p1, %r2, {number}; and.pred %p1, %p1, %p3;
@!%p1 bra S; mbarrier.init.shared::cta.b64 [%r1], 64; S: bar.sync 0;
mbarrier.arrive.shared::cta.b64 _, [%r1];
W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0; @!%p2 bra W;
"""


@pytest.mark.parametrize(
    ("mask", "number"),
    [
        ("%lanemask_eq", "4"),
        ("%lanemask_lt", "0"),
        ("%lanemask_le", "15"),
        ("%lanemask_gt", "0"),
        ("%lanemask_ge", "0xFFFFFFFF"),
    ],
)
def test_masks_of_lanes_name_one_leader(mask: str, number: str) -> None:
    assert (
        deadlock(LEADER_BY_A_MASK_OF_LANES.format(mask=mask, number=number), threads=64) is VerdictKind.PROVED
    )


def test_ctas_of_a_cluster_run_on_multiprocessors_of_their_own() -> None:
    body = """
    mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p1, %r9, 0; mov.u32 %r2, {place}; and.b32 %r2, %r2, 1;
    setp.eq.u32 %p2, %r2, 0; mov.u32 %r3, %cluster_ctarank; mapa.shared::cluster.u32 %r4, %r1, 0;
    @!%p1 bra S; mbarrier.init.shared::cta.b64 [%r1], 64; S:
    barrier.cluster.arrive; barrier.cluster.wait;
    setp.eq.u32 %p3, %r3, 0; @!%p3 bra T; @!%p2 bra D;
    W: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r1], 0; @!%p4 bra W; bra D;
    T: @!%p2 bra D; mbarrier.arrive.shared::cluster.b64 _, [%r4];
    D: barrier.cluster.arrive; barrier.cluster.wait;
    """

    def verdict(place: str) -> VerdictKind:
        text = kernel(body.format(place=place), threads=64).replace("{\n", ".reqnctapercluster 2\n{\n", 1)
        return kind(verified(text), Property.DEADLOCK_FREEDOM)

    assert verdict("%smid") in (VerdictKind.UNKNOWN, VerdictKind.VIOLATED)
    assert verdict("%nctaid.x") is VerdictKind.PROVED


@pytest.mark.parametrize("for_every_count", [False, True])
@pytest.mark.parametrize("leader", [0, 1])
def test_the_number_that_hardware_gives_a_warp_is_not_its_index(
    leader: int, *, for_every_count: bool
) -> None:
    """On an H100 `%warpid` is where the warp runs (`benchmarks/hardware/questions/number_of_the_warp.toml`)."""
    body = """
    mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p1, %r9, 0; {number} setp.eq.u32 %p2, %r2, {leader};
    @!%p1 bra S; mbarrier.init.shared::cta.b64 [%r1], 32; S: bar.sync 0;
    @!%p2 bra W; mbarrier.arrive.shared::cta.b64 _, [%r1]; bra END;
    W: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r1], 0; @!%p3 bra W; END:
    """
    by_index = body.format(number="shr.u32 %r2, %r9, 5;", leader=leader)
    by_hardware = body.format(number="mov.u32 %r2, %warpid;", leader=leader)
    assert deadlock(by_index, for_every_count=for_every_count) is VerdictKind.PROVED
    assert deadlock(by_hardware, for_every_count=for_every_count) is VerdictKind.UNKNOWN
