"""The cluster shape of a kernel that does not state one: enough CTAs for all places that it reaches."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.verifying import kind, verified

READS_OF_OTHER_CTAS = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 out, .param .u32 stride_in)
.reqntid 32
{{
    .shared .align 8 .b64 full;
    .shared .align 8 .b8 sums[512];
    .reg .pred odd, leads;
    .reg .b32 thread, rank, own, at, place, word, stride;
    mov.u32 thread, %tid.x;
    ld.param.u32 stride, [stride_in];
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
    result = verified(READS_OF_OTHER_CTAS.format(rank="%ctaid.x", mask=ctas - 1, reads=reads))
    assert result.shape is not None
    assert result.shape.cluster == (ctas, 1, 1)
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.ASSUMES


def test_one_bit_of_the_place_in_the_grid_is_followed() -> None:
    """`and` with 8 keeps a bit: the address stays below that of the next CTA."""
    text = READS_OF_OTHER_CTAS.format(rank="%ctaid.x", mask=1, reads=read(0) + read(1))
    result = verified(
        text.replace(
            "shl.b32 own, rank, 2", "mov.u32 own, %ctaid.x; shl.b32 own, own, 3; and.b32 own, own, 8"
        )
    )
    assert result.shape is not None
    assert result.shape.cluster == (2, 1, 1)


ARRIVALS_IN_A_RUN_IN_DOUBT = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u32 bits)
.reqntid 32
{
    .shared .align 8 .b64 full;
    .reg .pred leads, many, ready;
    .reg .b32 thread, at, peer, word, ones;
    mov.u32 thread, %tid.x;
    mov.u32 at, full;
    setp.eq.u32 leads, thread, 0;
    @leads mbarrier.init.shared.b64 [at], 2;
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    ld.param.u32 word, [bits];
    bfind.u32 ones, word;
    setp.gt.s32 many, ones, 32;
    @!many bra MEET;
    mapa.shared::cluster.u32 peer, at, 0;
    @leads mbarrier.arrive.release.cluster.shared::cluster.b64 _, [peer];
    mov.u32 peer, %cluster_ctarank;
    setp.ne.u32 leads, peer, 0;
    @leads bra MEET;
WAIT:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 ready, [at], 0;
    @!ready bra WAIT;
MEET:
    barrier.cluster.arrive;
    barrier.cluster.wait;
    ret;
}
"""


def test_a_shape_is_not_the_one_where_a_run_in_doubt_goes_wrong() -> None:
    """Two CTAs arrive where two arrivals are due; no number has a bit above 31, which the solver does not know."""
    result = verified(ARRIVALS_IN_A_RUN_IN_DOUBT)
    assert result.shape is not None
    assert result.shape.cluster == (2, 1, 1)
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.ASSUMES
