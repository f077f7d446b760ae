"""Two CTAs of a cluster that wait for each other in every round, where the host says of each how many it makes."""

from __future__ import annotations

import pytest

from benchmarks.mutation.judge import launched
from ptxcheck.protocols.product.for_all import Shown
from ptxcheck.protocols.verify import shown_for_every_count
from ptxcheck.source import Source
from ptxcheck.verdict import AssumptionKind, Evidence, Property, VerdictKind
from tests.protocols.verifying import verified

TEXT = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u32 n, .param .u32 order)
.reqntid 32
.reqnctapercluster 2
{{
.shared .align 8 .b64 full[2];
.reg .b32 %r<22>; .reg .pred %p<12>;
ld.param.u32 %r1, [n]; ld.param.u32 %r5, [order]; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x; mov.u32 %r4, %r3;
mov.u32 %r10, full; mov.u32 %r11, %tid.x; setp.ne.u32 %p4, %r11, 0; @%p4 bra READY;
mbarrier.init.shared.b64 [%r10], 1; mbarrier.init.shared.b64 [%r10+8], 1; fence.mbarrier_init.release.cluster;
READY: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; @%p4 bra DONE;
mov.u32 %r12, %cluster_ctarank; xor.b32 %r12, %r12, 1; mapa.shared::cluster.u32 %r13, %r10, %r12;
mov.u32 %r14, 0; mov.u32 %r15, 0;
{first}
LOOP: {ends} @%p1 bra DONE;
shl.b32 %r16, %r15, 3; add.u32 %r17, %r13, %r16; add.u32 %r18, %r10, %r16;
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r17];
WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p5, [%r18], %r14; @!%p5 bra WAIT;
xor.b32 %r14, %r14, %r15; xor.b32 %r15, %r15, 1; add.s32 %r2, %r2, %r4; bra LOOP;
DONE: barrier.cluster.arrive; barrier.cluster.wait; ret;
}}
"""
ENDS = "setp.ge.s32 %p1, %r2, %r1;"
BY_ROWS_OR_COLUMNS = """
mov.u32 %r6, %ctaid.y; mov.u32 %r7, %nctaid.y; mad.lo.s32 %r8, %r6, %r3, %r2; mad.lo.s32 %r9, %r2, %r7, %r6;
setp.eq.s32 %p3, %r5, 1; selp.b32 %r2, %r8, %r9, %p3; mul.lo.s32 %r4, %r3, %r7;
"""
WHOLE: dict[str, tuple[str, str]] = {
    "tiles": ("", ENDS),
    "tiles in an order of the host": (BY_ROWS_OR_COLUMNS, ENDS),
}
BROKEN: dict[str, tuple[str, str]] = {
    "the last CTA leaves": ("add.s32 %r6, %r3, -1; setp.eq.s32 %p6, %r2, %r6; @%p6 bra DONE;", ENDS),
    "a CTA behind some others leaves": ("add.s32 %r6, %r3, -1; setp.ge.s32 %p6, %r2, %r6; @%p6 bra DONE;", ENDS),
    "one number is left by its CTA": ("setp.eq.s32 %p6, %r2, %r5; @%p6 bra DONE;", ENDS),
    "the CTA of rank 1 makes a round less": (
        "sub.s32 %r1, %r1, 8; setp.eq.u32 %p6, %r12, 1; @%p6 add.s32 %r1, %r1, 8;", ENDS
    ),
    "a mask of the place": ("or.b32 %r6, %r1, 1; and.b32 %r7, %r2, %r6; setp.gt.s32 %p6, %r7, 0; @%p6 bra DONE;", ENDS),
    "a place that is flipped": (
        "and.b32 %r6, %r1, -256; xor.b32 %r7, %r6, %r2; setp.gt.u32 %p6, %r7, %r6; @%p6 bra DONE;", ENDS
    ),
    "a product with a number": ("mul.lo.s32 %r6, %r2, %r1; setp.gt.s32 %p6, %r6, 0; @%p6 bra DONE;", ENDS),
    "a choice of places": (
        "setp.ge.s32 %p7, %r1, 0; add.s32 %r7, %r2, 1; selp.b32 %r6, %r2, %r7, %p7; setp.gt.s32 %p6, %r6, 0;"
        "@%p6 bra DONE;", ENDS
    ),
    "a rest of the place": (
        "add.s32 %r6, %r2, %r1; rem.u32 %r6, %r6, 3; setp.gt.s32 %p6, %r6, %r5; @%p6 bra DONE;", ENDS
    ),
    "the CTA of rank 1 has another number": ("setp.eq.u32 %p6, %r12, 0; @%p6 mov.u32 %r1, %r5;", ENDS),
}  # fmt: skip


def text(first: str, ends: str) -> str:
    return TEXT.format(first=first, ends=ends)


@pytest.mark.parametrize("name", WHOLE)
def test_work_in_whole_clusters_is_shown_for_every_count(name: str) -> None:
    result = verified(text(*WHOLE[name]), for_every_count=True)
    found = next(each for each in result.verdicts() if each.property is Property.DEADLOCK_FREEDOM)
    assert found.kind is VerdictKind.ASSUMES
    assert found.evidence is Evidence.FOR_ALL
    assert any("whole clusters" in each.text for each in found.assumptions)


@pytest.mark.parametrize("name", BROKEN)
def test_what_clusters_do_not_decide_alike_is_not_shown(name: str) -> None:
    found = shown_for_every_count(*launched(Source("k.ptx", text(*BROKEN[name])), "k"), seconds=6.0)
    assert not isinstance(found, Shown)


def test_it_is_told_where_that_is_taken_for_granted() -> None:
    found = shown_for_every_count(*launched(Source("k.ptx", text("", ENDS)), "k"), seconds=6.0)
    assert isinstance(found, Shown)
    taken = [each for each in found.assumptions if each.kind is AssumptionKind.WHOLE_CLUSTERS]
    assert len(taken) == 1
