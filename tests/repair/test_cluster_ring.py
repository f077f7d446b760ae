"""A CTA that copies for others waits for them: what is missing is put in at once, and no more than that."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ptxcheck.config import Config
from ptxcheck.patching.judge import TextJudge
from ptxcheck.repair import strategies
from ptxcheck.repair.assemble import find_ptxas
from ptxcheck.repair.edits import apply_edits
from ptxcheck.repair.gate import is_proved
from ptxcheck.repair.patch import Patch
from ptxcheck.repair.search import repair
from ptxcheck.repair.strategies.cluster_ring import complete_cluster_ring
from ptxcheck.repair.subject import Subject, subject_of
from ptxcheck.repair.weighing import Assembler, Safety
from ptxcheck.rules import RULES, select_rules

_CLUSTER = Path(__file__).parents[2] / "corpus" / "protocols" / "cluster"
_MEET = ("barrier.cluster.arrive.relaxed.aligned;", "barrier.cluster.wait.aligned;")
_TELL = "mbarrier.arrive.shared::cluster.b64"
_FRAME = """// ptxcheck: launch block=128 cluster={ctas}
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 source) {{
    .shared .align 8 .b64 barriers[4];
    .shared .align 128 .b8 buffers[4096];
    .reg .pred ready, skip, other, leads, no_copier;
    .reg .b32 thread, value, sum, rank, lane;
    .reg .b64 from;
    .reg .b16 mask;
    ld.param.u64 from, [source];
    mov.u32 thread, %tid.x;
    mov.u32 lane, %laneid;
    setp.eq.u32 leads, lane, 0;
    mov.u32 rank, %cluster_ctarank;
    setp.ne.u32 no_copier, rank, {copier};
    setp.ne.u32 skip, thread, 0;
    @skip bra READY;
    mbarrier.init.shared::cta.b64 [barriers], 1;
    mbarrier.init.shared::cta.b64 [barriers+8], 1;
    mbarrier.init.shared::cta.b64 [barriers+16], {count};
    mbarrier.init.shared::cta.b64 [barriers+24], {count};
    {fence}
READY:
    bar.sync 0;
    setp.lt.u32 other, thread, 64;
    @other bra CONSUMER;
    setp.ne.u32 skip, thread, 64;
    @skip bra DONE;
    mov.u16 mask, {mask};
{loads}
    bra DONE;
CONSUMER:
{uses}
DONE:
    ret;
}}
"""
_LOAD = """
EMPTY{step}:
    mbarrier.try_wait.parity.shared::cta.b64 ready, [barriers+{empty}], {opposite};
    @!ready bra EMPTY{step};
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [barriers+{full}], 2048;
    @no_copier bra OWN{step};
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
        [buffers+{at}], [from], 1024, [barriers+{full}], mask;
OWN{step}:
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buffers+{own}], [from], 1024, [barriers+{full}];
"""
_USE = """
FULL{step}:
    mbarrier.try_wait.parity.shared::cta.b64 ready, [barriers+{full}], {parity};
    @!ready bra FULL{step};
    ld.shared.u32 value, [buffers+{at}];
    add.u32 sum, sum, value;
    ld.shared.u32 value, [buffers+{own}];
    add.u32 sum, sum, value;
    {release} [barriers+{empty}];
