"""Polls that a thread gives up after some tries."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind

from .machine.running import kernel
from .verifying import kind, verified

TEXT = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p9, %r9, 0;
@%p9 mbarrier.init.shared.b64 [%r1], 1; bar.sync 0;
setp.ne.u32 %p8, %r9, 0; @%p8 bra READER;
st.shared.u32 [%r1+16], %r9; mbarrier.arrive.shared.b64 _, [%r1]; bra E;
READER: mov.u32 %r5, 0;
W: mbarrier.try_wait.parity.shared.b64 %p5, [%r1], 0; @%p5 bra READ;
{failed}
READ: {guard} ld.shared.u32 %r6, [%r1+16];
E:
"""
FOUR = "add.u32 %r5, %r5, 1; setp.lt.u32 %p6, %r5, 4; @%p6 bra W;"
MANY = "add.u32 %r5, %r5, 1; setp.lt.u32 %p6, %r5, 5000; @%p6 bra W;"


def slots(failed: str, guard: str = "") -> VerdictKind:
    return kind(verified(kernel(TEXT.format(failed=failed, guard=guard))), Property.SLOT_SAFETY)


def test_who_gives_up_reads_too_early() -> None:
    assert slots(FOUR) is VerdictKind.VIOLATED


def test_who_gives_up_does_not_read() -> None:
    assert slots(FOUR, "@%p5") is VerdictKind.PROVED_BOUNDED


@pytest.mark.parametrize("failed", ["bra W;", FOUR + "trap;"], ids=["never", "aborts"])
def test_nobody_goes_on_without_the_phase(failed: str) -> None:
    assert slots(failed) is VerdictKind.PROVED


def test_more_tries_than_are_followed() -> None:
    assert slots(MANY) is VerdictKind.ASSUMES
