"""Copies of threads: arrivals when they are done, the groups that are waited for, sizes and places."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

ARRIVALS_WHEN_COPIES_ARE_DONE = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 source_in)
.reqntid 64
{{
    .shared .align 8 .b64 full;
    .shared .align 8 .b64 going;
    .shared .align 16 .b8 bytes[1024];
    .reg .pred first, other, ready;
    .reg .b32 thread, at, word;
    .reg .b64 source, from;
    mov.u32 thread, %tid.x;
    setp.eq.u32 first, thread, 32;
    @first mbarrier.init.shared.b64 [full], {count};
    @first mbarrier.init.shared.b64 [going], 32;
    bar.sync 0;
    ld.param.u64 source, [source_in];
    and.b32 at, thread, 31;
    shl.b32 at, at, 4;
    cvt.u64.u32 from, at;
    add.u64 from, source, from;
    mov.u32 word, bytes;
    add.u32 at, word, at;
    setp.gt.u32 other, thread, 31;
    @other bra CONSUMER;
    setp.ge.u32 other, thread, {lanes};
    @other bra END;
    cp.async.cg.shared.global [at], [from], 16;
    cp.async.mbarrier.arrive.noinc.shared.b64 [full];
GO:
    mbarrier.try_wait.parity.shared.b64 ready, [going], 0;
    @!ready bra GO;
    cp.async.cg.shared.global [at+512], [from+512], 16;
    cp.async.mbarrier.arrive.noinc.shared.b64 [full];
    bra END;
CONSUMER:
    mbarrier.arrive.shared.b64 _, [full];
    mbarrier.arrive.shared.b64 _, [going];
FIRST:
    mbarrier.try_wait.parity.shared.b64 ready, [full], 0;
    @!ready bra FIRST;
    ld.shared.u32 word, [at];
    mbarrier.arrive.shared.b64 _, [full];
SECOND:
    mbarrier.try_wait.parity.shared.b64 ready, [full], 1;
    @!ready bra SECOND;
    ld.shared.u32 word, [at+512];
END:
    ret;
}}
"""
"""Lanes that arrive when their copies are done: one lane may be done with two of them before another is with one."""


def phase_safety(lanes: int) -> VerdictKind:
    return kind(
        verified(ARRIVALS_WHEN_COPIES_ARE_DONE.format(lanes=lanes, count=lanes + 32)), Property.PHASE_SAFETY
    )


def test_arrivals_of_one_thread_count_in_order() -> None:
    assert phase_safety(1) is VerdictKind.PROVED


def test_arrivals_of_several_lanes_may_not() -> None:
    assert phase_safety(32) is VerdictKind.VIOLATED


@pytest.mark.parametrize(("place", "verdict"), [(0, VerdictKind.PROVED), (4, VerdictKind.UNKNOWN)])
def test_copies_of_threads_are_of_multiples_of_their_size(place: int, verdict: VerdictKind) -> None:
    body = f"""
    mov.u32 %r9, %tid.x; mov.u32 %r1, smem; shl.b32 %r2, %r9, 4; add.u32 %r2, %r2, %r1; ld.param.u64 %rd1, [p];
    cp.async.cg.shared.global [%r2+{place}], [%rd1], 16; cp.async.commit_group; cp.async.wait_group 0;
    """
    assert kind(verified(kernel(body)), Property.SLOT_SAFETY) is verdict


@pytest.mark.parametrize(("groups", "verdict"), [(0, VerdictKind.PROVED), (-1, VerdictKind.UNKNOWN)])
@pytest.mark.parametrize("wait", ["cp.async.wait_group", "cp.async.bulk.wait_group"])
def test_a_wait_leaves_some_groups_or_none(wait: str, groups: int, verdict: VerdictKind) -> None:
    body = f"""
    mov.u32 %r9, %tid.x; mov.u32 %r1, smem; shl.b32 %r2, %r9, 4; add.u32 %r2, %r2, %r1; ld.param.u64 %rd1, [p];
    cp.async.cg.shared.global [%r2], [%rd1], 16; cp.async.commit_group; cp.async.bulk.commit_group; {wait} {groups};
    """
    assert kind(verified(kernel(body)), Property.SLOT_SAFETY) is verdict
