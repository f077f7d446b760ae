"""The cluster shape of a kernel that does not state one: enough CTAs for all places that it reaches."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind

from .verifying import kind, verified

KERNEL = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 out, .param .u32 stride)
.reqntid 32
{{
    .shared .align 8 .b64 full;
    .shared .align 8 .b8 sums[512];
    .reg .pred odd, leads;
    .reg .b32 thread, rank, own, at, place, word, stride;
    mov.u32 thread, %tid.x;
    ld.param.u32 stride, [stride];
    setp.ne.s32 odd, stride, 64;
    @odd bra DONE;
    setp.eq.u32 leads, thread, 0;
    @leads mbarrier.init.shared.b64 [full], 1;
    bar.sync 0;
    mov.u32 rank, {rank};
    and.b32 rank, rank, {mask};
    shl.b32 own, rank, 2;
    mov.u32 at, sums;
    add.u32 at, at, own;
    st.shared.u32 [at], 1;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    {reads}
    barrier.cluster.arrive;
    barrier.cluster.wait;
DONE:
    ret;
}}
"""


def read(rank: int) -> str:
    return (
        f"mov.u32 place, sums; mapa.shared::cluster.u32 place, place, {rank};"
        " add.u32 place, place, own; ld.shared::cluster.u32 word, [place];"
    )


@pytest.mark.parametrize("ctas", [2, 4, 8])
def test_all_places_that_are_read_are_in_the_cluster(ctas: int) -> None:
    """Only the second run comes to the reads: the first takes the kernel to leave at once."""
    reads = "\n".join(read(rank) for rank in range(ctas))
    result = verified(KERNEL.format(rank="%ctaid.x", mask=ctas - 1, reads=reads))
    assert result.shape is not None
    assert result.shape.cluster == (ctas, 1, 1)
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.ASSUMES


def test_one_bit_of_the_place_in_the_grid_is_followed() -> None:
    """`and` with 8 keeps a bit: the address stays below that of the next CTA."""
    text = KERNEL.format(rank="%ctaid.x", mask=1, reads=read(0) + read(1))
    result = verified(
        text.replace(
            "shl.b32 own, rank, 2", "mov.u32 own, %ctaid.x; shl.b32 own, own, 3; and.b32 own, own, 8"
        )
    )
    assert result.shape is not None
    assert result.shape.cluster == (2, 1, 1)
