"""Values that threads receive through shared memory: who holds one value answers alike, and nobody else does."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.mutation.judge import launched
from ptxcheck.protocols.product.for_all import Open, Shown
from ptxcheck.protocols.verify import shown_for_every_count
from ptxcheck.source import Source

PROTOCOLS = Path(__file__).parents[3] / "corpus" / "protocols"
FOLDERS = {"told_in_both_ctas": "cluster"}


def shown(kernel: str, *edits: tuple[str, str]) -> Shown | Open:
    folder = PROTOCOLS / FOLDERS.get(kernel, "persistent")
    text = (folder / f"{kernel}.ptx").read_text(encoding="utf-8")
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return shown_for_every_count(*launched(Source("k.ptx", text), kernel), seconds=6.0)


def test_two_roles_go_on_by_one_value() -> None:
    found = shown("tiles_for_two_roles")
    assert isinstance(found, Shown)
    assert found.states <= 6


LOAD = "    ld.shared.u32 mine, [tile];\n    setp.ge.u32 has_work, mine, all;\n    @has_work bra END;\n"
RELEASE = "    mbarrier.arrive.shared::cta.b64 _, [taken];\n"


@pytest.mark.parametrize(
    "edits",
    [
        [("    mov.u32 phase, 1;\n", "    mov.u32 phase, 1;\n    @worker sub.u32 all, all, 1;\n")],
        [(LOAD + RELEASE, RELEASE + LOAD)],
        [(LOAD, "    ld.shared.u32 mine, [tile];\n    setp.gt.u32 has_work, mine, all;\n    @has_work bra END;\n")],
        [("    setp.lt.u32 has_work, mine, all;\n", "    setp.le.u32 has_work, mine, all;\n")],
        [(RELEASE, "")],
        [("    .shared .align 4 .b32 tile;\n", "    .shared .align 4 .b32 tile;\n    .shared .align 4 .b32 own;\n"),
         (LOAD, LOAD.replace("[tile]", "[own]"))],
    ],
    ids=["another bound", "released first", "another relation", "one more", "never released", "another word"],
)  # fmt: skip
def test_nothing_is_shown_where_roles_do_not_go_by_one_value(edits: list[tuple[str, str]]) -> None:
    assert isinstance(shown("tiles_for_two_roles", *edits), Open)


def test_two_reads_of_one_value_are_one() -> None:
    """The value is read once more, and what is read then decides."""
    again = "    ld.shared.u32 mine, [tile];\n" + LOAD
    assert isinstance(shown("tiles_for_two_roles", (LOAD, again)), Shown)


def test_a_value_that_was_read_a_round_ago_is_another_one() -> None:
    """The worker decides by what it has read in the round before."""
    late = "    mov.u32 phase, mine;\n" + LOAD.replace("has_work, mine", "has_work, phase")
    found = shown(
        "tiles_for_two_roles",
        ("    @worker bra WORK;\n", "    mov.u32 mine, 0;\n    @worker bra WORK;\n"),
        (LOAD, late),
    )
    assert isinstance(found, Open)


def test_the_answer_to_a_request_is_one_for_all_threads() -> None:
    found = shown("launch_control")
    assert isinstance(found, Shown)
    assert found.states <= 4


def test_nobody_asks_behind_an_answer_that_nobody_looks_at() -> None:
    found = shown(["launch_control", "asks_by_count"][0], ("    @has_work bra ROUND;\n", "    bra ROUND;\n"))
    assert isinstance(found, Open)


COMPARE = "    setp.gt.u32 go_on, n, step;\n"


def test_a_word_that_lanes_tell_several_ctas_is_one_value() -> None:
    found = shown("told_in_both_ctas")
    assert isinstance(found, Shown)
    assert found.states <= 4


@pytest.mark.parametrize(
    "edits",
    [
        [(COMPARE, "    add.u32 word, step, lane;\n    setp.gt.u32 go_on, n, word;\n")],
        [(COMPARE, "    ld.volatile.shared.u32 word, [said];\n    setp.gt.u32 go_on, n, word;\n"),
         ("    .shared .align 4 .b32 more;\n", "    .shared .align 4 .b32 more;\n    .shared .align 4 .b32 said;\n")],
        [(COMPARE, "    ld.global.u32 word, [where];\n    setp.gt.u32 go_on, n, word;\n"),
         (".param .u32 tiles)", ".param .u32 tiles, .param .u64 counter)"),
         ("    ld.param.u32 n, [tiles];\n",
          "    .reg .b64 where;\n    ld.param.u64 where, [counter];\n    ld.param.u32 n, [tiles];\n")],
        [("    setp.eq.u32 go_on, word, 0;\n", "    setp.eq.u32 go_on, word, rank;\n")],
    ],
    ids=["a number of each lane", "a word of shared memory", "a word of global memory", "another question"],
)  # fmt: skip
def test_words_that_may_differ_between_lanes_are_no_one_value(edits: list[tuple[str, str]]) -> None:
    assert isinstance(shown("told_in_both_ctas", *edits), Open)


TWO_WORDS = """// ptxcheck: launch block=96 cluster=1
.version 8.6
.target sm_90a
.address_size 64

