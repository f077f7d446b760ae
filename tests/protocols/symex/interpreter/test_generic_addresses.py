"""The space of an operand decides: an offset of shared memory is no generic address, nor the other way round."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import VerdictKind

from ...verifying import deadlock

BODY = """
mov.u32 %r9, %tid.x; setp.ne.u32 %p9, %r9, 0; mov.u64 %rd1, smem; {address}
@%p9 bra R; mbarrier.init{init}.b64 [{first}], 64; R: bar.sync 0;
mbarrier.arrive{arrive}.b64 _, [{second}]; {access}
W: mbarrier.try_wait.parity.shared.b64 %p5, [smem], 0; @!%p5 bra W;
"""
CONVERT = "cvta.shared.u64 %rd2, %rd1; cvta.to.shared.u64 %rd3, %rd2; cvt.u32.u64 %r3, %rd2;"


@pytest.mark.parametrize(
    ("init", "arrive", "first", "second", "verdict"),
    [
        ("", ".shared", "%rd2", "%rd1", VerdictKind.PROVED),
        (".shared", "", "%rd1", "%rd2", VerdictKind.PROVED),
        ("", "", "smem", "smem", VerdictKind.PROVED),
        ("", ".shared", "%rd1", "%rd1", VerdictKind.UNKNOWN),
        (".shared", "", "%rd1", "%rd1", VerdictKind.UNKNOWN),
        ("", "", "%rd1", "%rd1", VerdictKind.UNKNOWN),
        (".shared", ".shared", "%rd1", "%rd3", VerdictKind.PROVED),
        (".shared", ".shared", "%rd1", "%r3", VerdictKind.PROVED),
        (".shared", ".shared", "%rd2", "%rd1", VerdictKind.UNKNOWN),
        (".shared", ".shared", "%rd1", "%rd2", VerdictKind.UNKNOWN),
    ],
)
def test_objects(init: str, arrive: str, first: str, second: str, verdict: VerdictKind) -> None:
    body = BODY.format(address=CONVERT, init=init, arrive=arrive, first=first, second=second, access="")
    assert deadlock(body) is verdict


@pytest.mark.parametrize(
    ("access", "verdict"),
    [
        ("ld.u32 %r3, [%rd2+1024];", VerdictKind.PROVED),
        ("ld.shared.u32 %r3, [%rd1+1024];", VerdictKind.PROVED),
        ("ld.u32 %r3, [%rd1+1024];", VerdictKind.UNKNOWN),
        ("st.u32 [%rd1+1024], 0;", VerdictKind.UNKNOWN),
        ("ld.shared.u32 %r3, [%rd2+1024];", VerdictKind.UNKNOWN),
        ("st.shared.u32 [%rd2+1024], 0;", VerdictKind.UNKNOWN),
        (
            "mul.wide.u32 %rd4, %r9, 4; add.u64 %rd4, %rd4, %rd2; st.shared.u32 [%rd4+1024], 0;",
            VerdictKind.UNKNOWN,
        ),
        (
            "mul.wide.u32 %rd4, %r9, 4; add.u64 %rd4, %rd4, %rd3; st.shared.u32 [%rd4+1024], 0;",
            VerdictKind.PROVED,
        ),
        ("ld.param.u64 %rd4, [p]; add.u64 %rd4, %rd4, %rd2; ld.shared.u32 %r3, [%rd4];", VerdictKind.UNKNOWN),
    ],
)
def test_accesses(access: str, verdict: VerdictKind) -> None:
    body = BODY.format(
        address=CONVERT, init=".shared", arrive=".shared", first="%rd1", second="%rd1", access=access
    )
    assert deadlock(body) is verdict
