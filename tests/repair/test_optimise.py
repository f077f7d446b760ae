"""Redundant synchronisation: found where every verdict stays, and left where it does not; and the command."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from ptxcheck.cli import main
from ptxcheck.config import Config
from ptxcheck.patching.judge import TextJudge
from ptxcheck.repair.optimise import optimise
from ptxcheck.repair.redundancy import weakenings
from ptxcheck.repair.weighing import Assembler
from ptxcheck.rules import RULES, select_rules

from .test_strategies import _COPY, _MEET

_LAST_WAIT = """free:
    mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2+8], 0;
    @!%p3 bra free;
"""
_PROTOCOLS = Path(__file__).parents[2] / "corpus" / "protocols"
_NEEDED = _COPY.replace(_LAST_WAIT, "")
_HEAD = """// ptxcheck: launch block=64 cluster={cluster}
.version 8.6
.target sm_90a
.address_size 64
.visible .entry k() .reqntid 64 {{
    .reg .b32 %r<12>;
    .reg .b64 %rd<2>;
    .reg .pred %p<4>;
    .shared .align 16 .b8 words[256];
    .shared .align 8 .b64 bar;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, bar;
    mov.u32 %r3, words;
    shl.b32 %r4, %r1, 2;
    add.u32 %r5, %r3, %r4;
    xor.b32 %r6, %r4, 252;
    add.u32 %r6, %r3, %r6;
    mov.u32 %r7, %cluster_ctarank;
    xor.b32 %r8, %r7, 1;
    setp.ne.u32 %p1, %r1, 0;
    {body}
    ret;
}}
"""
"""64 threads with a word each: %r5 the own one, %r6 that of the opposite thread; %r8 the other CTA of a pair."""
_INIT = """@%p1 bra ready;
    mbarrier.init.shared::cta.b64 [%r2], 64;
    {fence}
ready:
    bar.sync 0;
    """


def _kernel(body: str, cluster: int = 1) -> str:
    return _HEAD.format(body=body, cluster=cluster)


def _handed_over(wait: str, before: str, after: str) -> str:
    """Return a kernel in which all threads meet at an mbarrier, with an access before and one behind it."""
    return _kernel(
        _INIT.format(fence="")
        + f"""{before}
    mbarrier.arrive.shared::cta.b64 _, [%r2];
