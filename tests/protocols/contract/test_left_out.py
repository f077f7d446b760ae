"""A size that is empty on a side that no run came to is asked of the host, unless its first rounds go wrong."""

from __future__ import annotations

from pathlib import Path

from ptxcheck.protocols.model.outcome import Flaw
from ptxcheck.verdict import AssumptionKind, Property, VerdictKind
from tests.protocols.verifying import kind, verified

RED_TEAM = Path(__file__).parents[3] / "benchmarks" / "red_team"


def test_a_count_of_zero_hangs_in_the_first_of_its_rounds() -> None:
    bad = verified((RED_TEAM / "80_countdown_guard_zero.bad.ptx").read_text(encoding="utf-8"))
    assert kind(bad, Property.DEADLOCK_FREEDOM) is VerdictKind.VIOLATED
    (hang,) = (problem for run in bad.failures for problem in run.sure)
    assert hang.flaw is Flaw.DEADLOCK
    assert not bad.required


def test_a_count_of_zero_that_only_takes_too_many_rounds_is_asked_of_the_host() -> None:
    text = (RED_TEAM / "80_countdown_guard_zero.good.ptx").read_text(encoding="utf-8")
    meets = (
        "mov.u32 %x, %left; PRE: bar.warp.sync -1; sub.u32 %x, %x, 1; setp.ne.u32 %p2, %x, 0; @%p2 bra PRE;"
    )
    long = verified(text.replace("CONSUME:\n", f"CONSUME:\n{meets}\n"))
    assert kind(long, Property.DEADLOCK_FREEDOM) is VerdictKind.ASSUMES
    (asked,) = long.required.values()
    assert asked.kind is AssumptionKind.SIZE
    assert asked.options == ("n.s32 >= 1",)


def test_with_both_sides_guarded_nothing_is_asked() -> None:
    good = verified((RED_TEAM / "80_countdown_guard_zero.good.ptx").read_text(encoding="utf-8"))
    assert kind(good, Property.DEADLOCK_FREEDOM) is VerdictKind.PROVED
    assert not good.required
