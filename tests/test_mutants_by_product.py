"""What runs say against the product of role automata is seen by its campaign."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.mutation.by_product import compared, is_by_product, verified
from ptxcheck.verdict import Property, Verdict, VerdictKind

_RING = Path(__file__).parents[1] / "corpus" / "protocols" / "ring" / "one_stage.ptx"


@pytest.mark.parametrize(
    ("by_runs", "said"),
    [
        (VerdictKind.VIOLATED, "hole"),
        (VerdictKind.UNKNOWN, "weaker"),
        (VerdictKind.PROVED_BOUNDED, "same"),
    ],
)
def test_what_runs_say_of_a_property_that_the_product_shows(by_runs: VerdictKind, said: str) -> None:
    shown = Verdict(Property.DEADLOCK_FREEDOM, VerdictKind.PROVED, ())
    assert compared([shown], [Verdict(Property.DEADLOCK_FREEDOM, by_runs, ())]) == said


def test_what_the_product_leaves_open_is_no_hole() -> None:
    left = Verdict(Property.DEADLOCK_FREEDOM, VerdictKind.UNKNOWN, ())
    assert compared([left], [Verdict(Property.DEADLOCK_FREEDOM, VerdictKind.VIOLATED, ())]) == "same"


def test_only_what_the_product_shows_is_by_product() -> None:
    text = _RING.read_text(encoding="utf-8")
    assert is_by_product(verified(_RING.name, "one_stage", text, 8.0, by_product=True)[0])
    assert not is_by_product(verified(_RING.name, "one_stage", text, 8.0, by_product=False)[0])
