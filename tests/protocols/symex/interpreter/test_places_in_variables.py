"""What is reached in no variable of shared memory is at a place that is not known: ptxas has the last word there."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

OBJECTS = """
mov.u32 %r4, 0; mov.u32 %r9, %tid.x; setp.ne.u32 %p9, %r9, 0; mov.u32 %r1, smem; ld.param.u64 %rd1, [p];
@%p9 bra R; mbarrier.init.shared.b64 [smem+4096], 1; fence.proxy.async; R: bar.sync 0;
shl.b32 %r2, %r9, 2; add.u32 %r2, %r2, %r1; {place}
"""
LOAD = OBJECTS + "ld.shared.u32 %r4, [%r3]; st.global.u32 [%rd1], %r4;"
COPY = (
    OBJECTS + "@%p9 bra W; mbarrier.arrive.expect_tx.shared.b64 _, [smem+4096], 64;"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 64, [smem+4096];"
    "W: mbarrier.try_wait.parity.shared.b64 %p5, [smem+4096], 0; @!%p5 bra W;"
)
INSIDE = {
    "further": "add.u32 %r3, %r2, 2048;",
    "by xor": "sub.u32 %r3, %r2, %r1; xor.b32 %r3, %r3, 512; add.u32 %r3, %r3, %r1;",
}
OUTSIDE = {
    "in front": "sub.u32 %r3, %r2, 1024;",
    "behind": "add.u32 %r3, %r2, 65536;",
    "by xor": "xor.b32 %r3, %r2, 1024;",
}


def _slots(body: str, place: str) -> VerdictKind:
    return kind(verified(kernel(body.format(place=place), threads=64)), Property.SLOT_SAFETY)


@pytest.mark.parametrize("body", [LOAD, COPY], ids=["load", "copy"])
@pytest.mark.parametrize("place", INSIDE.values(), ids=INSIDE.keys())
def test_inside(body: str, place: str) -> None:
    assert _slots(body, place) is VerdictKind.PROVED


@pytest.mark.parametrize("body", [LOAD, COPY], ids=["load", "copy"])
@pytest.mark.parametrize("place", OUTSIDE.values(), ids=OUTSIDE.keys())
def test_outside(body: str, place: str) -> None:
    assert _slots(body, place) is VerdictKind.UNKNOWN


GUARDED = OBJECTS + "ld.global.u32 %r5, [%rd1]; setp.ne.u32 %p7, %r5, 0; {guarded} st.global.u32 [%rd1], %r4;"


@pytest.mark.parametrize(
    "guarded", ["@%p7 ld.shared.u32 %r4, [%r3];", "@!%p7 bra D; ld.shared.u32 %r4, [%r3]; D:"]
)
def test_what_may_not_be_reached_at_all(guarded: str) -> None:
    for place, known in ((INSIDE["further"], VerdictKind.PROVED), (OUTSIDE["by xor"], VerdictKind.UNKNOWN)):
        assert _slots(GUARDED.replace("{guarded}", guarded), place) is known
