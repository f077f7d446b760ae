"""Proxy fences that are missing at several places are put in at once, by the threads that write."""

from __future__ import annotations

import pytest

from ptxcheck.config import Config
from ptxcheck.patching.judge import TextJudge
from ptxcheck.repair.edits import apply_edits
from ptxcheck.repair.gate import is_proved
from ptxcheck.repair.patch import Patch
from ptxcheck.repair.search import repair
from ptxcheck.repair.strategies.fences_everywhere import fence_everywhere
from ptxcheck.repair.subject import subject_of
from ptxcheck.repair.weighing import Assembler
from ptxcheck.rules import RULES, select_rules

_FENCE = "fence.proxy.async.shared::cta;"
_TWO_TILES = """// ptxcheck: launch block=96 cluster=1
.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 result, .param .u32 flag) .reqntid 96 {{
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .reg .pred %p<4>;
    .shared .align 128 .b8 tile[1024];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    shl.b32 %r3, %r1, 2;
    add.u32 %r3, %r3, %r2;
    ld.param.u64 %rd1, [result];
    ld.param.u32 %r4, [flag];
    setp.ge.u32 %p1, %r1, 64;
    @%p1 bra copier;
    st.shared.u32 [%r3], %r1;
    {first}
    bar.arrive 1, 96;
    st.shared.u32 [%r3+512], %r1;
    setp.eq.u32 %p3, %r4, 0;
    @%p3 bra none;
    st.shared.u32 [%r3+256], %r1;
none:
    {second}
    bar.arrive 2, 96;
    ret;
copier:
    setp.ne.u32 %p2, %r1, 64;
    bar.sync 1, 96;
    @%p2 bra behind;
    cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 256;
behind:
    bar.sync 2, 96;
    @%p2 bra done;
    cp.async.bulk.global.shared::cta.bulk_group [%rd1+512], [%r2+512], 256;
    cp.async.bulk.global.shared::cta.bulk_group [%rd1+256], [%r2+256], 256;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
done:
    ret;
}}
"""
_RIGHT, _BAD = (_TWO_TILES.format(first=each, second=each) for each in (_FENCE, ""))


@pytest.fixture(scope="module")
def judge() -> TextJudge:
    config = Config()
    rules = select_rules(RULES, config.select, config.ignore, pedantic=False, possible=False)
    return TextJudge("k.ptx", rules, config)


def _proposed(judge: TextJudge, text: str) -> list[Patch]:
    state = judge(text)
    target = next(each for each in state.findings if each.rule == "PX020")
    return list(fence_everywhere(subject_of(state.views["k"], target)))


def test_each_writer_has_its_fence_in_front_of_where_it_lets_others_go_on(judge: TextJudge) -> None:
    patch, _ = _proposed(judge, _BAD)
    assert patch.summary == f"insert '{_FENCE}' at 2 places"
    assert apply_edits(_BAD, patch.edits).split() == _RIGHT.split()


def test_one_patch_repairs_all_and_is_proved(judge: TextJudge) -> None:
    assert is_proved(judge(_RIGHT), "k")
    outcome = repair(_BAD, judge, Assembler(None, "sm_90a"))
    (done,) = outcome.repairs
    assert [each.strategy for each in done.patches] == ["fences everywhere"]
    assert outcome.left == ()
    after = TextJudge("k.ptx", judge.rules, judge.config)(outcome.text)
    assert after.findings == ()
    assert is_proved(after, "k")


def test_what_is_right_is_left_alone(judge: TextJudge) -> None:
    assert repair(_RIGHT, judge, Assembler(None, "sm_90a")).text == _RIGHT


@pytest.mark.parametrize(("first", "second"), [(_FENCE, ""), ("", _FENCE)])
def test_one_place_alone_is_left_to_the_insertion_of_a_statement(
    judge: TextJudge, first: str, second: str
) -> None:
    assert _proposed(judge, _TWO_TILES.format(first=first, second=second)) == []


def test_each_way_behind_a_write_has_one(judge: TextJudge) -> None:
    """Threads that part behind the write come to a barrier on either way."""
    text = _BAD.replace(
        "    bar.arrive 1, 96;\n",
        "    setp.eq.u32 %p3, %r4, 1;\n    @%p3 bra other;\n    bar.arrive 1, 96;\n    bra met;\n"
        "other:\n    bar.arrive 1, 96;\nmet:\n",
    )
    patch, _ = _proposed(judge, text)
    assert len(patch.edits) == 3
    assert judge(apply_edits(text, patch.edits)).findings == ()
