"""Instructions that no mechanism knows."""

from __future__ import annotations

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified


def test_instruction_that_nothing_is_known_of() -> None:
    body = "mov.u32 %r9, %tid.x; setp.eq.u32 %p9, %r9, 0; @%p9 fabric.wait.sync_restrict::reads; bar.sync 0;"
    result = verified(kernel(body).replace(".version 8.6", ".version 9.3").replace("sm_90a", "sm_100a"))
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.UNKNOWN
