"""What threads get from a reduction at a barrier, and lanes from `activemask`."""

from __future__ import annotations

from ptxcheck.verdict import Property, VerdictKind

from .machine.running import kernel
from .verifying import deadlock, kind, verified

REDUCED = """
mov.u32 %r9, %tid.x; shr.u32 %r2, %r9, 5; add.u32 %r2, %r2, 2; setp.lt.u32 %p1, %r9, 32;
bar.red.and.pred %p2, {barrier}, {threads}, %p1;
@%p2 bra ALL;
bar.sync 0, 64; bra E;
ALL: bar.sync 1, 64;
E:
"""
ACTIVE = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; and.b32 %r3, %r9, 31; setp.eq.u32 %p9, %r9, 0;
@%p9 mbarrier.init.shared.b64 [%r1], 2; bar.sync 0;
{mask}
brev.b32 %r6, %r5; clz.b32 %r6, %r6; setp.eq.u32 %p2, %r6, %r3;
@%p2 mbarrier.arrive.shared.b64 _, [%r1];
W: mbarrier.try_wait.parity.shared.b64 %p5, [%r1], 0; @!%p5 bra W;
"""


def test_two_groups_at_barriers_of_their_own_may_get_different_results() -> None:
    assert deadlock(REDUCED.format(barrier="%r2", threads=32)) is not VerdictKind.PROVED


def test_threads_that_meet_get_one_result() -> None:
    assert deadlock(REDUCED.format(barrier="2", threads=64)) is VerdictKind.PROVED


def test_active_lanes_are_taken_to_be_those_that_come() -> None:
    assert deadlock(ACTIVE.format(mask="activemask.b32 %r5;")) is VerdictKind.ASSUMES
    assert deadlock(ACTIVE.format(mask="mov.u32 %r5, 0xffffffff;")) is VerdictKind.PROVED


def test_instruction_that_nothing_is_known_of() -> None:
    body = "mov.u32 %r9, %tid.x; setp.eq.u32 %p9, %r9, 0; @%p9 fabric.wait.sync_restrict::reads; bar.sync 0;"
    result = verified(kernel(body).replace(".version 8.6", ".version 9.3").replace("sm_90a", "sm_100a"))
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.UNKNOWN
