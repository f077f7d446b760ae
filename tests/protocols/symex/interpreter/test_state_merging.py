"""Branches that nothing depends on which records an event: copies that may be left out, registers of one side."""

from __future__ import annotations

import numpy as np
import pytest

from ptxcheck.protocols.proof.first.deciding import Question
from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import run
from tests.protocols.verifying import kind, verified

OPEN_PREDICATE = """
    mov.u32 %r9, %tid.x; ld.param.u32 %r5, [n]; ld.param.u64 %rd1, [p]; mov.u32 %r1, smem; shl.b32 %r2, %r9, 2;
    add.u32 %r3, %r1, %r2; mul.hi.u32 %r6, %r9, %r5; add.u32 %r7, %r6, %r5; setp.lt.u32 %p1, %r7, 40;
"""
"""A predicate that differs between threads, of which nothing is known."""
OPTIONAL_COPIES = {
    "guard": "@%p1 cp.async.ca.shared.global [%r3], [%rd1], 4;",
    "branch": "@!%p1 bra N; add.u32 %r4, %r3, 64; cp.async.ca.shared.global [%r4], [%rd1], 4; N:",
}


@pytest.mark.parametrize("copy", list(OPTIONAL_COPIES.values()), ids=list(OPTIONAL_COPIES))
def test_nothing_is_decided_for_a_copy(copy: str) -> None:
    ran = run(OPEN_PREDICATE + copy + "cp.async.commit_group; mbarrier.init.shared.b64 [%r1], 1;")
    (event,) = ran.events("cp.async.ca")
    assert not ran.questions
    assert not event.certain
    assert event.threads == (1 << 128) - 1


def test_threads_that_surely_make_no_copy_are_not_among_them() -> None:
    """The predicate of the copy comes from a branch that only thread 0 may take."""
    ran = run(
        OPEN_PREDICATE
        + "setp.ne.u32 %p2, %r9, 0; setp.gt.u32 %p3, %r5, 9; or.pred %p4, %p2, %p3; mov.pred %p5, 0;"
        "@%p4 bra S; setp.lt.u32 %p5, %r5, 5; S: not.pred %p6, %p5; @%p6 bra N;"
        "cp.async.ca.shared.global [%r3], [%rd1], 4; N: cp.async.commit_group; mbarrier.init.shared.b64 [%r1], 1;"
    )
    (event,) = ran.events("cp.async.ca")
    assert not ran.questions
    assert event.threads == 1


def test_a_copy_that_all_threads_make_is_certain() -> None:
    ran = run(OPEN_PREDICATE + "cp.async.ca.shared.global [%r3], [%rd1], 4; cp.async.commit_group;")
    assert [event.certain for event in ran.events("cp.async.ca")] == [True]


def test_a_branch_to_more_than_copies_is_decided() -> None:
    body = (
        OPEN_PREDICATE + "setp.lt.u32 %p1, %r5, 40; @!%p1 bra N; cp.async.ca.shared.global [%r3], [%rd1], 4;"
    )
    ran = run(body + "cp.async.commit_group; N: mbarrier.init.shared.b64 [%r1], 1;")
    assert len(ran.questions) == 1


