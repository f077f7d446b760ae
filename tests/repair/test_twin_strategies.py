"""Strategies for faults in the arithmetic behind synchronisation: they propose the correct twin of a broken kernel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ptxcheck.config import Config
from ptxcheck.judge import TextJudge
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
    subjects = [subject_of(view, finding) for finding in judged.findings if finding.counterexample]
    assert subjects
    yield from (patch for patch in propose(*subjects) if patch.strategy == strategy)


def _words(text: str) -> list[str]:
    lines = (line.split("//")[0].split() for line in text.splitlines())
    return [" ".join(words) for words in lines if words]


def _statements(text: str) -> list[str]:
    return [line for line in _words(text) if not line.startswith((".reg", "setp"))]


@pytest.mark.parametrize(
    ("twin", "strategy"),
    [
        ("ring/elected_thread_loads.all_lanes_release", "predicate"),
        ("ring/three_stages.parity_flips_each_step", "predicate"),
        ("ring/three_stages.wraps_one_late", "number"),
        ("ring/eight_stages.wrong_bit", "number"),
        ("cluster/st_async.signals_its_own_barrier", "number"),
        ("ring/two_stages.releases_the_other_stage", "update"),
        ("ring/three_stages.roles_count_differently", "update"),
        ("pingpong/order_barriers.arrives_at_its_own", "register"),
    ],
)
def test_the_correct_twin_is_proposed(twin: str, strategy: str) -> None:
    broken = (_PROTOCOLS / f"{twin}.ptx").read_text(encoding="utf-8")
    right = (_PROTOCOLS / f"{twin.split('.')[0]}.ptx").read_text(encoding="utf-8")
    found = [patch for patch in _proposed(broken, strategy)]
    assert all(patch.needs_proof for patch in found)
    assert _statements(right) in [_statements(apply_edits(broken, patch.edits)) for patch in found]


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


@pytest.mark.parametrize(("value", "wanted"), [(0, [1]), (2, [3, 1, 4]), (5, [6, 4, 7, 10, 2])])
def test_numbers_that_a_number_is_mistaken_for(value: int, wanted: list[int]) -> None:
    assert near(value) == wanted
