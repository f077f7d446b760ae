"""Polls that a thread gives up after some tries."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

READER_THAT_GIVES_UP = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p9, %r9, 0;
@%p9 mbarrier.init.shared.b64 [%r1], 1; bar.sync 0;
setp.ge.u32 %p8, %r9, 32; @%p8 bra READER; @!%p9 bra E;
st.shared.u32 [%r1+16], %r9; mbarrier.arrive.shared.b64 _, [%r1]; bra E;
READER: mov.u32 %r5, 0;
W: mbarrier.try_wait.parity.shared.b64 %p5, [%r1], 0; @%p5 bra READ;
{failed}
READ: {guard} ld.shared.u32 %r6, [%r1+16];
E:
"""
FOUR_TRIES = "add.u32 %r5, %r5, 1; setp.lt.u32 %p6, %r5, 4; @%p6 bra W;"
MANY_TRIES = "add.u32 %r5, %r5, 1; setp.lt.u32 %p6, %r5, 5000; @%p6 bra W;"


def slot_safety(failed: str, guard: str = "") -> VerdictKind:
    return kind(
        verified(kernel(READER_THAT_GIVES_UP.format(failed=failed, guard=guard))), Property.SLOT_SAFETY
    )


def test_who_gives_up_reads_too_early() -> None:
    assert slot_safety(FOUR_TRIES) is VerdictKind.VIOLATED


def test_who_gives_up_does_not_read() -> None:
    assert slot_safety(FOUR_TRIES, "@%p5") is VerdictKind.PROVED_BOUNDED


@pytest.mark.parametrize("failed", ["bra W;", FOUR_TRIES + "trap;"], ids=["never", "aborts"])
def test_nobody_goes_on_without_the_phase(failed: str) -> None:
    assert slot_safety(failed) is VerdictKind.PROVED


def test_more_tries_than_are_followed() -> None:
    assert slot_safety(MANY_TRIES) is VerdictKind.ASSUMES
