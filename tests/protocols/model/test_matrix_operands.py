"""What a matrix operand certainly reads: its first row, wherever the swizzle puts it."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.verifying import kind, verified

UNITS_OF_A_SLICE = 2
"""Units of the start field from one slice of K to the next: 32 bytes."""
MULTIPLY_A_SLICE = """
    add.u64 slice, a_desc, {offset};
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{c0, c1, c2, c3}}, slice, slice, 1, 1, 1, 0, 0;
"""
REFILLED_OPERAND = """
.version 8.6
.target sm_90a
.address_size 64
.visible .entry refilled(.param .align 64 .b8 one[128], .param .align 64 .b8 other[128], .param .u32 tiles)
    .reqntid 128
{{
    .shared .align 1024 .b8 data[32768];
    .reg .pred stop, ready, skip;
    .reg .b32 thread, n, step, parity, bar, buffer, behind, at;
    .reg .b64 first, second, a_desc, slice;
    .reg .f32 c0, c1, c2, c3;
    mov.u64 first, one;
    mov.u64 second, other;
    ld.param.u32 n, [tiles];
    mov.u32 thread, %tid.x;
    mov.u32 bar, data;
    add.u32 buffer, bar, {start};
    add.u32 behind, buffer, 8192;
    setp.ne.u32 skip, thread, 0;
    @skip bra READY;
    mbarrier.init.shared::cta.b64 [bar], 1;
    fence.proxy.async.shared::cta;
READY:
    bar.sync 0;
    shr.u32 at, buffer, 4;
    and.b32 at, at, 16383;
    cvt.u64.u32 a_desc, at;
    or.b64 a_desc, a_desc, 0x4000004000010000;
    mov.u32 step, 0;
    mov.u32 parity, 0;
ROUND:
    setp.ge.u32 stop, step, n;
    @stop bra DONE;
    @skip bra WAIT_FULL;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16384;
    cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [buffer], [first, {{0, 0}}], [bar];
    cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [behind], [second, {{0, 0}}], [bar];
WAIT_FULL:
    mbarrier.try_wait.parity.shared::cta.b64 ready, [bar], parity;
    @!ready bra WAIT_FULL;
    wgmma.fence.sync.aligned;
    {slices}
    wgmma.commit_group.sync.aligned;
    {behind}
    bar.sync 0;
    xor.b32 parity, parity, 1;
    add.u32 step, step, 1;
    bra ROUND;
DONE:
    wgmma.wait_group.sync.aligned 0;
    ret;
}}
"""
"""A tile is loaded again behind a barrier, of boxes that nobody knows: only the first bytes of each are certain."""


def _refilled(start: int, slices: int, *, waits: bool) -> Verification:
    multiplied = "".join(MULTIPLY_A_SLICE.format(offset=UNITS_OF_A_SLICE * each) for each in range(slices))
    behind = "wgmma.wait_group.sync.aligned 0;" if waits else ""
    return verified(REFILLED_OPERAND.format(start=start, slices=multiplied, behind=behind))


@pytest.mark.parametrize(
    ("start", "slices", "expected"),
    [
        (1024, 1, VerdictKind.VIOLATED),
        (1024 + 384, 4, VerdictKind.VIOLATED),
        (1024 + 384, 2, VerdictKind.VIOLATED),
        (1024 + 384, 1, VerdictKind.UNKNOWN),
    ],
    ids=["from the pattern on", "all of a row inside the pattern", "with the slice there", "without that"],
)
def test_slices_of_k_read_what_a_copy_starts_with(start: int, slices: int, expected: VerdictKind) -> None:
    """384 bytes behind the start of the pattern, the first bytes of the tile are the last ones of its second slice."""
    assert kind(_refilled(start, slices, waits=False), Property.SLOT_SAFETY) is expected


def test_a_wait_in_front_of_the_copy_orders_them() -> None:
    found = kind(_refilled(1024 + 384, 4, waits=True), Property.SLOT_SAFETY)
    assert found in (VerdictKind.ASSUMES, VerdictKind.PROVED_BOUNDED, VerdictKind.PROVED)
