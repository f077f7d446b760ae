"""Two mistakes of one kernel, each with a cause of its own, are both told: at one instruction, or in two places."""

from __future__ import annotations

import pytest

from benchmarks.consistency import untold
from ptxcheck.checker import check
from ptxcheck.config import Config
from ptxcheck.source import Source

from ..expectations import marks

TEXT = """
.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q) .reqntid 128
{{
    .shared .align 8 .b64 full; .shared .align 8 .b64 empty;
    .shared .align 128 .b8 a[1024]; .shared .align 128 .b8 b[1024];
    .reg .pred %p<9>; .reg .b32 %r<29>; .reg .b64 %d<9>;
    mov.u32 %r0, %tid.x; mov.u32 %r10, a; mov.u32 %r11, b; shl.b32 %r12, %r0, 2;
    add.u32 %r13, %r10, %r12; add.u32 %r14, %r11, %r12;
    xor.b32 %r15, %r12, 256; add.u32 %r16, %r10, %r15; add.u32 %r17, %r11, %r15;
    ld.param.u64 %d0, [p]; cvta.to.global.u64 %d0, %d0; ld.param.u64 %d1, [q]; cvta.to.global.u64 %d1, %d1;
    setp.ne.u32 %p0, %r0, 0; setp.ge.u32 %p1, %r0, 32;
    @%p0 bra I;
    mbarrier.init.shared.b64 [full], {full}; mbarrier.init.shared.b64 [empty], {empty};
I:
    bar.sync 0;
{body}
    ret;
}}
"""
HAND = "mbarrier.arrive.shared.b64 _, [full]; W: mbarrier.try_wait.parity.shared.b64 %p2, [full], 0; @!%p2 bra W;"
KERNELS = {
    "a misaligned store of all threads to one place": (
        128,
        128,
        """
    st.shared.u32 [%r10+2], %r0; // expect: SM001, SM022
"""
        + HAND,
    ),
    "a matrix load that is misaligned, of rows that others store": (
        128,
        128,
        """
    st.shared.u32 [%r13], %r0; // expect: SM021
    ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r20}, [%r10+264]; // expect: SM003
"""
        + HAND,
    ),
    "races on two arrays": (
        128,
        128,
        """
    st.shared.u32 [%r13], %r0; // expect: SM021
    st.shared.u32 [%r14], %r0; // expect: SM021
    ld.shared.u32 %r20, [%r16]; // expect: SM020
    ld.shared.u32 %r21, [%r17]; // expect: SM020
"""
        + HAND,
    ),
    "hangs of two roles": (
        33,
        97,
        """
    @%p1 bra C;
    mbarrier.arrive.shared.b64 _, [full];
W:
    mbarrier.try_wait.parity.shared.b64 %p2, [full], 0; // expect: MB020
    @!%p2 bra W;
    ret;
C:
    mbarrier.arrive.shared.b64 _, [empty];
V:
    mbarrier.try_wait.parity.shared.b64 %p2, [empty], 0; // expect: MB020
    @!%p2 bra V;
""",
    ),
    "a hang, and a race of all": (
        33,
        97,
        """
    st.shared.u32 [%r13], %r0; // expect: SM021
    ld.shared.u32 %r20, [%r16]; // expect: SM020
    @%p1 ret;
    mbarrier.arrive.shared.b64 _, [full];
W:
    mbarrier.try_wait.parity.shared.b64 %p2, [full], 0; // expect: MB020
    @!%p2 bra W;
""",
    ),
    "a copy that is misaligned and of an odd size": (
        1,
        128,
        """
    @%p0 bra W;
    mov.u32 %r20, 24; add.u32 %r21, %r10, 8;
    mbarrier.arrive.expect_tx.shared.b64 _, [full], 24;
    // expect: BG001, BG002
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r21], [%d0], %r20, [full];
W:
    mbarrier.try_wait.parity.shared.b64 %p2, [full], 0;
    @!%p2 bra W;
""",
    ),
    "arrivals that are too many, and a barrier of too few": (
        100,
        128,
        """
    mbarrier.arrive.shared.b64 _, [full]; // expect: MB023
    @%p1 ret;
    bar.sync 1, 64; // expect: NB020
""",
    ),
    "a store without a fence, and a copy whose source is overwritten": (
        128,
        128,
        """
    st.shared.u32 [%r13], %r0;
    bar.sync 0;
    @%p0 bra S;
    cp.async.bulk.global.shared::cta.bulk_group [%d1], [a], 512; // expect: PX001
    cp.async.bulk.commit_group;
S:
    st.shared.u32 [%r13], 7; // expect: BG012
    cp.async.bulk.wait_group 0;
"""
        + HAND,
    ),
}


@pytest.mark.parametrize("name", KERNELS)
def test_both_are_told(name: str) -> None:
    full, empty, body = KERNELS[name]
    source = Source("k.ptx", TEXT.format(full=full, empty=empty, body=body))
    told = {(each.rule, each.location.primary.line) for each in check(source).active}
    assert told == set(marks(source))


def test_what_is_violated_and_not_told_is_seen() -> None:
    """The check that holds this over the corpus can fail: here the one rule that tells is left out."""
    full, empty, body = KERNELS["races on two arrays"]
    source = Source("k.ptx", TEXT.format(full=full, empty=empty, body=body))
    assert untold(check(source)) == []
    assert untold(check(source, config=Config(select=("PT",)))) == [("k", "slot-safety")]
