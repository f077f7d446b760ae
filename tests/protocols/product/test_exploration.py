"""The product of role automata on kernels of the corpus: right ones hold for every count, broken ones never do."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.product.for_all import Open, Shown

from ..corpus_runs import ROOT
from .kernels import shown

HOLD = (
    "cluster/multicast_pair", "cluster/rows_of_four", "cluster/two_ctas_in_step", "groups/cp_async_three_stages",
    "handover/named_barriers", "handover/three_roles_meet", "leaders/leader_arrives_for_all", "leaders/mailbox",
    "persistent/first_step_peeled", "pingpong/consumers_in_turn", "pingpong/named_barriers", "pingpong/order_barriers",
    "ring/copies_then_expects", "ring/eight_stages", "ring/elected_thread_loads", "ring/expects_then_arrives",
    "ring/five_stages_by_division", "ring/one_stage", "ring/six_stages_by_multiplication", "ring/three_stages",
    "ring/two_operands", "ring/two_passes", "ring/two_stages",
)  # fmt: skip
"""Kernels whose loops go round as often as the host says."""


@pytest.mark.parametrize("name", HOLD)
def test_a_right_kernel_holds_for_every_count(name: str) -> None:
    found = shown(name)
    assert isinstance(found, Shown), found


BROKEN = sorted(
    str(path.relative_to(ROOT))[: -len(".ptx")]
    for name in HOLD
    for path in (ROOT / name).parent.glob(f"{(ROOT / name).name}.*.ptx")
)


@pytest.mark.parametrize("name", BROKEN)
def test_nothing_is_shown_of_a_broken_kernel(name: str) -> None:
    assert isinstance(shown(name), Open)


def test_rounds_of_a_ring_are_few_states() -> None:
    """Three stages and two parities: the exploration ends without a run for each count."""
    found = shown("ring/three_stages")
    assert isinstance(found, Shown)
    assert found.states <= 12


def test_a_failure_says_who_and_where() -> None:
    found = shown("ring/one_stage.never_released")
    assert isinstance(found, Open)
    assert "for ever" in found.reason
    assert "warp 0" in found.reason
    assert found.point >= 0