again:
    {wait} %p2, [%r2], 0;
    @!%p2 bra again;
    {after}"""
    )


_WAIT, _RELAXED = (f"mbarrier.try_wait.parity{order}.shared::cta.b64" for order in ("", ".relaxed.cta"))
_WRITE, _READ = "st.shared.b32 [%r5], %r1;", "ld.shared.b32 %r9, [%r6];"
_ARRIVE, _MEETING = "barrier.cluster.arrive.aligned;", "barrier.cluster.wait.aligned;"
_BOTH = f"{_ARRIVE}\n    {_MEETING}\n    "
_REMOTE = "mapa.shared::cluster.u32 %r10, %r6, %r8;\n    ld.shared::cluster.b32 %r9, [%r10];\n    "


def _done(text: str, judge: TextJudge) -> list[str]:
    """Return what is offered."""
    better = optimise(text, judge, Assembler(None, "sm_90a"))
    assert better.skipped == ()
    assert better.tried > 0
    return [each.patch.summary for each in better.redundant]


@pytest.fixture(scope="module")
def judge() -> TextJudge:
    config = Config()
    rules = select_rules(RULES, config.select, config.ignore, pedantic=False, possible=False)
    return TextJudge("k.ptx", rules, config)


@pytest.mark.parametrize("text", [_NEEDED, _MEET])
def test_what_is_needed_stays(judge: TextJudge, text: str) -> None:
    better = optimise(text, judge, Assembler(None, "sm_90a"))
    assert (better.text, better.redundant, better.skipped) == (text, (), ())


def test_what_orders_nothing_goes(judge: TextJudge) -> None:
    more = _NEEDED.replace("    ld.param.u64 %rd2", "    bar.sync 0;\n    ld.param.u64 %rd2")
    better = optimise(more, judge, Assembler(None, "sm_90a"))
    assert [each.patch.summary for each in better.redundant] == ["leave out 'bar.sync 0;'"]
    assert "global memory" in better.redundant[0].assumption
    assert [x for x in better.text.splitlines() if x.strip()] == [
        x for x in _NEEDED.splitlines() if x.strip()
    ]


def test_a_wait_after_which_nothing_depends_on_it_goes(judge: TextJudge) -> None:
    better = optimise(_COPY, judge, Assembler(None, "sm_90a"))
    assert [each.patch.summary for each in better.redundant] == [
        "leave out the wait 'mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2+8], 0;'"
    ]
    assert "free:\n" in better.text
    assert "%p3" not in better.text


def test_a_wait_stays_whose_loop_does_something_else(judge: TextJudge) -> None:
    counting = _COPY.replace("    @!%p3 bra free;", "    add.u32 %r6, %r6, 1;\n    @!%p3 bra free;")
    assert _done(counting, judge) == []


def test_an_acquire_goes_where_the_wait_only_shows_that_reads_are_over(judge: TextJudge) -> None:
    better = optimise(_handed_over(_WAIT, _READ, _WRITE), judge, Assembler(None, "sm_90a"))
    assert [each.patch.summary for each in better.redundant] == [f"'{_RELAXED}' instead of '{_WAIT}'"]
    assert "execution alone orders the writes behind it" in better.redundant[0].assumption
    assert f"{_RELAXED} %p2, [%r2], 0;" in better.text


@pytest.mark.parametrize("after", [_READ, "st.shared.b32 [%r6], %r1;"])
def test_an_acquire_stays_where_others_have_written(judge: TextJudge, after: str) -> None:
    assert _done(_handed_over(_WAIT, _WRITE, after), judge) == []


def test_what_the_version_does_not_have_is_not_tried(judge: TextJudge) -> None:
    old = _handed_over(_WAIT, _READ, _WRITE).replace(".version 8.6", ".version 8.5")
    assert _done(old, judge) == []


def test_a_scope_is_narrowed_to_the_cta_that_wrote(judge: TextJudge) -> None:
    wide = _WAIT.replace(".parity", ".parity.acquire.cluster")
    narrow = _WAIT.replace(".parity", ".parity.acquire.cta")
    assert _done(_handed_over(wide, _WRITE, _READ), judge) == [f"'{narrow}' instead of '{wide}'"]


def test_a_scope_stays_where_another_cta_wrote(judge: TextJudge) -> None:
    text = (_PROTOCOLS / "cluster" / "tells_its_peer.ptx").read_text()
    assert not any("try_wait" in each for each in _done(text, judge))


def test_a_scope_stays_where_copies_reach_other_ctas(judge: TextJudge) -> None:
    text = (_PROTOCOLS / "cluster" / "st_async.ptx").read_text()
    wide = text.replace("try_wait.parity.shared", "try_wait.parity.acquire.cluster.shared")
    assert wide != text
    assert not any("try_wait" in each for each in _done(wide, judge))


def test_a_cluster_barrier_becomes_one_of_the_cta(judge: TextJudge) -> None:
    body = _WRITE + "\n    " + _BOTH + _REMOTE + _BOTH + _WRITE + "\n    " + _BOTH + _READ
    assert _done(_kernel(body, 2), judge) == [f"'bar.sync 0;' instead of '{_ARRIVE}' and '{_MEETING}'"]
    apart = body.replace(".aligned", "")
    assert _done(_kernel(apart, 2), judge)[0].startswith("'barrier.sync 0;' instead of")


def test_the_first_cluster_barrier_stays_where_others_are_reached(judge: TextJudge) -> None:
    """It shows that the other CTA runs, which the machine does not look at."""
    assert _tried(_kernel(_BOTH + _REMOTE + _BOTH, 2), judge) == [_ARRIVE]
    assert _tried(_kernel(_BOTH + _READ + "\n    " + _BOTH, 2), judge) == [_ARRIVE, _ARRIVE]


def test_a_cluster_barrier_stays_where_another_cta_is_read(judge: TextJudge) -> None:
    body = _WRITE + "\n    " + _BOTH + _REMOTE + _BOTH
    assert _done(_kernel(body, 2), judge) == []


def test_a_second_cluster_barrier_in_a_row_goes(judge: TextJudge) -> None:
    body = _WRITE + "\n    " + _BOTH + _BOTH + _REMOTE + _BOTH
    better = optimise(_kernel(body, 2), judge, Assembler(None, "sm_90a"))
    assert [each.patch.summary for each in better.redundant] == [f"leave out '{_ARRIVE}' and '{_MEETING}'"]
    assert better.text.count(_ARRIVE) == 2


def test_a_cluster_of_unknown_size_keeps_its_barriers(judge: TextJudge) -> None:
    text = _kernel(_WRITE + "\n    " + _BOTH + _READ, 1).replace(" cluster=1", "")
    assert not any("cluster" in each for each in _tried(text, judge))


def test_a_fence_goes_where_the_arrival_releases(judge: TextJudge) -> None:
    fence = "fence.acq_rel.cluster;"
    body = _WRITE + f"\n    {fence}\n    " + _BOTH + _REMOTE + _BOTH
    assert _done(_kernel(body, 2), judge) == [f"leave out '{fence}'"]
    relaxed = body.replace(_ARRIVE, "barrier.cluster.arrive.relaxed.aligned;", 1)
    assert _done(_kernel(relaxed, 2), judge) == []


@pytest.mark.parametrize(
    ("words", "is_tried"),
    [
        (_READ, True),
        ("atom.global.add.u32 %r9, [%rd1], 1;", True),
        ("atom.shared.add.u32 %r9, [%r5], 1;", False),
        ("ld.volatile.shared.b32 %r9, [%r5];", False),
        ("ld.relaxed.cta.b32 %r9, [%rd1];", False),
    ],
)
def test_a_fence_stays_where_threads_may_signal_by_words(
    judge: TextJudge, words: str, is_tried: bool
) -> None:
    text = _handed_over(_WAIT, _WRITE + "\n    membar.cta;", words)
    assert ("membar.cta;" in _tried(text, judge)) == is_tried


@pytest.mark.parametrize(("scope", "is_tried"), [("cta", True), ("gpu", True), ("sys", False)])
def test_a_fence_for_other_devices_stays(judge: TextJudge, scope: str, is_tried: bool) -> None:
    fence = f"fence.acq_rel.{scope};"
    assert (fence in _tried(_handed_over(_WAIT, f"{_WRITE}\n    {fence}", _READ), judge)) == is_tried


def test_a_fence_of_initialisations_goes_where_no_copy_has_to_see_them(judge: TextJudge) -> None:
    fence = "fence.mbarrier_init.release.cluster;"
    fenced = _handed_over(_WAIT, _WRITE, _READ).replace("[%r2], 64;", f"[%r2], 64;\n    {fence}", 1)
    assert _done(fenced, judge) == [f"leave out '{fence}'"]
    assert fence in _NEEDED
    assert not any(fence in each for each in _tried(_NEEDED, judge))


@pytest.mark.parametrize(
    ("fence", "tried", "assumption"),
    [
        ("fence.proxy.async;", True, "accessed both by copies and by ordinary instructions"),
        ("fence.proxy.async.shared::cta;", True, ""),
        ("fence.proxy.async.global;", False, ""),
    ],
)
def test_what_a_proxy_fence_does_for_global_memory_is_said(
    judge: TextJudge, fence: str, tried: bool, assumption: str
) -> None:
    text = _NEEDED.replace("    ld.param.u64 %rd2", f"    {fence}\n    ld.param.u64 %rd2")
    better = optimise(text, judge, Assembler(None, "sm_90a"))
    assert [each.patch.summary for each in better.redundant] == ([f"leave out '{fence}'"] if tried else [])
    assert all(assumption in each.assumption for each in better.redundant)
    assert bool(better.redundant and better.redundant[0].assumption) == bool(assumption)


def test_a_fence_that_only_the_isa_asks_for_stays(judge: TextJudge) -> None:
    """Released libraries leave it out, so that no verdict changes; a pedantic rule would."""
    fence = "fence.proxy.async.shared::cta;"
    text = _COPY.replace(
        "    mbarrier.arrive.shared::cta.b64 _, [%r2+8]",
        f"    {fence}\n    mbarrier.arrive.shared::cta.b64 _, [%r2+8]",
    )
    again = """    @%p1 bra kept;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 1024;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 1024, [%r2];
