"""States of arrivals that one thread returns and others wait for."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind

from .machine.running import kernel
from .verifying import kind, verified

TEXT = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; and.b32 %r3, %r9, 31; setp.eq.u32 %p9, %r9, 0; setp.eq.u32 %p8, %r3, 0;
@%p9 mbarrier.init.shared.b64 [%r1], {count}; @%p9 mbarrier.init.shared.b64 [%r1+8], 1; bar.sync 0;
{handed}
W: mbarrier.try_wait.shared.b64 %p5, [%r1{at}], %rd2; @!%p5 bra W;
"""
THROUGH_MEMORY = """
@!%p9 bra X; mbarrier.arrive.shared.b64 %rd1, [%r1]; st.shared.b64 [table], %rd1;
X: bar.sync 0; ld.shared.b64 %rd2, [table];
"""
BY_SHUFFLE = """
mov.b64 %rd1, 0; @%p8 mbarrier.arrive.shared.b64 %rd1, [%r1];
mov.b64 {%r5, %r6}, %rd1;
shfl.sync.idx.b32 %r5, %r5, 0, 31, -1; shfl.sync.idx.b32 %r6, %r6, 0, 31, -1;
mov.b64 %rd2, {%r5, %r6};
"""
WAYS = [(THROUGH_MEMORY, 1), (BY_SHUFFLE, 2)]


def verdict(handed: str, count: int, which: Property, at: str = "") -> VerdictKind:
    return kind(verified(kernel(TEXT.format(handed=handed, count=count, at=at), threads=64)), which)


@pytest.mark.parametrize(("handed", "count"), WAYS)
def test_others_wait_for_the_phase_of_the_arrival(handed: str, count: int) -> None:
    for which in (Property.DEADLOCK_FREEDOM, Property.LIFECYCLE, Property.PHASE_SAFETY):
        assert verdict(handed, count, which) is VerdictKind.PROVED


@pytest.mark.parametrize(("handed", "count"), WAYS)
def test_a_phase_that_lacks_an_arrival(handed: str, count: int) -> None:
    assert verdict(handed, count + 1, Property.DEADLOCK_FREEDOM) is VerdictKind.VIOLATED


@pytest.mark.parametrize(("handed", "count"), WAYS)
def test_the_state_of_another_mbarrier(handed: str, count: int) -> None:
    assert verdict(handed, count, Property.LIFECYCLE, at="+8") is VerdictKind.VIOLATED


def test_a_number_that_is_no_state() -> None:
    handed = "@%p9 mbarrier.arrive.shared.b64 %rd1, [%r1]; mov.b64 %rd2, 0;"
    assert verdict(handed, 1, Property.DEADLOCK_FREEDOM) is VerdictKind.UNKNOWN
