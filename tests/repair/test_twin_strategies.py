"""Strategies for faults in the arithmetic behind synchronisation: they propose the correct twin of a broken kernel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ptxcheck.config import Config
from ptxcheck.patching.judge import TextJudge
from ptxcheck.repair.edits import apply_edits
from ptxcheck.repair.patch import Patch
from ptxcheck.repair.strategies import propose
from ptxcheck.repair.strategies.number import near
from ptxcheck.repair.subject import subject_of
from ptxcheck.rules import RULES, select_rules

_PROTOCOLS = Path(__file__).parents[2] / "corpus" / "protocols"


def _judge() -> TextJudge:
    config = Config(verify_seconds=1)
    rules = select_rules(RULES, config.select, config.ignore, pedantic=False, possible=False)
    return TextJudge("k.ptx", rules, config)


def _proposed(text: str, strategy: str) -> Iterator[Patch]:
    judged = _judge()(text)
    (view,) = judged.views.values()
    of_runs = [finding for finding in judged.findings if finding.counterexample]
    subjects = [subject_of(view, finding) for finding in of_runs or judged.findings]
    assert subjects
    yield from (patch for patch in propose(*subjects) if patch.strategy == strategy)


def _statements(text: str) -> list[str]:
    """Return the statements of a kernel without its declarations and comparisons."""
    code = "\n".join(line.split("//")[0] for line in text.splitlines())
    found = (" ".join(words.split()) for words in code.replace("{", "{;").replace(":\n", ":;").split(";"))
    return [words for words in found if words and not words.startswith((".reg", "setp"))]


@pytest.mark.parametrize(
    ("twin", "strategy"),
    [
        ("ring/elected_thread_loads.all_lanes_release", "predicate"),
        ("ring/three_stages.parity_flips_each_step", "computation"),
        ("ring/three_stages.wraps_one_late", "number"),
        ("ring/eight_stages.wrong_bit", "number"),
        ("cluster/st_async.signals_its_own_barrier", "number"),
        ("ring/two_stages.releases_the_other_stage", "update"),
        ("ring/three_stages.roles_count_differently", "update"),
        ("pingpong/order_barriers.arrives_at_its_own", "register"),
        ("ring/drained_by_its_producer.drained_from_the_first_stage", "update"),
        ("ring/three_stages.consumer_stops_early", "update"),
        ("ring/five_stages_by_division.divides_by_four", "computation"),
        ("ring/five_stages_by_division.parity_of_the_step", "computation"),
        ("ring/two_stages.one_barrier_for_both_stages", "computation"),
        ("tcgen05/pair_with_two_accumulators.peer_not_told", "peer"),
        ("tcgen05/scale_factors_by_copies.over_an_accumulator", "number"),
        ("tcgen05/commits_release_stages.commits_to_the_full_barrier", "register"),
        ("groups/cp_async_three_stages.refills_the_stage_being_read", "register"),
        ("pingpong/order_barriers.nobody_begins", "start"),
        ("pingpong/consumers_in_turn.both_start_with_the_first", "start"),
        ("cluster/rows_of_four.mask_of_the_first_row", "start"),
        ("ring/six_stages_by_multiplication.shift_one_short", "agreement"),
        ("tcgen05/two_accumulators.loads_the_other_one", "update"),
    ],
)
def test_the_correct_twin_is_proposed(twin: str, strategy: str) -> None:
    broken = (_PROTOCOLS / f"{twin}.ptx").read_text(encoding="utf-8")
    right = (_PROTOCOLS / f"{twin.split('.')[0]}.ptx").read_text(encoding="utf-8")
    found = [patch for patch in _proposed(broken, strategy)]
    assert all(patch.needs_proof for patch in found)
    assert _statements(right) in [_statements(apply_edits(broken, patch.edits)) for patch in found]


@pytest.mark.parametrize(
    ("twin", "strategy"),
    [
        ("cluster/tells_its_peer.told_at_cta_scope", "modifier"),
        ("cluster/tells_its_peer.acquires_in_its_cta", "modifier"),
        ("handover/counts_name_both_sides.reader_counts_itself", "named barrier"),
        ("handover/named_barriers.one_number_for_both", "named barrier"),
        ("handover/barrier_of_the_consumers.barrier_of_the_cta", "named barrier"),
        ("ring/one_stage.read_before_wait", "movement"),
        ("ring/one_stage.parity_never_flips", "parity"),
        ("tcgen05/commits_release_stages.no_last_commit", "tensor memory"),
        ("tcgen05/commits_release_stages.released_by_an_arrival", "tensor memory"),
        ("tcgen05/weights_in_tensor_memory.stores_not_awaited", "insertion"),
        ("tcgen05/commits_release_stages.stages_not_committed", "arrival"),
        ("waits/two_phases_a_round.three_phases_a_round", "removal"),
    ],
)
def test_synchronisation_of_the_correct_twin_is_proposed(twin: str, strategy: str) -> None:
    broken = (_PROTOCOLS / f"{twin}.ptx").read_text(encoding="utf-8")
    right = (_PROTOCOLS / f"{twin.split('.')[0]}.ptx").read_text(encoding="utf-8")
    found = [apply_edits(broken, patch.edits) for patch in _proposed(broken, strategy)]
    assert _statements(right) in [_statements(text) for text in found]


@pytest.mark.parametrize(
    ("twin", "strategy"),
    [
        ("tcgen05/commits_release_stages.epilogue_does_not_wait", "wait"),
        ("tcgen05/weights_in_tensor_memory.weights_over_the_last_ones", "wait"),
        ("leaders/mailbox.published_again_at_once", "wait"),
        ("cluster/st_async.sent_without_asking", "wait"),
        ("ring/one_stage.never_released", "arrival"),
        ("ring/four_stages_filled_ahead.refill_before_all_have_read", "clone"),
        ("ring/one_stage.tail_not_guarded", "computation"),
        ("handover/barrier_of_the_consumers.no_barrier", "named barrier"),
        ("cluster/two_ctas_in_step.one_round_less", "update"),
        ("cluster/launch_control_pair.first_cta_expects_for_both", "movement"),
        ("cluster/multicast_pair.released_to_its_own_cta_only", "cluster release"),
        ("tcgen05/pair_with_two_accumulators.peer_not_loaded", "cluster release"),
        ("persistent/first_step_peeled.empty_split", "bound"),
        ("persistent/tiles_and_steps.parity_of_the_inner_step", "ring state"),
        ("tcgen05/weights_in_tensor_memory.output_one_tile_early", "parity"),
    ],
)
def test_a_patch_after_which_nothing_is_found_is_proposed(twin: str, strategy: str) -> None:
    broken = (_PROTOCOLS / f"{twin}.ptx").read_text(encoding="utf-8")
    judge = _judge()
    texts = (apply_edits(broken, patch.edits) for patch in _proposed(broken, strategy))
    assert any(not judge(text).findings for text in texts)


def test_a_wait_that_nobody_ends_is_left_out() -> None:
    twin = _PROTOCOLS / "tcgen05" / "commits_release_stages.waits_for_its_own_commit_first.ptx"
    broken = twin.read_text(encoding="utf-8")
    texts = [apply_edits(broken, patch.edits) for patch in _proposed(broken, "needless wait")]
    assert any(
        "bra WAIT_OWN" not in text and text.count("try_wait") < broken.count("try_wait") for text in texts
    )


def test_the_peer_of_a_pair_is_the_rank_with_its_lowest_bit_flipped() -> None:
    broken = (_PROTOCOLS / "cluster" / "two_ctas_in_step.one_cta_is_told.ptx").read_text(encoding="utf-8")
    (patch,) = _proposed(broken, "peer")
    text = apply_edits(broken, patch.edits)
    assert not {finding.rule for finding in _judge()(text).findings}


@pytest.mark.parametrize(("value", "wanted"), [(0, [1]), (2, [3, 1, 4, 5]), (5, [6, 4, 7, 10, 2, 11])])
def test_numbers_that_a_number_is_mistaken_for(value: int, wanted: list[int]) -> None:
    assert near(value) == wanted


def test_what_gives_a_register_its_first_value_is_not_left_out() -> None:
    broken = (_PROTOCOLS / "ring" / "two_stages.consumer_a_stage_ahead.ptx").read_text(encoding="utf-8")
    summaries = [patch.summary for patch in _proposed(broken, "update")]
    assert "leave out 'mov.u32 stage, 1;'" in summaries
    assert "leave out 'mov.u32 stage, 0;'" not in summaries


@pytest.mark.parametrize(
    "twin",
    [
        "ring/four_stages_filled_ahead.refill_not_guarded",
        "ring/four_stages_filled_ahead.fills_more_than_there_is",
    ],
)
def test_a_bound_ends_copies_that_nobody_waits_for(twin: str) -> None:
    broken = (_PROTOCOLS / f"{twin}.ptx").read_text(encoding="utf-8")
    config = Config(verify_seconds=1, possible=True)
    judge = TextJudge(
        "k.ptx", select_rules(RULES, config.select, config.ignore, pedantic=True, possible=True), config
    )
    judged = judge(broken)
    (view,) = judged.views.values()
    patches = [p for p in propose(*(subject_of(view, f) for f in judged.findings)) if p.strategy == "bound"]
    assert "CL021" in {finding.rule for finding in judged.findings}
    texts = [apply_edits(broken, patch.edits) for patch in patches]
    assert any("CL021" not in {finding.rule for finding in judge(text).findings} for text in texts)


def test_registers_at_the_start_are_as_many_as_a_block_can_have() -> None:
    twin = _PROTOCOLS / "roles" / "registers_in_balance.takes_more_than_was_given.ptx"
    config = Config(verify_seconds=1, possible=True)
    judge = TextJudge(
        "k.ptx", select_rules(RULES, config.select, config.ignore, pedantic=True, possible=True), config
    )
    judged = judge(twin.read_text(encoding="utf-8"))
    (view,) = judged.views.values()
    (patch,) = [p for p in propose(subject_of(view, judged.findings[0])) if p.strategy == "directive"]
    assert ".maxnreg 128" in apply_edits(twin.read_text(encoding="utf-8"), patch.edits)


def test_a_map_is_changed_behind_the_wait_for_its_load() -> None:
    bad = _PROTOCOLS.parent / "bad" / "TD057" / "grouped_map_moved_under_its_load.ptx"
    broken = bad.read_text(encoding="utf-8")
    texts = [apply_edits(broken, patch.edits) for patch in _proposed(broken, "map update")]
    assert any(not _judge()(text).findings for text in texts)
    moved = next(text for text in texts if not _judge()(text).findings)
    assert moved.index("try_wait") < moved.index("tensormap.replace")


def test_distances_are_mistaken_for_other_distances_only() -> None:
    broken = (_PROTOCOLS / "tcgen05" / "scale_factors_by_copies.over_an_accumulator.ptx").read_text(
        encoding="utf-8"
    )
    summaries = [patch.summary for patch in _proposed(broken, "number")]
    assert any("scales_a, %r5, 32;': 32 instead of 16" in summary for summary in summaries)
    assert not any("17 instead of 16" in summary for summary in summaries)


def test_a_sum_of_data_is_no_parity() -> None:
    twin = _PROTOCOLS / "waits" / "opposite_parities_one_flip.flipped_for_each_wait.ptx"
    summaries = [patch.summary for patch in _proposed(twin.read_text(encoding="utf-8"), "register")]
    assert summaries
    assert not any("sum instead of" in summary for summary in summaries)


_WAIT = """WAIT_EMPTY:
    mbarrier.try_wait.parity.shared::cta.b64 ready, [free], parity;
    @!ready bra WAIT_EMPTY;
"""


@pytest.mark.parametrize(
    ("removed", "summary"),
    [
        (_WAIT, "wait for parity parity at [free]"),
        (_WAIT + "    add.u32 free, frees, at;\n", "wait for parity parity at [empty+8]"),
    ],
    ids=["an address is left", "named as a variable"],
)
def test_a_lost_wait_comes_first(removed: str, summary: str) -> None:
    right = (_PROTOCOLS / "ring" / "two_stages.ptx").read_text(encoding="utf-8")
    broken = right.replace("[empty", "[frees")
    for line in removed.splitlines(keepends=True):
        assert line in broken
    broken = broken.replace(_WAIT, "", 1).replace(removed.removeprefix(_WAIT) or "\0", "", 1)
    found = sorted(_proposed(broken, "wait"), key=lambda patch: patch.cost)
    assert summary in [patch.summary for patch in found[:8]]
