"""An arrival of threads that wait at the same counted barrier: it is left out, or only others arrive."""

from __future__ import annotations

import pytest

from ptxcheck.config import Config
from ptxcheck.patching.judge import TextJudge
from ptxcheck.repair.edits import apply_edits
from ptxcheck.repair.gate import is_proved
from ptxcheck.repair.patch import Patch
from ptxcheck.repair.search import repair
from ptxcheck.repair.strategies.counted_arrival import leave_out_counted_arrival
from ptxcheck.repair.subject import subject_of
from ptxcheck.repair.weighing import Assembler
from ptxcheck.rules import RULES, select_rules


def _kernel(threads: int, body: str) -> str:
    """Return a kernel whose threads store a word each, do `body`, and write what they have in `%r4`."""
    return f"""// ptxcheck: launch block={threads} cluster=1
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 result) .reqntid {threads} {{
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .reg .pred %p<4>;
    .shared .align 16 .b32 word[128];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, word;
    shl.b32 %r3, %r1, 2;
    add.u32 %r3, %r3, %r2;
    mov.u32 %r4, 0;
    shr.u32 %r5, %r1, 5;
    st.shared.u32 [%r3], %r1;
{body}
    mul.wide.u32 %rd1, %r1, 4;
    ld.param.u64 %rd2, [result];
    add.u64 %rd1, %rd1, %rd2;
    st.global.u32 [%rd1], %r4;
    ret;
}}
"""


def _swap(arrival: str) -> str:
    """Two warps, each of which reads what the other has stored."""
    return _kernel(
        64, f"{arrival}    bar.sync 1, 64;\n    xor.b32 %r6, %r3, 128;\n    ld.shared.u32 %r4, [%r6];"
    )


def _last_reads(arrival: str, count: int = 96, reader: int = 2) -> str:
    """Three warps, of which one waits for the others and reads what one of them has stored."""
    other = (reader + 1) % 3 - reader
    return _kernel(
        96,
        f"""    setp.ne.u32 %p1, %r5, {reader};
    {arrival}
    @%p1 bra done;
    bar.sync 1, {count};
    add.u32 %r6, %r3, {128 * other};
    ld.shared.u32 %r4, [%r6];
done:""",
    )


_SWAP, _SWAP_RIGHT = _swap("    bar.arrive 1, 64;\n"), _swap("")
_READ, _READ_RIGHT = _last_reads("bar.arrive 1, 96;"), _last_reads("@%p1 bar.arrive 1, 96;")


@pytest.fixture(scope="module")
def judge() -> TextJudge:
    config = Config()
    return TextJudge(
        "k.ptx", select_rules(RULES, config.select, config.ignore, pedantic=False, possible=False), config
    )


def _proposed(judge: TextJudge, text: str) -> dict[str, list[Patch]]:
    """Return the patches for each finding, by its rule."""
    state = judge(text)
    return {
        each.rule: list(leave_out_counted_arrival(subject_of(state.views["k"], each)))
        for each in state.findings
    }


@pytest.mark.parametrize(
    ("bad", "summary"),
    [
        (_SWAP, "leave out 'bar.arrive 1, 64;': the rest makes its count"),
        (_READ, "'bar.arrive' by warps 0 to 1 only"),
    ],
)
def test_what_is_repaired_so_is_proved(judge: TextJudge, bad: str, summary: str) -> None:
    assert judge(bad).findings
    outcome = repair(bad, judge, Assembler(None, "sm_90a"))
    (done,) = outcome.repairs
    assert [(each.strategy, each.summary) for each in done.patches] == [("counted arrival", summary)]
    after = TextJudge("k.ptx", judge.rules, judge.config)(outcome.text)
    assert after.findings == ()
    assert is_proved(after, "k")


@pytest.mark.parametrize("good", [_SWAP_RIGHT, _READ_RIGHT])
def test_what_is_right_is_left_alone(judge: TextJudge, good: str) -> None:
    assert is_proved(judge(good), "k")
    assert repair(good, judge, Assembler(None, "sm_90a")).text == good


def test_what_is_left_out_makes_the_right_kernel(judge: TextJudge) -> None:
    patches = _proposed(judge, _SWAP)
    assert set(patches) >= {"NB011", "SM020"}
    for (patch,) in patches.values():
        assert apply_edits(_SWAP, patch.edits).split() == _SWAP_RIGHT.split()


def test_of_two_arrivals_each_or_both_are_left_out(judge: TextJudge) -> None:
    """Two branches that both lead to the wait: one warp arrives in each of them."""
    text = _kernel(
        64,
        """    setp.eq.u32 %p1, %r5, 0;
    @%p1 bra first;
    bar.arrive 1, 64;
    bra meet;
first:
    bar.arrive 1, 64;
meet:
    bar.sync 1, 64;
    xor.b32 %r6, %r3, 128;
    ld.shared.u32 %r4, [%r6];""",
    )
    (patches, *_) = _proposed(judge, text).values()
    assert [each.summary.partition(":")[0] for each in patches] == [
        "leave out 'bar.arrive 1, 64;' and 1 more",
        "leave out 'bar.arrive 1, 64;'",
        "leave out 'bar.arrive 1, 64;'",
    ]
    outcome = repair(text, judge, Assembler(None, "sm_90a"))
    assert "bar.arrive" not in outcome.text
    assert is_proved(judge(outcome.text), "k")


@pytest.mark.parametrize(
    "bad",
    [
        # the wait alone does not make the count
        _kernel(64, "    bar.arrive 1, 96;\n    bar.sync 1, 96;\n    ld.shared.u32 %r4, [word];"),
        # who waits does not arrive: the count is wrong, not who comes
        _last_reads("@%p1 bar.arrive 1, 128;", count=128),
        # nor do they where a count of the waiting warp alone would be met without the arrivals
        _last_reads("@%p1 bar.arrive 1, 32;", count=32),
        # the count asks for more than come
        _last_reads("bar.arrive 1, 160;", count=160),
        # those who do not wait are warps 0 and 2, not in a row
        _last_reads("bar.arrive 1, 96;", reader=1),
        # both counts are asked for by somebody
        _swap("    bar.arrive 1, 96;\n"),
    ],
)
def test_nothing_is_said_where_the_rest_makes_no_count(judge: TextJudge, bad: str) -> None:
    patches = _proposed(judge, bad)
    assert patches
    assert not any(patches.values())


def test_other_findings_are_not_asked(judge: TextJudge) -> None:
    """The double initialisation is another fault of a kernel that has this one, too."""
    text = _SWAP.replace(
        "    st.shared.u32 [%r3], %r1;\n",
        "    st.shared.u32 [%r3], %r1;\n    setp.eq.u32 %p2, %r1, 0;\n"
        "    @%p2 mbarrier.init.shared::cta.b64 [word+256], 1;\n"
        "    @%p2 mbarrier.init.shared::cta.b64 [word+256], 1;\n",
    )
    patches = _proposed(judge, text)
    assert patches["NB011"]
    assert not any(found for rule, found in patches.items() if rule.startswith("MB"))
    assert any(rule.startswith("MB") for rule in patches)
