"""Sizes that are not empty: what is asked of the host, and what is not."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import ONE_MBARRIER, WAIT_FOR_PHASE, kind, verified

PHASE_OF_THE_LAST_TURN = """
    ld.param.u32 %r2, [n]; {test}
    mbarrier.arrive.shared.b64 _, [%r1];
    add.u32 %r3, %r2, 7; shr.s32 %r3, %r3, 3; xor.b32 %r3, %r3, 1; and.b32 %r3, %r3, 1;
    {waits}
    E:
"""
"""Waits for the phase after the last one where n is 0, which no decision says, and for the first one up to 8."""


def verified_turns(test: str) -> Verification:
    waits = WAIT_FOR_PHASE.format(name="0", parity=0) + WAIT_FOR_PHASE.format(name="1", parity="%r3")
    return verified(kernel(ONE_MBARRIER + PHASE_OF_THE_LAST_TURN.format(test=test, waits=waits)))


def test_a_number_that_is_taken_for_a_size_is_not_zero_at_first() -> None:
    result = verified_turns("setp.gt.s32 %p1, %r2, 8; @%p1 bra E;")
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.ASSUMES
    (required,) = result.required.values()
    assert required.text.startswith("n is at least 1: with less, waits for phase 1")
    assert any(bound.text == "only run where n is 1" for bound in result.bounds)


def test_what_is_compared_for_equality_alone_is_no_size() -> None:
    result = verified_turns("setp.eq.s32 %p1, %r2, 16; @%p1 bra E;")
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.VIOLATED


ROUNDS_OF_A_CTA = """
    mov.u32 %r4, %ctaid.x; shl.b32 %r4, %r4, 6; ld.param.u32 %r2, [n]; ld.param.u32 %r3, [m];
    add.s32 %r4, %r4, %r2; {second}.s32 %r4, %r4, %r3; add.s32 %r4, %r4, -127; shr.s32 %r4, %r4, 6;
    setp.lt.s32 %p1, %r4, 1; @%p1 bra S; mbarrier.arrive.shared.b64 _, [%r1]; S: {wait}
"""
"""A CTA whose rounds are less than one waits for ever."""


@pytest.mark.parametrize(
    ("second", "expected"),
    [("sub", VerdictKind.ASSUMES), ("add", VerdictKind.VIOLATED)],
    ids=["less", "more"],
)
def test_rounds_by_the_difference_of_two_lengths_are_taken_to_be_some(
    second: str, expected: VerdictKind
) -> None:
    wait = WAIT_FOR_PHASE.format(name="0", parity=0)
    result = verified(kernel(ONE_MBARRIER + ROUNDS_OF_A_CTA.format(second=second, wait=wait)))
    assert kind(result, Property.DEADLOCK_FREEDOM) is expected
    assert ["is at least 1: with less" in each.text for each in result.required.values()] == (
        [True] if expected is VerdictKind.ASSUMES else []
    )
