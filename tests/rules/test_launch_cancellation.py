"""CL008: which queries for the CTA of a cancelled launch take effect without a test that there is one."""

from __future__ import annotations

import pytest

from ..expectations import found
from .kernels import kernel, proved, rule

ROUND = """
.reg .b128 %q<4>;
.shared .align 16 .b8 response[16];
mov.u32 %r1, response;
mov.u32 %r2, bar;
ld.param.u64 %rd1, [in];
ld.param.u32 %r9, [n];
mov.u32 %r8, 0;
mbarrier.init.shared::cta.b64 [%r2], 1;
fence.mbarrier_init.release.cluster;
mov.u32 %r3, 0;
$round:
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 16;
clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], [%r2];
$wait:
mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [%r2], %r3;
@!%p1 bra $wait;
xor.b32 %r3, %r3, 1;
ld.shared.v2.b64 {%rd2, %rd3}, [%r1];
mov.b128 %q1, {%rd2, %rd3};
clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q1;
mov.b128 %q2, {%rd2, %rd3};
clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r4, %q2;
shr.u32 %r5, %r4, 1;
"""
ENDS_BY_TEST = "@%p2 bra $round;"
STORED = "st.global.u32 [%rd1], %r5;"
TILE_OR_END = "mov.u32 %r6, %r9; @!%p2 bra $end; mov.u32 %r6, %r8; $end: setp.ge.u32 %p3, %r6, %r9;"
"""Where nothing is left the number of the tile is that behind the last one."""


@pytest.mark.parametrize(
    ("behind", "takes_effect"),
    [
        (ENDS_BY_TEST, False),
        (STORED + ENDS_BY_TEST, True),
        ("@%p2 " + STORED + ENDS_BY_TEST, False),
        (ENDS_BY_TEST.replace("bra", "bra.uni") + STORED, True),
        (f"{TILE_OR_END} @%p3 bra $out; {STORED} bra $round; $out:", False),
        (f"{TILE_OR_END} {STORED} @!%p3 bra $round;", True),
        ("mov.u32 %r6, %r5; setp.lt.u32 %p3, %r6, %r9; @%p3 bra $round;", True),
        ("and.pred %p3, %p2, %p2; @!%p3 bra $out; setp.lt.u32 %p4, %r5, %r9; @%p4 bra $round; $out:", False),
    ],
    ids=[
        "computed and left",
        "stored in front of the test",
        "stored under the test",
        "stored behind the loop",
        "stored where a tile is left",
        "stored whether or not a tile is left",
        "decides alone",
        "decides behind the test",
    ],
)
def test_what_comes_of_the_cta(behind: str, takes_effect: bool) -> None:
    source = kernel(ROUND + behind, ".reqntid 1", target="sm_100a")
    assert bool(proved("CL008", source)) is takes_effect


def test_a_query_that_nothing_tests_is_reported_at_once() -> None:
    body = ROUND.replace("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q1;", "")
    assert proved("CL008", kernel(body, ".reqntid 1", target="sm_100a"))


def test_a_query_in_front_of_its_test_is_possible_and_no_more() -> None:
    source = kernel(ROUND + ENDS_BY_TEST, ".reqntid 1", target="sm_100a")
    assert found(source, rule("CL008"))
    assert not proved("CL008", source)
