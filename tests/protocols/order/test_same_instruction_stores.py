"""Stores of several threads to the same bytes by one instruction."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.model.outcome import Flaw
from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

TEXT = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; shr.u32 %r2, %r9, 5; and.b32 %r3, %r9, 31; ld.param.u32 %r4, [n];
mov.u32 %r5, 0;
{loop}
{guard}
st.shared.u32 [%r1], {value};
E: {again}
bar.sync 0;
"""
LEADERS = "setp.ne.u32 %p1, %r3, 0; @%p1 bra E;"
ONE_WARP = "setp.gt.u32 %p1, %r9, 31; @%p1 bra E;"


def slots(value: str, guard: str = "", loop: str = "", again: str = "") -> VerdictKind:
    text = kernel(TEXT.format(value=value, guard=guard, loop=loop, again=again), threads=64)
    return kind(verified(text), Property.SLOT_SAFETY)


@pytest.mark.parametrize(
    ("value", "guard"), [("%r9", ""), ("%r2", ""), ("%r2", LEADERS), ("%r3", ONE_WARP), ("%r9", ONE_WARP)]
)
def test_values_that_differ(value: str, guard: str) -> None:
    assert slots(value, guard) is VerdictKind.ASSUMES


@pytest.mark.parametrize(
    ("value", "guard"), [("%r4", ""), ("7", ""), ("%r4", LEADERS), ("%r2", ONE_WARP), ("%r4", ONE_WARP)]
)
def test_values_that_are_one(value: str, guard: str) -> None:
    assert slots(value, guard) is VerdictKind.PROVED


@pytest.mark.parametrize(("value", "verdict"), [("%r5", VerdictKind.ASSUMES), ("7", VerdictKind.PROVED)])
def test_warps_in_different_rounds(value: str, verdict: VerdictKind) -> None:
    again = "add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 3; @%p2 bra L;"
    assert slots(value, loop="L: bar.warp.sync -1;", again=again) is verdict


COPIES_OF_ONE_WORD = """
    mov.u32 %r1, smem; mov.u32 %r9, %tid.x; setp.eq.u32 %p9, %r9, 0; ld.param.u64 %rd1, [p]; add.u32 %r2, %r1, 64;
    @%p9 mbarrier.init.shared.b64 [%r1], 33; bar.sync 0;
    @%p9 mbarrier.arrive.shared.b64 _, [%r1];
    {copy}
    cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p8, [%r1], 0; @!%p8 bra WAIT;
    ld.shared.u32 %r3, [%r2]; st.global.u32 [%rd1], %r3;
"""
"""Lanes of one warp that copy the same word to the same place, by one instruction or by two."""
COPY_BY_EACH_LANE = "cp.async.ca.shared.global [%r2], [%rd1], 4;"


def _verified_copies(copy: str) -> Verification:
    return verified(kernel(COPIES_OF_ONE_WORD.format(copy=copy), threads=32))


def test_lanes_that_copy_by_one_instruction_do_not_race() -> None:
    result = _verified_copies(COPY_BY_EACH_LANE)
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.PROVED
    assert {problem.flaw for run in result.strict for problem in run.problems} >= {Flaw.WRITES_COLLIDE}


def test_lanes_that_copy_by_two_instructions_race() -> None:
    result = _verified_copies(f"@%p9 {COPY_BY_EACH_LANE} @!%p9 {COPY_BY_EACH_LANE}")
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.VIOLATED
