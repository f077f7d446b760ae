"""Kernels that readers of the product have written against its steps: none of them is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.mutation.judge import launched
from ptxcheck.protocols.product.for_all import Open, Shown
from ptxcheck.protocols.verify import shown_for_every_count
from ptxcheck.source import Source
from ptxcheck.verdict import AssumptionKind

READ = Path(__file__).parent / "read"
ENTRY = {
    "answer_of_another_pass": "k3",
    "arrives_where_nobody_waits": "slots_awaited_by_two_warps",
    "number_of_the_round_before": "load_settled_by_its_use",
    "number_that_wraps": "k24",
    "poll_in_front_of_a_wider_wait": "k",
    "poll_in_front_of_its_own_wait": "k",
    "poll_in_turns": "k",
    "poll_of_an_earlier_phase": "k",
    "poll_of_an_mbarrier_that_was": "k",
    "poll_of_its_own_mbarrier_that_was": "k",
    "poll_of_no_phase": "k",
    "polls_for_ever": "k16",
    "polls_for_ever_alone": "k16",
    "read_in_front_of_its_load": "load_settled_by_its_use",
    "round_of_another_pass": "k26",
    "told_by_a_shuffle_of_itself": "told_shfl_own",
    "told_by_a_reduction_of_one_lane": "told_redux_own",
    "told_by_a_ballot_of_one_lane": "told_ballot_own",
    "told_by_lanes_that_elect_themselves": "told_elect",
    "told_by_masks_of_lanes_apart": "told_activemask_apart",
    "poll_until_it_fails": "k",
    "poll_and_a_count": "k",
    "two_polls_of_one_phase": "k",
    "multiple_that_wraps": "k",
    "waits_for_itself": "k7",
    "waits_once_in_front": "k6",
}


def shown(name: str) -> Shown | Open:
    text = (READ / f"{name}.ptx").read_text(encoding="utf-8")
    return shown_for_every_count(*launched(Source(f"{name}.ptx", text), ENTRY[name]), seconds=6.0)


def test_all_kernels_are_asked() -> None:
    assert {path.stem for path in READ.glob("*.ptx")} == ENTRY.keys()


@pytest.mark.parametrize("name", sorted(ENTRY.keys() - {"multiple_that_wraps", "number_that_wraps"}))
def test_a_broken_kernel_is_not_shown(name: str) -> None:
    assert isinstance(shown(name), Open)


@pytest.mark.parametrize("name", ["multiple_that_wraps", "number_that_wraps"])
def test_a_number_of_the_kernel_may_wrap_around(name: str) -> None:
    found = shown(name)
    assert isinstance(found, Shown)
    assert AssumptionKind.CUT in {each.kind for each in found.assumptions}