COPY_READ_BY_ANOTHER_WARP = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 source_in, .param .u32 length_in)
.reqntid 64
{{
    .shared .align 8 .b64 full;
    .shared .align 16 .b8 tile[256];
    .reg .pred leads, inside;
    .reg .b32 thread, at, length, slot, word;
    .reg .b64 source;
    mov.u32 thread, %tid.x;
    setp.eq.u32 leads, thread, 0;
    @leads mbarrier.init.shared.b64 [full], 64;
    ld.param.u64 source, [source_in];
    ld.param.u32 length, [length_in];
    shl.b32 at, thread, 2;
    mov.u32 slot, tile;
    add.u32 slot, slot, at;
    setp.lt.u32 inside, thread, length;
    @inside cp.async.ca.shared.global [slot], [source], 4;
    {wait}
    bar.sync 0;
    xor.b32 at, thread, 32;
    shl.b32 at, at, 2;
    mov.u32 slot, tile;
    add.u32 slot, slot, at;
    ld.shared.u32 word, [slot];
    ret;
}}
"""


def test_copies_that_may_be_left_out_are_waited_for() -> None:
    result = verified(COPY_READ_BY_ANOTHER_WARP.format(wait="cp.async.wait_all;"))
    assert kind(result, Property.SLOT_SAFETY) in (VerdictKind.PROVED, VerdictKind.ASSUMES)


def test_else_they_may_meet_what_reads_the_bytes() -> None:
    assert (
        kind(verified(COPY_READ_BY_ANOTHER_WARP.format(wait="")), Property.SLOT_SAFETY) is VerdictKind.UNKNOWN
    )


COPY_OF_ALL_THREADS_OR_NONE = COPY_READ_BY_ANOTHER_WARP.replace(
    "setp.lt.u32 inside, thread, length;", "setp.lt.u32 inside, length, 40;"
)


def test_what_all_threads_copy_or_none_is_decided_where_it_matters() -> None:
    assert (
        kind(verified(COPY_OF_ALL_THREADS_OR_NONE.format(wait="")), Property.SLOT_SAFETY)
        is VerdictKind.VIOLATED
    )


def test_nothing_is_decided_of_copies_that_are_waited_for() -> None:
    result = verified(COPY_OF_ALL_THREADS_OR_NONE.format(wait="cp.async.wait_all;"))
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.PROVED
    assert result.runs == 1


def test_what_both_sides_give_a_register_alike_is_known_behind_them() -> None:
    ran = run(
        OPEN_PREDICATE
        + "@%p1 bra A; mov.u32 %r8, 24; cp.async.ca.shared.global [%r3], [%rd1], 4; bra B; A: mov.u32 %r8, 24;"
        "B: cp.async.commit_group; add.u32 %r8, %r8, %r1; mbarrier.init.shared.b64 [%r8], 1;"
    )
    assert not ran.questions
    assert ran.operands("mbarrier.init", "addr") == [1024 + 24]


WRITTEN_ON_ONE_SIDE = """
ld.param.u32 %r1, [n];
ld.param.u32 %r2, [m];
mov.u32 %r9, smem;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra AROUND;
setp.eq.u32 %p2, %r2, 7;
selp.u32 %r3, 8, 16, %p2;
AROUND:
setp.ne.u32 %p3, %r1, 0;
@%p3 bra END;
add.u32 %r4, %r9, %r3;
mbarrier.init.shared.b64 [%r4], 1;
END:
"""


@pytest.mark.parametrize("is_seven", [True, False])
def test_what_one_side_writes_is_known_behind_the_branch(is_seven: bool) -> None:
    """Where n is zero the register was written, and the barrier is at one of two places."""

    def choose(question: Question) -> bool:
        ((name, factor),) = question.condition.form.terms
        number = {"n": 0, "m": 7 if is_seven else 5}[str(name[1])]
        return (
            question.condition.holds(factor * number + question.condition.form.constant) == question.positive
        )

    ran = run(WRITTEN_ON_ONE_SIDE, choose=choose)
    (start,) = ran.operands("mbarrier.init", "addr")
    assert isinstance(start, int)
    assert start % 1024 == (8 if is_seven else 16)


WORDS = """
.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u32 rounds) .reqntid 64
{
    .shared .align 8 .b64 both;
    .shared .b32 words[2];
    .reg .pred again, ready, skip, mine, gone;
    .reg .b32 thread, warp, n, step, sum, word, at;
    ld.param.u32 n, [rounds];
    mov.u32 thread, %tid.x;
    shr.u32 warp, thread, 5;
    setp.ne.u32 skip, thread, 0;
    @skip bra READY;
    mbarrier.init.shared::cta.b64 [both], 64;
READY:
    bar.sync 0;
    setp.eq.u32 mine, warp, 0;
    mov.u32 at, words;
    @mine bra GO;
    add.u32 at, at, OFFSET;
    setp.eq.u32 gone, n, 77;
    @gone bra DROP;
GO:
    mov.u32 sum, 1;
    mov.u32 step, 0;
SPIN:
    ld.shared.u32 word, [at];
    mad.lo.u32 sum, sum, 3, word;
    add.u32 step, step, 1;
    setp.lt.u32 again, sum, n;
    @again bra SPIN;
    setp.ne.u32 skip, sum, 70000;
    @skip bra END;
    mbarrier.arrive.shared::cta.b64 _, [both];
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 ready, [both], 0;
    @!ready bra WAIT;
END:
    ret;
DROP:
    mbarrier.arrive_drop.shared::cta.b64 _, [both];
    ret;
}
"""
"""Two warps come apart to a loop whose sum decides whether they meet."""


@pytest.mark.parametrize(("offset", "verdict"), [(0, VerdictKind.ASSUMES), (4, VerdictKind.UNKNOWN)])
def test_a_loop_that_begins_with_other_numbers_leaves_other_numbers(
    offset: int, verdict: VerdictKind
) -> None:
    """Of one word, that both warps read the same is an assumption; of two words nothing says so."""
    result = verified(WORDS.replace("OFFSET", str(offset)))
    assert kind(result, Property.DEADLOCK_FREEDOM) is verdict


def test_where_code_behind_an_open_branch_reads_is_computed() -> None:
    """The address is made behind the branch, which differs between threads."""
    ran = run(
        OPEN_PREDICATE + "@%p1 bra N; add.u32 %r4, %r3, 64; ld.shared.u32 %r8, [%r4];"
        "N: bar.sync 0; mbarrier.init.shared.b64 [%r1], 1;",
        accesses=True,
    )
    (access,) = [event.access for event in ran.trace.events if event.access is not None]
    assert not ran.questions
    assert not access.certain
    assert isinstance(access.address, np.ndarray)
    assert int(access.address[3]) == 1024 + 64 + 12


ROWS_OF_A_TILE = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u32 rows, .param .u64 p) .reqntid 64
{{
    .shared .align 16 .b8 tile[256];
    .reg .pred %p<4>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x; mov.u32 %r2, tile; shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r2; ld.param.u32 %r4, [rows];
    st.shared.u32 [%r3], %r1;
    {before}
    setp.ge.s32 %p1, %r1, %r4; @%p1 bra OUTSIDE;
    xor.b32 %r5, %r3, 128; ld.shared.u32 %r6, [%r5]; ld.param.u64 %rd1, [p]; st.global.u32 [%rd1], %r6;
OUTSIDE:
    {behind}
    st.shared.u32 [%r3], %r1;
    bar.sync 1, 64;
    ret;
}}
"""


@pytest.mark.parametrize(("before", "behind"), [("", "bar.sync 1, 64;"), ("bar.sync 1, 64;", "")])
def test_rows_that_may_be_read_race_where_a_barrier_is_missing(before: str, behind: str) -> None:
    right = verified(ROWS_OF_A_TILE.format(before="bar.sync 1, 64;", behind="bar.sync 1, 64;"))
    assert kind(right, Property.SLOT_SAFETY) is VerdictKind.PROVED
    wrong = verified(ROWS_OF_A_TILE.format(before=before, behind=behind))
    assert kind(wrong, Property.SLOT_SAFETY) in (VerdictKind.UNKNOWN, VerdictKind.VIOLATED)
