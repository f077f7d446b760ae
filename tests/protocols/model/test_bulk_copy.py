"""Where bulk copies may go: to which CTA, which mbarrier, which multiples of bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxcheck.protocols.model.outcome import Flaw
from ptxcheck.verdict import AssumptionSource, Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

RED_TEAM = Path(__file__).parents[3] / "benchmarks" / "red_team"
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


@pytest.mark.parametrize(
    ("copy", "to", "bar", "which", "verdict"),
    [
        (LOAD, "%r8", "%r2", Property.TX_BALANCE, VerdictKind.PROVED),
        (LOAD, "%r5", "%r6", Property.TX_BALANCE, VerdictKind.PROVED),
        (LOAD, "%r5", "%r2", Property.TX_BALANCE, VerdictKind.VIOLATED),
        (LOAD, "%r8", "%r6", Property.TX_BALANCE, VerdictKind.VIOLATED),
        (SEND, "%r5", "%r6", Property.TX_BALANCE, VerdictKind.PROVED),
        (SEND, "%r5", "%r2", Property.TX_BALANCE, VerdictKind.VIOLATED),
        (SEND, "%r8", "%r2", Property.SLOT_SAFETY, VerdictKind.VIOLATED),
    ],
)
def test_the_mbarrier_is_in_the_cta_that_is_written(
    copy: str, to: str, bar: str, which: Property, verdict: VerdictKind
) -> None:
    body = COPY_BETWEEN_CTAS.format(copy=copy.format(to=to, bar=bar))
    text = kernel(body, threads=64).replace("{\n", ".reqnctapercluster 2\n{\n", 1)
    assert kind(verified(text), which) is verdict


ONE_BULK_COPY = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; add.u32 %r2, %r1, 4096; setp.eq.u32 %p1, %r9, 0; ld.param.u64 %rd1, [p];
@!%p1 bra S; mbarrier.init.shared::cta.b64 [%r2], 1; S: bar.sync 0;
add.u32 %r3, %r9, {size}; add.u32 %r4, %r1, %r9; add.u32 %r4, %r4, {place};
@!%p1 bra T; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], %r3;
cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r4], [%rd1], %r3, [%r2]; T:
W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0; @!%p2 bra W;
"""


@pytest.mark.parametrize(
    ("size", "place", "wrong"),
    [
        (32, 16, set()),
        (24, 16, {Flaw.SIZE_OF_COPY}),
        (32, 8, {Flaw.MISALIGNED_COPY}),
        (24, 8, {Flaw.SIZE_OF_COPY, Flaw.MISALIGNED_COPY}),
    ],
)
def test_bulk_copies_are_of_multiples_of_16_bytes(size: int, place: int, wrong: set[Flaw]) -> None:
    found = verified(kernel(ONE_BULK_COPY.format(size=size, place=place), threads=64))
    assert {problem.flaw for run in found.failures for problem in run.sure} == wrong
    if Flaw.SIZE_OF_COPY not in wrong:
        assert kind(found, Property.DEADLOCK_FREEDOM) is VerdictKind.PROVED, "the run goes on"


def _of_block(path: Path, threads: int) -> str:
    """Return a text with its block, which stands in a comment, as a directive."""
    return path.read_text(encoding="utf-8").replace("\n{\n", f"\n.reqntid {threads}\n{{\n", 1)


@pytest.mark.parametrize(("twin", "is_asked"), [("bad", True), ("good", False)])
def test_sizes_that_may_be_no_multiple_of_16_are_asked_of_the_host(twin: str, is_asked: bool) -> None:
    path = RED_TEAM / f"387_bulk_size_not_multiple_of_16.{twin}.ptx"
    found = verified(_of_block(path, 32))
    asked = [each for each in found.provisos.get(Property.TX_BALANCE, ()) if "multiple of 16" in each.text]
    assert bool(asked) is is_asked
    assert all(each.source is AssumptionSource.HOST for each in asked)


@pytest.mark.parametrize(("twin", "verdict"), [("bad", VerdictKind.ASSUMES), ("good", VerdictKind.PROVED)])
def test_that_an_mbarrier_is_not_invalidated_is_named(twin: str, verdict: VerdictKind) -> None:
    path = RED_TEAM / f"383_smem_union_mbarrier_reused_as_data.{twin}.ptx"
    found = verified(_of_block(path, 64))
    assert kind(found, Property.LIFECYCLE) is verdict
