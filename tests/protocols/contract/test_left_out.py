"""A size that is empty on a side that no run came to is asked of the host."""

from __future__ import annotations

from pathlib import Path

from ptxcheck.verdict import AssumptionKind, Property, VerdictKind
from tests.protocols.verifying import kind, verified

RED_TEAM = Path(__file__).parents[3] / "benchmarks" / "red_team"


def test_a_kernel_that_only_a_count_of_zero_hangs_is_not_proved() -> None:
    bad = verified((RED_TEAM / "80_countdown_guard_zero.bad.ptx").read_text(encoding="utf-8"))
    assert kind(bad, Property.DEADLOCK_FREEDOM) is VerdictKind.ASSUMES
    (asked,) = bad.required.values()
    assert asked.kind is AssumptionKind.SIZE
    assert asked.options == ("n.s32 >= 1",)


def test_with_both_sides_guarded_nothing_is_asked() -> None:
    good = verified((RED_TEAM / "80_countdown_guard_zero.good.ptx").read_text(encoding="utf-8"))
    assert kind(good, Property.DEADLOCK_FREEDOM) is VerdictKind.PROVED
    assert not good.required
