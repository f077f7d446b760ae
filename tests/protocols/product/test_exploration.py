"""The product of role automata on kernels of the corpus: right ones hold for every count, broken ones never do."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.product.for_all import Open, Shown

from ..corpus_runs import ROOT
from .kernels import shown

HOLD = (
    "cluster/multicast_pair", "cluster/peeks_at_the_next", "cluster/rows_of_four",
    "cluster/split_cluster_barrier", "cluster/st_async",
    "cluster/two_ctas_in_step", "cluster/workers_called_by_number", "groups/cp_async_three_stages",
    "groups/store_two_buffers", "handover/barrier_of_the_consumers", "handover/counts_name_both_sides",
    "handover/four_warps_to_one", "handover/named_barriers", "handover/numbers_in_registers",
    "handover/three_roles_meet", "leaders/elected_after_waiting", "leaders/leader_arrives_for_all",
    "leaders/last_step_told_apart", "leaders/mailbox", "leaders/one_lane_asks_first", "leaders/one_warp_counts_twice",
    "leaders/told_by_one_condition", "leaders/warp_writes_leader_arrives",
    "persistent/first_step_peeled", "persistent/launch_control",
    "persistent/steps_from_a_table", "persistent/stride_computed_each_round",
    "persistent/tiles_and_steps",
    "persistent/tiles_for_two_roles", "persistent/tiles_of_a_counter",
    "pingpong/consumers_in_turn", "pingpong/named_barriers", "pingpong/order_barriers",
    "ring/copies_then_expects", "ring/drained_by_its_producer", "ring/eight_stages",
    "ring/elected_thread_loads", "ring/expects_behind_its_arrival",
    "ring/expects_then_arrives", "ring/five_stages_by_division",
    "ring/freed_by_both_sides", "ring/next_stage_behind_the_join", "ring/one_stage",
    "ring/phase_in_the_top_bits", "ring/released_a_round_late",
    "ring/six_stages_by_multiplication", "ring/three_stages",
    "ring/two_operands", "ring/two_passes", "ring/two_stages", "roles/dispatched_by_a_word",
    "roles/rounds_of_two_warps", "roles/tiles_without_work", "roles/two_parts_by_words",
    "roles/two_producers_two_consumers",
    "tcgen05/commits_release_stages", "tcgen05/fp8_tiles", "tcgen05/load_settled_by_its_use",
    "tcgen05/pair_with_two_accumulators",
    "tcgen05/scale_factors_by_copies", "tcgen05/two_accumulators", "tcgen05/weights_in_tensor_memory",
    "tcgen05/without_fences", "waits/copies_when_a_poll_succeeds", "waits/copy_outstanding",
    "waits/opposite_parities_one_flip",
    "waits/polls_with_back_off", "waits/slots_awaited_by_two_warps",
    "waits/split_arrive_and_wait", "waits/turn_of_all", "waits/two_phases_a_round",
    "wgmma/attention_of_two", "wgmma/operand_written_by_threads", "wgmma/refilled_behind_a_barrier",
    "wgmma/refilled_behind_the_wait_of_one_warp", "wgmma/released_after_the_wait", "wgmma/sparse_operand",
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
    if "// expect-verdict: all holds" not in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", BROKEN)
def test_nothing_is_shown_of_a_broken_kernel(name: str) -> None:
    found = shown(name)
    assert isinstance(found, Open) or found.not_empty  # with an empty size alone: runs tell


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


def test_a_rest_behind_an_unrolled_loop_is_explored_for_each_residue() -> None:
    name = "ring/unrolled_with_a_rest"
    assert isinstance(shown(name), Shown)
    assert isinstance(shown(f"{name}.half_of_the_rest"), Open)
