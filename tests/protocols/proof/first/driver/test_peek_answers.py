"""Polls that are not repeated: each warp may find another answer, and an answer spares the wait for its own phase."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import deadlock, kind, verified

RING_WITH_LOOKS_AHEAD = """
    mov.u32 %r1, %tid.x; ld.param.u32 %r20, [n]; ld.param.u64 %rd1, [p]; mov.u32 %r2, 0;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra READY;
    mbarrier.init.shared::cta.b64 [table], 1;
    mbarrier.init.shared::cta.b64 [table+8], 1;
    mbarrier.init.shared::cta.b64 [table+16], 32;
    mbarrier.init.shared::cta.b64 [table+24], 32;
    fence.mbarrier_init.release.cluster;
READY:
    bar.sync 0;
    setp.ge.u32 %p2, %r1, 32;
    @%p2 bra CONSUME;
    @%p1 bra DONE;
PRODUCE:
    setp.ge.s32 %p4, %r2, %r20;
    @%p4 bra DONE;
    and.b32 %r5, %r2, 1; shl.b32 %r6, %r5, 3; mov.u32 %r7, table; add.u32 %r7, %r7, %r6;
    shl.b32 %r8, %r5, 10; mov.u32 %r9, smem; add.u32 %r9, %r9, %r8;
    shr.u32 %r3, %r2, 1; and.b32 %r3, %r3, 1; xor.b32 %r4, %r3, 1;
ROOM:
    mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r7+16], %r4;
    @!%p3 bra ROOM;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r7], 1024;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%rd1], 1024, [%r7];
    add.u32 %r2, %r2, 1;
    bra PRODUCE;
CONSUME:
    setp.lt.s32 %p4, %r20, 1;
    @%p4 bra DONE;
    mbarrier.test_wait.parity.shared::cta.b64 %p5, [table], 0;
    setp.ne.u32 %p6, 0, 0;
LOOP:
    and.b32 %r5, %r2, 1; shl.b32 %r6, %r5, 3; mov.u32 %r7, table; add.u32 %r7, %r7, %r6;
    shl.b32 %r8, %r5, 10; mov.u32 %r9, smem; add.u32 %r9, %r9, %r8;
    shr.u32 %r3, %r2, 1; and.b32 %r3, %r3, 1;
    @%p5 bra THERE;
DATA:
    mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r7], %r3;
    @!%p3 bra DATA;
THERE:
    ld.shared.u32 %r13, [%r9];
    mbarrier.arrive.shared::cta.b64 _, [%r7+16];
    add.u32 %r2, %r2, 1;
    setp.ge.s32 %p4, %r2, %r20;
    @%p4 bra DONE;
    and.b32 %r15, %r2, 1; shl.b32 %r16, %r15, 3; mov.u32 %r17, table; add.u32 %r17, %r17, %r16;
    shr.u32 %r14, %r2, 1; and.b32 %r14, %r14, 1;
    LOOK
    bra LOOP;
DONE:
"""
"""Looks ahead of which some succeed and others do not: each spares the wait for its own phase, and for no other."""
LOOK_AHEAD = "mbarrier.test_wait.parity.shared::cta.b64 {}, [%r17], %r14;"


@pytest.mark.parametrize(
    ("look", "expected"),
    [
        (LOOK_AHEAD.format("%p5"), VerdictKind.PROVED_BOUNDED),
        (LOOK_AHEAD.format("%p7"), VerdictKind.VIOLATED),
        (LOOK_AHEAD.format("%p7") + "or.pred %p5, %p5, %p7;", VerdictKind.VIOLATED),
        (LOOK_AHEAD.format("%p7") + "and.pred %p5, %p5, %p7;", VerdictKind.PROVED_BOUNDED),
        ("mov.pred %p5, %p6;" + LOOK_AHEAD.format("%p6"), VerdictKind.VIOLATED),
    ],
    ids=["its own", "the first for ever", "any before", "all before", "the one before"],
)
def test_an_answer_spares_the_wait_for_its_own_phase(look: str, expected: VerdictKind) -> None:
    result = verified(kernel(RING_WITH_LOOKS_AHEAD.replace("LOOK", look), threads=64))
    kinds = {kind(result, which) for which in (Property.DEADLOCK_FREEDOM, Property.SLOT_SAFETY)}
    if expected is VerdictKind.VIOLATED:
        assert expected in kinds
    else:
        assert kinds == {expected}


SECOND_LOOK = """
    @%p5 bra THERE;
    mbarrier.test_wait.parity.shared::cta.b64 %p8, [%r7], %r3;
    @%p8 bra THERE;
DATA:
"""


@pytest.mark.parametrize("of_its_own", [True, False])
def test_a_second_look_that_has_to_fail_at_the_end_may_succeed_before(*, of_its_own: bool) -> None:
    """The second one is at the next stage, which is empty in the last round."""
    again = (
        SECOND_LOOK
        if of_its_own
        else SECOND_LOOK.replace("[%r7]", "[%r19]").replace("@%p5", "xor.b32 %r19, %r7, 8; @%p5")
    )
    body = RING_WITH_LOOKS_AHEAD.replace("    @%p5 bra THERE;\nDATA:\n", again).replace(
        "LOOK", LOOK_AHEAD.format("%p5")
    )
    result = verified(kernel(body, threads=64))
    kinds = {kind(result, which) for which in (Property.DEADLOCK_FREEDOM, Property.SLOT_SAFETY)}
    if of_its_own:
        assert kinds == {VerdictKind.PROVED_BOUNDED}
    else:
        assert VerdictKind.VIOLATED in kinds
        assert result.runs == 1, "the answers of the first run show it"


POLL_THAT_IS_NOT_REPEATED = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p1, %r9, 0;
@!%p1 bra S; mbarrier.init.shared::cta.b64 [%r1], 64; S: bar.sync 0;
mbarrier.arrive.shared::cta.b64 _, [%r1];
mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r1], 0;
{behind}
"""
"""Polls that are not repeated: each warp may find another answer."""
WAIT_FOR_THE_SAME_PHASE = "W: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r1], 0; @!%p3 bra W;"


@pytest.mark.parametrize(
    ("behind", "verdict"),
    [
        # Both warps meet where both have heard yes, and none where none has.
        ("@%p2 barrier.sync 1, 64;", VerdictKind.VIOLATED),
        (f"@%p2 bra X; {WAIT_FOR_THE_SAME_PHASE} X: barrier.sync 1, 64;", VerdictKind.PROVED_BOUNDED),
        # Lanes of a warp would part by their answers: that they are alike is an axiom.
        ("@%p2 barrier.arrive 1, 64;", VerdictKind.ASSUMES),
    ],
)
def test_one_warp_hears_yes_and_another_no(behind: str, verdict: VerdictKind) -> None:
    assert deadlock(POLL_THAT_IS_NOT_REPEATED.format(behind=behind)) is verdict
