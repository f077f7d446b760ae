"""Loops that poll two barriers in each round: until both phases are complete, or one of them."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind

from .machine.running import kernel
from .verifying import kind, verified

INIT = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; add.u32 %r2, %r1, 8; setp.eq.u32 %p9, %r9, 0;
@%p9 mbarrier.init.shared.b64 [%r1], 1; @%p9 mbarrier.init.shared.b64 [%r2], 1; bar.sync 0;
"""
ARRIVE = "@%p9 mbarrier.arrive.shared.b64 _, [%r{}];"
LOOK = """
mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 0; mbarrier.test_wait.parity.shared.b64 %p2, [%r2], 0;
and.pred %p3, %p1, %p2; @%p3 bra E;
"""
POLLS = """
W: mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0; mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;
"""
BOTH = "selp.b32 %r5, 1, 0, %p1; setp.eq.s32 %p4, %r5, 0; not.pred %p5, %p2; or.pred %p3, %p4, %p5; @%p3 bra W; E:"
EITHER = "or.pred %p3, %p1, %p2; @!%p3 bra W; E:"


def deadlock(*arrived: int, end: str) -> VerdictKind:
    body = INIT + "".join(ARRIVE.format(number) for number in arrived) + LOOK + POLLS + end
    result = verified(kernel(body))
    return kind(result, Property.DEADLOCK_FREEDOM)


def test_both_phases_complete() -> None:
    assert deadlock(1, 2, end=BOTH) is VerdictKind.PROVED_BOUNDED


@pytest.mark.parametrize("missing", [1, 2])
def test_one_of_two_phases_never_completes(missing: int) -> None:
    assert deadlock(3 - missing, end=BOTH) is VerdictKind.VIOLATED


@pytest.mark.parametrize("missing", [1, 2])
def test_one_phase_is_enough(missing: int) -> None:
    assert deadlock(3 - missing, end=EITHER) is not VerdictKind.VIOLATED
