"""Lanes of one warp that copy the same word to the same place, by one instruction or by two."""

from __future__ import annotations

from ptxcheck.protocols.model.outcome import Flaw
from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.verdict import Property, VerdictKind

from .machine.running import kernel
from .verifying import kind, verified

BODY = """
    mov.u32 %r1, smem; mov.u32 %r9, %tid.x; setp.eq.u32 %p9, %r9, 0; ld.param.u64 %rd1, [p]; add.u32 %r2, %r1, 64;
    @%p9 mbarrier.init.shared.b64 [%r1], 33; bar.sync 0;
    @%p9 mbarrier.arrive.shared.b64 _, [%r1];
    {copy}
    cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p8, [%r1], 0; @!%p8 bra WAIT;
    ld.shared.u32 %r3, [%r2]; st.global.u32 [%rd1], %r3;
"""
COPY = "cp.async.ca.shared.global [%r2], [%rd1], 4;"


def _verify(copy: str) -> Verification:
    return verified(kernel(BODY.format(copy=copy), threads=32))


def test_lanes_that_copy_by_one_instruction_do_not_race() -> None:
    result = _verify(COPY)
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.PROVED
    assert {problem.flaw for run in result.strict for problem in run.problems} >= {Flaw.WRITES_COLLIDE}


def test_lanes_that_copy_by_two_instructions_race() -> None:
    result = _verify(f"@%p9 {COPY} @!%p9 {COPY}")
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.VIOLATED
