"""Each strategy: what it makes of a kernel that lacks one thing, and what it leaves alone."""

from __future__ import annotations

import pytest

from ptxcheck.config import Config
from ptxcheck.patching.judge import TextJudge
from ptxcheck.repair.gate import is_proved
from ptxcheck.repair.search import repair
from ptxcheck.repair.strategies.legal_value import legal_values
from ptxcheck.repair.weighing import Assembler, Outcome, Safety
from ptxcheck.rules import RULES, select_rules

_COPY = """// ptxcheck: launch block=64 cluster=1
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 source, .param .u64 result) .reqntid 64 {
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .reg .pred %p<4>;
    .shared .align 128 .b8 buffer[1024];
    .shared .align 8 .b64 bar[2];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, bar;
    mov.u32 %r3, buffer;
    ld.param.u64 %rd1, [source];
    cvta.to.global.u64 %rd1, %rd1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra ready;
    mbarrier.init.shared::cta.b64 [%r2], 1;
    mbarrier.init.shared::cta.b64 [%r2+8], 64;
    fence.mbarrier_init.release.cluster;
ready:
    bar.sync 0;
    @%p1 bra again;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 1024;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 1024, [%r2];
again:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
    @!%p2 bra again;
    mad.lo.s32 %r4, %r1, 4, %r3;
    ld.shared.b32 %r5, [%r4];
    mbarrier.arrive.shared::cta.b64 _, [%r2+8];
free:
    mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2+8], 0;
    @!%p3 bra free;
    ld.param.u64 %rd2, [result];
    cvta.to.global.u64 %rd2, %rd2;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd2, %rd2, %rd3;
    st.global.b32 [%rd2], %r5;
    ret;
}
"""

_MEET = """// ptxcheck: launch block=64 cluster=1
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 result) .reqntid 64 {
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .reg .pred %p<4>;
    .shared .align 16 .b32 word[32];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, word;
    mad.lo.s32 %r2, %r1, 4, %r2;
    setp.ge.u32 %p1, %r1, 32;
    @%p1 bra second;
    st.shared.b32 [%r2], %r1;
    bar.arrive 1, 64;
    bar.sync 2, 64;
    bra done;
second:
    bar.sync 1, 64;
    ld.shared.b32 %r3, [%r2+-128];
    bar.arrive 2, 64;
done:
    ret;
}
"""


@pytest.fixture(scope="module")
def judge() -> TextJudge:
    config = Config()
    rules = select_rules(RULES, config.select, config.ignore, pedantic=False, possible=False)
    return TextJudge("k.ptx", rules, config)


def _repaired(judge: TextJudge, text: str) -> Outcome:
    return repair(text, judge, Assembler(None, "sm_90a"))


def _squeezed(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def _strategies(outcome: Outcome) -> list[str]:
    return [patch.strategy for done in outcome.repairs for patch in done.patches]


@pytest.mark.parametrize("text", [_COPY, _MEET])
def test_what_is_right_is_left_alone(judge: TextJudge, text: str) -> None:
    assert is_proved(judge(text), "k")
    outcome = _repaired(judge, text)
    assert (outcome.text, outcome.repairs, outcome.left) == (text, (), ())


_INIT = "mbarrier.init.shared::cta.b64 [%r2], 1;"
_ARRIVE = "mbarrier.arrive.shared::cta.b64 _, [%r2+8];"


@pytest.mark.parametrize(
    ("right", "old", "new", "strategy"),
    [
        (_COPY, _INIT, f"{_INIT}\n    {_INIT}", "duplicate"),
        (_COPY, _ARRIVE, f"{_ARRIVE}\n    {_ARRIVE}", "duplicate"),
        (_COPY, "%p2, [%r2], 0", "%p2, [%r2+8], 0", "address"),
        (_COPY, "1024, [%r2];", "1024, [%r2+8];", "address"),
        (_COPY, "_, [%r2], 1024", "_, [%r2], 1040", "byte count"),
        (_COPY, "[%r2+8], 64", "[%r2+8], 63", "arrival count"),
        (_COPY, "[%r2+8], 64", "[%r2+8], 65", "arrival count"),
        (_COPY, "%p3, [%r2+8], 0", "%p3, [%r2+8], 1", "parity"),
        (_COPY, "ready:\n    bar.sync 0;", "ready:", "insertion"),
        (_MEET, "bar.sync 1, 64", "bar.sync 1, 96", "named barrier"),
        (_MEET, "bar.sync 2, 64", "bar.sync 3, 64", "named barrier"),
        (_MEET, "bar.sync 1, 64;\n", "bar.sync 1, 64;\n    bar.sync 1, 64;\n", "duplicate"),
    ],
)
def test_one_change_back(judge: TextJudge, right: str, old: str, new: str, strategy: str) -> None:
    assert right.count(old) == 1
    outcome = _repaired(judge, right.replace(old, new))
    assert outcome.left == ()
    assert _strategies(outcome) == [strategy]
    assert _squeezed(outcome.text) == _squeezed(right)


@pytest.mark.parametrize(
    ("right", "old", "new"),
    [
        (_COPY, "    mbarrier.init.shared::cta.b64 [%r2+8], 64;\n", ""),
        (_COPY, f"    {_INIT}\n", ""),
        (_COPY, "    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;\n    @!%p2 bra again;\n", ""),
        (_COPY, f"    {_ARRIVE}\n", ""),
        (_COPY, "    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 1024;\n", ""),
        (_MEET, "    bar.arrive 2, 64;\n", ""),
        (_MEET, "    bar.arrive 1, 64;\n", ""),
        (
            _MEET,
            "    st.shared.b32 [%r2], %r1;\n    bar.arrive 1, 64;",
            "    bar.arrive 1, 64;\n    st.shared.b32 [%r2], %r1;",
        ),
    ],
)
def test_what_got_lost_or_moved_is_proved_again(judge: TextJudge, right: str, old: str, new: str) -> None:
    assert right.count(old) == 1
    broken = right.replace(old, new)
    assert not is_proved(judge(broken), "k")
    outcome = _repaired(judge, broken)
    assert outcome.left == ()
    assert is_proved(judge(outcome.text), "k")


def test_a_legal_value_is_a_guess(judge: TextJudge) -> None:
    outcome = _repaired(judge, _COPY.replace("%p3, [%r2+8], 0", "%p3, [%r2+8], 2"))
    assert outcome.left == ()
    assert {done.safety for done in outcome.repairs} == {Safety.SUGGESTED}
    assert any("nothing tells that this is what was meant" in done.evidence for done in outcome.repairs)


@pytest.mark.parametrize(
    ("rule", "value", "near"),
    [
        ("MB001", 0, [1, 1048575]),
        ("MB010", 2, [1, 0]),
        ("BG001", 24, [32, 16]),
        ("NB002", 48, [64, 32]),
        ("TM001", 48, [64, 32]),
    ],
)
def test_legal_values_are_next_to_the_illegal_one(rule: str, value: int, near: list[int]) -> None:
    (legal,) = [each for each in legal_values() if rule in each.rules]
    assert legal.near(value) == near
