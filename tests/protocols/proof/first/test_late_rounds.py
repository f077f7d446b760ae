"""Mistakes that show only in late rounds: no bound on rounds hides them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.verifying import kind, verified

RED_TEAM = Path(__file__).parents[4] / "benchmarks" / "red_team"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("75_magic_div5_at_64.bad", VerdictKind.UNKNOWN),  # the stage of round 64 is no place of the CTA
        ("75_magic_div5_at_64.good", VerdictKind.PROVED_BOUNDED),
        ("198_round_clamped.bad", VerdictKind.VIOLATED),  # in round 21
    ],
)
def test_late_rounds_are_run_where_not_all_counts_are_shown(name: str, expected: VerdictKind) -> None:
    result = verified((RED_TEAM / f"{name}.ptx").read_text())
    assert kind(result, Property.DEADLOCK_FREEDOM) is expected
