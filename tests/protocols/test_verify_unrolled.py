"""A body that the compiler unrolled is run too, and deep enough: a slip in one of its copies never comes out fine."""

from __future__ import annotations

import pytest

from ptxcheck.cfg import build
from ptxcheck.launches.hints import from_directives
from ptxcheck.parser import parse_module
from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.protocols.verify import verify
from ptxcheck.source import Source
from ptxcheck.verdict import Property, VerdictKind

_STEP = """
poll{name}:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r3], %r6;
    @!%p1 bra poll{name};
    {arrive}
    xor.b32 %r6, %r6, 1;
"""
_ARRIVE = "mbarrier.arrive.shared::cta.b64 _, [%r2];"


def _kernel(slip: int) -> str:
    """Return a kernel whose producer is unrolled by four; the copy `slip` does not arrive (-1: all do)."""
    copies = "".join(_STEP.format(name=i, arrive="" if i == slip else _ARRIVE) for i in range(4))
    rest = _STEP.format(name="rest", arrive=_ARRIVE)
    return f""".version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u32 n) .reqntid 64 {{
    .reg .b32 %r<16>;
    .reg .pred %p<8>;
    .shared .align 8 .b64 full;
    .shared .align 8 .b64 empty;
    ld.param.u32 %r1, [n];
    mov.u32 %r2, full;
    mov.u32 %r3, empty;
    mov.u32 %r4, %tid.x;
    setp.ne.u32 %p0, %r4, 0;
    @%p0 bra ready;
    mbarrier.init.shared::cta.b64 [%r2], 1;
    mbarrier.init.shared::cta.b64 [%r3], 1;
    fence.mbarrier_init.release.cluster;
ready:
    bar.sync 0;
    setp.lt.s32 %p2, %r1, 1;
    @%p2 bra done;
    setp.eq.u32 %p3, %r4, 32;
    @%p3 bra consume;
    setp.ne.u32 %p4, %r4, 0;
    @%p4 bra done;
    mov.u32 %r6, 1;
    and.b32 %r7, %r1, 3;
    sub.s32 %r8, %r1, %r7;
    setp.lt.u32 %p5, %r1, 4;
    @%p5 bra tail;
unrolled:
{copies}
    sub.s32 %r8, %r8, 4;
    setp.ne.s32 %p6, %r8, 0;
    @%p6 bra unrolled;
tail:
    setp.eq.s32 %p5, %r7, 0;
    @%p5 bra done;
{rest}
    sub.s32 %r7, %r7, 1;
    bra.uni tail;
consume:
    mov.u32 %r9, 0;
    mov.u32 %r10, 0;
next:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], %r10;
    @!%p1 bra next;
    mbarrier.arrive.shared::cta.b64 _, [%r3];
    xor.b32 %r10, %r10, 1;
    add.s32 %r9, %r9, 1;
    setp.lt.s32 %p7, %r9, %r1;
    @%p7 bra next;
done:
    ret;
}}
"""


def _verified(text: str) -> Verification:
    module = parse_module(Source("k.ptx", text))
    (function,) = module.entries
    assert function.body is not None
    assert not function.body.problems
    return verify(build(function), function, module, from_directives(function), seconds=60.0)


def _kind(result: Verification, which: Property) -> VerdictKind:
    return next(verdict.kind for verdict in result.verdicts() if verdict.property is which)


def test_the_unrolled_ring_itself_holds() -> None:
    result = _verified(_kernel(-1))
    assert _kind(result, Property.DEADLOCK_FREEDOM) in (VerdictKind.PROVED, VerdictKind.PROVED_BOUNDED)
    assert max(result.trips) >= 5


@pytest.mark.parametrize("slip", range(4))
def test_a_slip_in_any_copy_is_a_deadlock(slip: int) -> None:
    assert _kind(_verified(_kernel(slip)), Property.DEADLOCK_FREEDOM) is VerdictKind.VIOLATED


def test_code_that_no_count_leads_to_is_named() -> None:
    text = (
        _kernel(2)
        .replace("%p5, %r1, 4;", "%p5, %r1, 400;")
        .replace("and.b32 %r7, %r1, 3;", "mov.u32 %r7, %r1;")
    )
    result = _verified(text)
    assert _kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.UNKNOWN
    assert any("synchronisation that no run came to" in reason.text for reason in result.reasons)
