"""Loops that poll two barriers in each round: until both phases are complete, or one of them."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

TWO_MBARRIERS = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; add.u32 %r2, %r1, 8; setp.eq.u32 %p9, %r9, 0;
@%p9 mbarrier.init.shared.b64 [%r1], 1; @%p9 mbarrier.init.shared.b64 [%r2], 1; bar.sync 0;
"""
ARRIVE = "@%p9 mbarrier.arrive.shared.b64 _, [%r{}];"
LOOK_AT_BOTH = """
mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 0; mbarrier.test_wait.parity.shared.b64 %p2, [%r2], 0;
and.pred %p3, %p1, %p2; @%p3 bra E;
"""
POLL_BOTH = """
W: mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0; mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;
"""
UNTIL_BOTH = """
selp.b32 %r5, 1, 0, %p1; setp.eq.s32 %p4, %r5, 0; not.pred %p5, %p2;
or.pred %p3, %p4, %p5; @%p3 bra W; E:
"""
UNTIL_EITHER = "or.pred %p3, %p1, %p2; @!%p3 bra W; E:"


def deadlock(*arrived: int, end: str) -> VerdictKind:
    body = (
        TWO_MBARRIERS + "".join(ARRIVE.format(number) for number in arrived) + LOOK_AT_BOTH + POLL_BOTH + end
    )
    result = verified(kernel(body))
    return kind(result, Property.DEADLOCK_FREEDOM)


def test_both_phases_complete() -> None:
    assert deadlock(1, 2, end=UNTIL_BOTH) is VerdictKind.PROVED_BOUNDED


@pytest.mark.parametrize("missing", [1, 2])
def test_one_of_two_phases_never_completes(missing: int) -> None:
    assert deadlock(3 - missing, end=UNTIL_BOTH) is VerdictKind.VIOLATED


@pytest.mark.parametrize("missing", [1, 2])
def test_one_phase_is_enough(missing: int) -> None:
    assert deadlock(3 - missing, end=UNTIL_EITHER) is not VerdictKind.VIOLATED
