"""Kernels are shown alike where numbers that rounds change are variables and where nodes tell them apart."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.automata import ways
from ptxcheck.protocols.product.for_all import Open, Shown

from .kernels import automaton, of_corpus, shown

RIGHT = (
    "ring/two_stages", "ring/eight_stages", "ring/three_stages", "ring/counts_down", "ring/masked_steps_last",
    "persistent/tiles_and_steps",
    "persistent/first_step_peeled", "persistent/launch_control", "leaders/elected_after_waiting",
    "ring/generic_full_barriers",
)  # fmt: skip
BROKEN = (
    "ring/eight_stages.wrong_bit", "ring/four_stages_filled_ahead.drain_waits_on_a_fixed_stage",
    "ring/counts_down.consumer_not_guarded", "ring/masked_steps_last.one_step_more",
    "persistent/tiles_and_steps.consumer_skips_a_tile",
    "persistent/tiles_and_steps.parity_of_the_inner_step", "persistent/launch_control.asks_twice_at_least",
    "ring/one_stage.parity_never_flips", "ring/generic_full_barriers.as_offsets",
)  # fmt: skip


@pytest.fixture
def with_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all numbers that differ between two ways to a block be variables."""
    monkeypatch.setattr(ways, "_MOST_NUMBERS", 1)


@pytest.mark.usefixtures("with_variables")
@pytest.mark.parametrize("name", RIGHT)
def test_right_kernels_are_shown(name: str) -> None:
    found = shown(name)
    assert isinstance(found, Shown), found


@pytest.mark.usefixtures("with_variables")
@pytest.mark.parametrize("name", BROKEN)
def test_broken_kernels_are_not(name: str) -> None:
    found = shown(name)
    assert isinstance(found, Open) or found.not_empty  # with an empty size alone: runs tell


def test_nodes_do_not_tell_variables_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = of_corpus("ring/three_stages")
    apart = automaton(kernel)
    assert not apart.variables.are_any
    monkeypatch.setattr(ways, "_MOST_NUMBERS", 1)
    together = automaton(kernel)
    assert together.variables.are_any
    assert len(together.nodes) * 2 < len(apart.nodes)
