"""Answers of `clusterlaunchcontrol` that are read as two words, and packed: QuACK's and CUTLASS's tile schedulers."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.mutation.judge import launched
from ptxcheck.protocols.product.for_all import Open, Shown
from ptxcheck.protocols.verify import shown_for_every_count
from ptxcheck.source import Source

KERNELS = Path(__file__).parents[3] / "corpus" / "protocols" / "persistent"
WHOLE = "ld.shared.b128 answer, [response];"
PACKED = "ld.shared.v2.b64 {low, high}, [response]; mov.b128 answer, {low, high};"


def shown(name: str) -> Shown | Open:
    text = (KERNELS / f"{name}.ptx").read_text()
    assert WHOLE in text
    text = text.replace(WHOLE, PACKED).replace(
        ".reg .b128 answer;", ".reg .b128 answer; .reg .b64 low, high;"
    )
    return shown_for_every_count(*launched(Source("k.ptx", text), "launch_control"), seconds=6.0)


def test_all_who_read_an_answer_get_the_same() -> None:
    assert isinstance(shown("launch_control"), Shown)


@pytest.mark.parametrize(
    "broken", ["asks_by_count", "asks_once_more", "asks_twice_at_least", "half_of_the_readers_counted"]
)
def test_what_is_broken_is_not_shown(broken: str) -> None:
    assert isinstance(shown(f"launch_control.{broken}"), Open)
