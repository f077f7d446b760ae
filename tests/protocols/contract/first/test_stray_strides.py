"""Roles that disagree only where a stride is given without its array: a condition on the host, and nothing else is."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.verdict import AssumptionKind, Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

FACTOR = """
    setp.eq.s64 %p2, %rd1, 0; mov.u32 %r6, %r2; @%p2 bra {role}HAS;
    {distance} add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r6, [%rd3];
    {role}HAS: setp.eq.s32 %p3, %r6, 0;
"""
"""The factor is n where there is no array p of them, and no factor is there where it is 0."""
BY_STRIDE = "mul.lo.u32 %r7, %r3, %r4; mul.wide.u32 %rd2, %r7, 4;"
BY_PLACE = "mul.wide.u32 %rd2, %r4, 4;"
ASKS_FOR_ARRAY = "setp.eq.s32 %p4, %r3, 0; @%p4 bra ASK; setp.eq.s64 %p5, %rd1, 0; @%p5 bra END; ASK:"
BODY = """
    mov.u32 %r1, smem; mov.u32 %r9, %tid.x; mov.u32 %r4, %ctaid.x; setp.eq.u32 %p9, %r9, 0;
    @%p9 mbarrier.init.shared.b64 [%r1], 32; bar.sync 0;
    ld.param.u32 %r2, [n]; ld.param.u32 %r3, [m]; ld.param.u64 %rd1, [p];
    setp.lt.u32 %p1, %r9, 32; @!%p1 bra READER;
    {asks} {writer} @%p3 bra END;
    {arrives} bra END;
READER:
    {reader} @%p3 bra END;
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p8, [%r1], 0; @!%p8 bra WAIT;
END:
"""
ARRIVES = "mbarrier.arrive.shared.b64 _, [%r1];"


def _verify(*, asks: str = ASKS_FOR_ARRAY, distance: str = BY_STRIDE, arrives: str = ARRIVES) -> Verification:
    writer, reader = (FACTOR.format(role=role, distance=distance) for role in ("WRITER", "READER"))
    return verified(kernel(BODY.format(asks=asks, writer=writer, reader=reader, arrives=arrives), threads=64))


def test_a_hang_where_a_stride_is_given_without_its_array_is_a_condition() -> None:
    result = _verify()
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.ASSUMES
    (required,) = (each for each in result.required.values() if each.kind is AssumptionKind.STRIDE)
    assert required.text.startswith("m is 0 or p.u64 is not")
    assert required.text.endswith(
        "waits for phase 0: 32 of 32 arrivals are missing; no thread arrives there any more"
    )


def test_roles_that_agree_need_no_condition() -> None:
    result = _verify(asks="")
    assert not result.required
    assert not result.failures


def test_a_number_that_is_no_stride_of_the_array_may_be_given_without_it() -> None:
    result = _verify(distance=BY_PLACE)
    assert kind(result, Property.DEADLOCK_FREEDOM) is not VerdictKind.ASSUMES
    assert result.failures


@pytest.mark.parametrize(
    "arrives",
    [
        "",
        "setp.eq.s64 %p6, %rd1, 0; @%p6 bra END;" + ARRIVES,
        "setp.ne.s64 %p6, %rd1, 0; @%p6 bra END;" + ARRIVES,
    ],
)
def test_a_hang_that_needs_no_such_stride_stays_one(arrives: str) -> None:
    """The arrival is left out always, without the array, or with it."""
    result = _verify(arrives=arrives)
    assert kind(result, Property.DEADLOCK_FREEDOM) in (VerdictKind.VIOLATED, VerdictKind.UNKNOWN)
    assert result.failures


def test_the_run_is_made_again_without_the_stride() -> None:
    """What goes wrong without the array, whatever the stride is, shows in the run behind the one that is left out."""
    result = _verify(arrives="setp.eq.s64 %p6, %rd1, 0; @%p6 bra END;" + ARRIVES)
    assert result.runs == 3
