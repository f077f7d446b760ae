"""Where bulk copies may go: to which CTA, which mbarrier, which multiples of bytes."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

COPY_BETWEEN_CTAS = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; add.u32 %r2, %r1, 4096; setp.eq.u32 %p1, %r9, 0; ld.param.u64 %rd1, [p];
mov.u32 %r3, %cluster_ctarank; xor.b32 %r4, %r3, 1; add.u32 %r8, %r1, 1024;
mapa.shared::cluster.u32 %r5, %r8, %r4; mapa.shared::cluster.u32 %r6, %r2, %r4;
@!%p1 bra S; mbarrier.init.shared::cta.b64 [%r2], 1; S:
barrier.cluster.arrive; barrier.cluster.wait;
@!%p1 bra T; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 64; {copy} T:
W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0; @!%p2 bra W;
barrier.cluster.arrive; barrier.cluster.wait;
"""
LOAD = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{to}], [%rd1], 64, [{bar}];"
SEND = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [{to}], [%r1], 64, [{bar}];"


def worst(result: Verification) -> VerdictKind:
    """Return whether a kernel breaks some property, or keeps its bytes in balance."""
    kinds = {verdict.kind for verdict in result.verdicts()}
    return VerdictKind.VIOLATED if VerdictKind.VIOLATED in kinds else kind(result, Property.TX_BALANCE)


@pytest.mark.parametrize(
    ("copy", "to", "bar", "verdict"),
    [
        (LOAD, "%r8", "%r2", VerdictKind.PROVED),
        (LOAD, "%r5", "%r6", VerdictKind.PROVED),
        (LOAD, "%r5", "%r2", VerdictKind.VIOLATED),
        (LOAD, "%r8", "%r6", VerdictKind.VIOLATED),
        (SEND, "%r5", "%r6", VerdictKind.PROVED),
        (SEND, "%r5", "%r2", VerdictKind.VIOLATED),
        (SEND, "%r8", "%r2", VerdictKind.VIOLATED),
    ],
)
def test_the_mbarrier_is_in_the_cta_that_is_written(
    copy: str, to: str, bar: str, verdict: VerdictKind
) -> None:
    body = COPY_BETWEEN_CTAS.format(copy=copy.format(to=to, bar=bar))
    text = kernel(body, threads=64).replace("{\n", ".reqnctapercluster 2\n{\n", 1)
    assert worst(verified(text)) is verdict


ONE_BULK_COPY = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; add.u32 %r2, %r1, 4096; setp.eq.u32 %p1, %r9, 0; ld.param.u64 %rd1, [p];
@!%p1 bra S; mbarrier.init.shared::cta.b64 [%r2], 1; S: bar.sync 0;
add.u32 %r3, %r9, {size}; add.u32 %r4, %r1, %r9; add.u32 %r4, %r4, {place};
@!%p1 bra T; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], %r3;
cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r4], [%rd1], %r3, [%r2]; T:
W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0; @!%p2 bra W;
"""


@pytest.mark.parametrize(
    ("size", "place", "verdict"),
    [(32, 16, VerdictKind.PROVED), (24, 16, VerdictKind.VIOLATED), (32, 8, VerdictKind.VIOLATED)],
)
def test_bulk_copies_are_of_multiples_of_16_bytes(size: int, place: int, verdict: VerdictKind) -> None:
    found = verified(kernel(ONE_BULK_COPY.format(size=size, place=place), threads=64))
    assert worst(found) is verdict
