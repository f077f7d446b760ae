"""Numbers that each thread has for itself: local memory, clocks, masks of lanes; and calls that are not followed."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind

from .machine.running import kernel
from .verifying import deadlock, kind, verified

GUARDED = """
.local .align 4 .b8 own[16];
mov.u32 %r9, %tid.x; ld.param.u32 %r1, [n]; ld.param.u64 %rd1, [p]; setp.eq.u32 %p1, %r9, 0; mov.u64 %rd2, own;
{before} {number} @!%p2 bra E;
barrier.sync 1, 64;
E:
"""
"""All threads come to the barrier where %p2 is the same in all of them."""


@pytest.mark.parametrize(
    ("before", "number"),
    [
        ("st.local.u32 [own], %r9;", "ld.local.u32 %r2, [own]; setp.eq.u32 %p2, %r2, 0;"),
        (
            "selp.u32 %r3, 7, 8, %p1; st.local.u32 [own], %r3;",
            "ld.local.u32 %r2, [own]; setp.eq.u32 %p2, %r2, 7;",
        ),
        (
            "cvta.local.u64 %rd3, %rd2; st.u32 [%rd3+4], %r9;",
            "ld.u32 %r2, [%rd3+4]; setp.eq.u32 %p2, %r2, 0;",
        ),
        ("", "mov.u32 %r2, %clock; and.b32 %r2, %r2, 1; setp.eq.u32 %p2, %r2, 0;"),
        ("", "mov.u32 %r2, %lanemask_eq; setp.eq.u32 %p2, %r2, 1;"),
    ],
)
def test_numbers_that_threads_do_not_share(before: str, number: str) -> None:
    found = deadlock(GUARDED.format(before=before, number=number))
    assert found in (VerdictKind.UNKNOWN, VerdictKind.VIOLATED)


@pytest.mark.parametrize(
    "number",
    [
        "setp.eq.u32 %p2, %r1, 0;",
        "ld.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0;",
        "mov.u32 %r2, %smid; setp.eq.u32 %p2, %r2, 0;",
    ],
)
def test_numbers_that_all_threads_share(number: str) -> None:
    assert deadlock(GUARDED.format(before="", number=number)) in (VerdictKind.PROVED, VerdictKind.ASSUMES)


def test_a_local_variable_that_is_stored_to_again() -> None:
    body = """
    .local .align 4 .b8 own[16];
    mov.u32 %r9, %tid.x; ld.param.u32 %r1, [n]; setp.ge.u32 %p1, %r9, 32; st.local.u32 [own], %r1;
    ld.local.u32 %r2, [own]; add.u32 %r3, %r2, 1; st.local.u32 [own], %r3; ld.local.u32 %r4, [own];
    selp.u32 %r5, {second}, %r2, %p1; setp.eq.u32 %p2, %r5, 7; @!%p2 bra E;
    barrier.sync 1, 64;
    E:
    """
    assert deadlock(body.format(second="%r4")) is VerdictKind.UNKNOWN


LEADER = """
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
    assert deadlock(LEADER.format(mask=mask, number=number), threads=64) is VerdictKind.PROVED


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


CALLED = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p1, %r9, 0; ld.param.u64 %rd1, [p];
@!%p1 bra S; mbarrier.init.shared::cta.b64 [%r1], 64; S: bar.sync 0;
{{ .param .b32 a; .param .b64 b; st.param.b32 [a], %r1; st.param.b64 [b], %rd1; call f, (a, b); }}
mbarrier.arrive.shared::cta.b64 _, [%r1];
W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0; @!%p2 bra W;
"""
FUNCTION = """
.func f(.param .b32 a, .param .b64 b)
{{ .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>; ld.param.b32 %r1, [a]; ld.param.b64 %rd1, [b];
mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r2, 5; {does} ret; }}
.visible .entry"""


@pytest.mark.parametrize(
    ("does", "verdict"),
    [
        ("st.global.u32 [%rd1], %r2;", VerdictKind.PROVED),
        ("st.shared.u32 [%r1], %r2;", VerdictKind.UNKNOWN),
        ("ld.shared.u32 %r3, [%r1]; st.global.u32 [%rd1], %r3;", VerdictKind.UNKNOWN),
        ("st.u32 [%rd1], %r2;", VerdictKind.UNKNOWN),
        ("@%p1 exit;", VerdictKind.UNKNOWN),
        ("bar.sync 0;", VerdictKind.UNKNOWN),
    ],
)
def test_functions_that_touch_shared_memory_or_end_threads_are_not_passed_over(
    does: str, verdict: VerdictKind
) -> None:
    text = kernel(CALLED.format(), threads=64).replace(".visible .entry", FUNCTION.format(does=does), 1)
    assert all(each.kind is verdict for each in verified(text).verdicts())