kept:
    mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], 1;
    @!%p3 bra kept;
"""
    assert _done(text.replace("    ld.param.u64 %rd2", again + "    ld.param.u64 %rd2"), judge) == []
    assert f"leave out '{fence}'" in _done(text, judge)


def test_a_statement_that_no_run_executes_is_left_alone(judge: TextJudge) -> None:
    never = _NEEDED.replace(
        "    ld.param.u64 %rd2", "    setp.eq.u32 %p3, %r1, 999;\n    @%p3 bar.sync 0;\n    ld.param.u64 %rd2"
    )
    assert not any("%p3" in each for each in _tried(never, judge))


def _tried(text: str, judge: TextJudge) -> list[str]:
    """Return the statements that are proposed, by the text that goes or changes."""
    view = next(iter(judge(text).views.values()))
    found = (each.patch.edits[0] for each in weakenings(view))
    places = dict.fromkeys((edit.start, edit.end) for edit in found)
    return [text[start:end] for start, end in places]


def test_a_kernel_that_is_not_proved_is_left_alone(judge: TextJudge) -> None:
    broken = _NEEDED.replace("_, [%r2], 1024", "_, [%r2], 2048")
    better = optimise(broken, judge, Assembler(None, "sm_90a"))
    assert (better.text, better.redundant) == (broken, ())
    assert "not proved" in better.skipped[0]


def test_that_the_effort_is_spent_is_said(judge: TextJudge) -> None:
    more = _NEEDED.replace("    ld.param.u64 %rd2", "    bar.sync 0;\n    ld.param.u64 %rd2")
    better = optimise(more, judge, Assembler(None, "sm_90a"), seconds=-1.0)
    assert (better.text, better.tried) == (more, 0)
    assert "the effort is spent" in better.skipped[0]


def test_the_command_names_the_evidence_that_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(_NEEDED.replace("_, [%r2], 1024", "_, [%r2], 2048"))
    loaded = "cuda" in sys.modules
    text = CliRunner().invoke(main, ["repair", str(path), "--unsafe"])
    assert "expect 1024 bytes instead of 2048" in text.output
    assert "evidence that is missing: results and time on hardware: no harness is given" in text.output
    table = json.loads(CliRunner().invoke(main, ["repair", str(path), "--unsafe", "--format", "json"]).output)
    assert table["validated"] is None
    assert table["hardware"] == {"missing": "results and time on hardware: no harness is given"}
    assert ("cuda" in sys.modules) == loaded
    assert CliRunner().invoke(main, ["repair", str(tmp_path / "no.ptx")]).exit_code == 2


def test_the_command_optimises(tmp_path: Path) -> None:
    path, out = tmp_path / "k.ptx", tmp_path / "better.ptx"
    path.write_text(_NEEDED.replace("    ld.param.u64 %rd2", "    bar.sync 0;\n    ld.param.u64 %rd2"))
    result = CliRunner().invoke(main, ["repair", str(path), "--optimise", "-o", str(out)])
    assert result.exit_code == 0
    assert "1 redundant of 3 tried" in result.output
    assert out.read_text().count("bar.sync") == 1
