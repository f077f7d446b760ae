"""Arrivals at a named barrier that nobody waits for."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

ROLES = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p9, %r9, 0;
@%p9 mbarrier.init.shared.b64 [%r1], 1; bar.sync 0;
"""
"""One lane does something of its own, so that its warp is in two parts."""


def phase_safety(body: str, threads: int = 128) -> VerdictKind:
    return kind(verified(kernel(ROLES + body, threads)), Property.PHASE_SAFETY)


def test_more_arrivals_than_a_phase_has_matter_to_nobody() -> None:
    assert phase_safety("bar.arrive 1, 96;") is VerdictKind.PROVED
    assert phase_safety("bar.arrive 1, 96; bar.arrive 1, 96;") is VerdictKind.PROVED


def test_they_matter_where_somebody_waits() -> None:
    waits = "setp.lt.u32 %p1, %r9, 32; @%p1 bar.sync 1, 96; @!%p1 bar.arrive 1, 96;"
    assert phase_safety(waits) is not VerdictKind.PROVED


def test_arrivals_that_name_different_numbers_are_judged() -> None:
    counts = "setp.lt.u32 %p1, %r9, 32; @%p1 bar.arrive 1, 64; @!%p1 bar.arrive 1, 96;"
    assert phase_safety(counts) is not VerdictKind.PROVED


@pytest.mark.parametrize("last", ["barrier.arrive 1, 96;", "@%p9 bar.arrive 1, 96;"])
def test_threads_that_arrive_one_by_one_are_judged(last: str) -> None:
    assert phase_safety(f"bar.arrive 1, 96; {last}") is not VerdictKind.PROVED