.visible .entry two_words(.param .u64 counter, .param .u32 tiles)
{
    .shared .align 8 .b64 told[2];
    .shared .align 8 .b64 taken[2];
    .shared .align 4 .b32 tile;
    .reg .pred ready, first, worker, has_work;
    .reg .b32 thread, parity, phase, next, mine, all, warp, own, back;
    .reg .b64 where;

    ld.param.u64 where, [counter];
    ld.param.u32 all, [tiles];
    cvta.to.global.u64 where, where;
    mov.u32 thread, %tid.x;
    shr.u32 warp, thread, 5;
    shl.b32 warp, warp, 3;
    setp.eq.u32 first, thread, 64;
    setp.lt.u32 worker, thread, 64;
    @!first bra READY;
    mbarrier.init.shared::cta.b64 [told], 1;
    mbarrier.init.shared::cta.b64 [taken], 32;
    mbarrier.init.shared::cta.b64 [told+8], 1;
    mbarrier.init.shared::cta.b64 [taken+8], 32;
READY:
    bar.sync 0;
    @worker bra WORK;
    @!first bra END;
    ld.global.u32 next, [where];
    st.shared.u32 [tile], next;
    mbarrier.arrive.shared::cta.b64 _, [told];
TAKE:
    mbarrier.try_wait.parity.shared::cta.b64 ready, [taken], 0;
    @!ready bra TAKE;
    ld.global.u32 next, [where+4];
    st.shared.u32 [tile], next;
    mbarrier.arrive.shared::cta.b64 _, [told+8];
    bra END;
WORK:
    mov.u32 own, told;
    add.u32 own, own, warp;
    mov.u32 back, taken;
    add.u32 back, back, warp;
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 ready, [own], 0;
    @!ready bra WAIT;
    ld.shared.u32 mine, [tile];
    mbarrier.arrive.shared::cta.b64 _, [back];
    setp.lt.u32 has_work, mine, all;
    @!has_work bra END;
    bar.sync 1, 64;
END:
    ret;
}
"""


def test_threads_that_do_alike_may_read_different_values() -> None:
    """The two workers run one code, and the word is another one by the time that the second one reads it."""
    found = shown_for_every_count(*launched(Source("k.ptx", TWO_WORDS), "two_words"), seconds=6.0)
    assert isinstance(found, Open)
    once = TWO_WORDS.replace("    @!has_work bra END;\n    bar.sync 1, 64;\n", "")
    assert isinstance(
        shown_for_every_count(*launched(Source("k.ptx", once), "two_words"), seconds=6.0), Shown
    )


BRANCH = "    setp.lt.u32 has_work, mine, all;\n"
LOOP = """    mov.u32 next, 0;
    mov.u32 phase, 0;
SUM:
    mad.lo.u32 phase, phase, 3, mine;
    add.u32 next, next, 1;
    setp.lt.u32 ready, next, all;
    @ready bra SUM;
    setp.lt.u32 has_work, phase, all;
"""


@pytest.mark.parametrize(
    "made",
    ["    add.u32 mine, mine, 3;\n    dp4a.u32.u32 mine, mine, mine, all;\n" + BRANCH, LOOP],
    ids=["an operation that is not followed", "a loop that is not followed"],
)
def test_what_is_made_of_different_values_may_differ(made: str) -> None:
    assert TWO_WORDS.count(BRANCH) == 1
    text = TWO_WORDS.replace(BRANCH, made)
    assert isinstance(shown_for_every_count(*launched(Source("k.ptx", text), "two_words"), seconds=6.0), Open)