"""
_BY_ALL = "mbarrier.arrive.shared::cta.b64 _,"
_BY_ONE = "bar.warp.sync -1; @leads mbarrier.arrive.shared::cta.b64 _,"
_FENCE = "fence.mbarrier_init.release.cluster;"


def unrolled(
    rounds: int,
    *,
    ctas: int = 2,
    copier: int = 0,
    release: str = _BY_ALL,
    count: int = 64,
    fence: str = _FENCE,
) -> str:
    """Return a kernel whose CTA `copier` loads a tile for all: rings of two stages, rounds one behind the other."""
    numbers = [
        {
            "step": step,
            "full": 8 * (step % 2),
            "empty": 16 + 8 * (step % 2),
            "at": 1024 * (step % 2),
            "own": 2048 + 1024 * (step % 2),
            "parity": step // 2 % 2,
            "opposite": 1 - step // 2 % 2,
        }
        for step in range(rounds)
    ]
    loads = "".join(_LOAD.format(**each) for each in numbers)
    uses = "".join(_USE.format(release=release, **each) for each in numbers)
    mask = (1 << ctas) - 1
    return _FRAME.format(
        ctas=ctas, copier=copier, count=count, fence=fence, mask=mask, loads=loads, uses=uses
    )


def _judge() -> TextJudge:
    config = Config(verify_seconds=10)
    return TextJudge(
        "k.ptx", select_rules(RULES, config.select, config.ignore, pedantic=False, possible=False), config
    )


def _proposed(text: str) -> Iterator[Patch]:
    state = _judge()(text)
    finding = next(each for each in state.findings if each.counterexample is not None)
    yield from complete_cluster_ring(subject_of(state.views[finding.kernel or ""], finding))


@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
@pytest.mark.parametrize("twin", ["alone", "starts_alone", "releases_its_own_ring"])
def test_a_ring_of_a_cluster_is_repaired(twin: str) -> None:
    broken = (_CLUSTER / f"first_loads_for_both.{twin}.ptx").read_text(encoding="utf-8")
    outcome = repair(broken, _judge(), Assembler(find_ptxas(), "sm_90a"), unsafe=False)
    assert outcome.left == ()
    assert [each.safety for each in outcome.repairs] == [Safety.SAFE]
    after = _judge()(outcome.text)
    assert (after.findings, is_proved(after, "first_loads_for_both")) == ((), True)


@pytest.mark.parametrize("twin", ["alone", "starts_alone"])
def test_threads_that_meet_release_nothing_where_a_fence_publishes(twin: str) -> None:
    broken = (_CLUSTER / f"first_loads_for_both.{twin}.ptx").read_text(encoding="utf-8")
    patch, *_ = _proposed(broken)
    text = apply_edits(broken, patch.edits)
    assert all(text.count(statement) == 1 for statement in _MEET)
    assert "meet them in front of the end" in patch.summary or twin == "starts_alone"


def test_phases_that_nobody_waits_for_are_told_to_nobody() -> None:
    broken = unrolled(6)
    patch, *_ = _proposed(broken)
    text = apply_edits(broken, patch.edits)
    assert text.count(_TELL) == 4
    assert text.count("barrier.cluster.wait") == 1
    state = _judge()(text)
    assert (state.findings, is_proved(state, "k")) == ((), True)


def test_each_arrival_that_a_wait_asks_for_is_needed() -> None:
    broken = unrolled(6)
    patch, *_ = _proposed(broken)
    told = [edit for edit in patch.edits if _TELL in edit.replacement]
    for one in told:
        text = apply_edits(broken, tuple(edit for edit in patch.edits if edit != one))
        assert _judge()(text).findings


@pytest.mark.parametrize(
    ("ctas", "copier", "release", "count", "counted"),
    [
        (2, 0, _BY_ALL, 64, {64, 66}),
        (2, 1, _BY_ALL, 64, {64, 66}),
        (2, 0, _BY_ONE, 2, {2, 4}),
        (4, 2, _BY_ALL, 64, {64, 70}),
    ],
)
def test_the_copier_counts_one_arrival_for_each_warp_of_its_readers(
    ctas: int, copier: int, release: str, count: int, counted: set[int]
) -> None:
    broken = unrolled(4, ctas=ctas, copier=copier, release=release, count=count)
    patch, *_ = _proposed(broken)
    text = apply_edits(broken, patch.edits)
    assert set(map(int, re.findall(r"32 %ptxcheck_count\d+, (\d+)", text))) == counted
    state = _judge()(text)
    assert (state.findings, is_proved(state, "k")) == ((), True)


def test_without_the_fence_of_initialisations_the_threads_that_meet_release() -> None:
    broken = unrolled(4, fence="")
    patch, *_ = _proposed(broken)
    text = apply_edits(broken, patch.edits)
    assert "barrier.cluster.arrive.aligned;" in text
    assert _judge()(text).findings == ()


@pytest.mark.parametrize(
    "twin",
    ["multicast_pair.mask_of_one", "multicast_pair.expects_its_own_half", "tells_its_peer.read_before_told"],
)
def test_what_meets_and_tells_already_is_left_alone(twin: str) -> None:
    assert list(_proposed((_CLUSTER / f"{twin}.ptx").read_text(encoding="utf-8"))) == []


def test_no_other_strategy_is_asked_before_it_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(_: Subject) -> Iterator[Patch]:
        raise AssertionError("asked")

    monkeypatch.setattr(strategies, "STRATEGIES", (asked,))
    state = _judge()(unrolled(4))
    finding = next(each for each in state.findings if each.counterexample is not None)
    proposed = strategies.propose(subject_of(state.views[finding.kernel or ""], finding))
    assert next(proposed).is_whole
    with pytest.raises(AssertionError, match="asked"):
        next(proposed)
