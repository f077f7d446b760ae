"""What follows from decisions: choices inside loads, places that are one, numbers of rounds."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from ptxcheck.protocols.symex.values.symbol import (
    ImpossibleError,
)
from tests.protocols.machine_runs import run

LOAD_FROM_A_CHOSEN_PLACE = """
    ld.param.u32 %r1, [n]; ld.param.u64 %rd1, [p]; add.s64 %rd2, %rd1, 64;
    setp.eq.s32 %p1, %r1, 7; selp.b64 %rd3, %rd2, %rd1, %p1; ld.global.u32 %r2, [%rd3];
"""
"""A load from a place that a predicate chose is the same symbol as one from there without a choice."""
BRANCH_ON_THE_CHOICE = "@%p1 bar.sync 1, 128;"
QUESTION_OF_THE_LOAD = "{operation} setp.eq.{type} %p2, %r3, 0{zero}; @%p2 bar.sync 2, 128;"
LOAD_WITHOUT_A_CHOICE = """
    @%p1 bra OTHER; ld.global.u32 %r2, [%rd1]; bar.sync 3, 128; bra HERE;
    OTHER: ld.global.u32 %r2, [%rd2]; bar.sync 4, 128; bra HERE;
    HERE: {operation} setp.eq.{type} %p3, %r3, 0{zero}; @%p3 bar.sync 5, 128;
"""
AS_IT_IS = {"operation": "mov.b32 %r3, %r2;", "type": "s32", "zero": ""}
SCALED = {"operation": "mul.f32 %r3, %r2, %r1;", "type": "f32", "zero": "f00000000"}
SHIFTED_OFTEN = AS_IT_IS | {
    "operation": "mov.b32 %r3, %r2; ld.global.u32 %r9, [%rd1+128];" + 30 * "shr.u32 %r3, %r3, %r9;"
}
CHOICE_IN_THE_QUESTION = "selp.b32 %r3, %r2, 0, %p1; setp.eq.s32 %p2, %r3, 0; @%p2 bar.sync 2, 128;"


@pytest.mark.parametrize("how", [AS_IT_IS, SCALED, SHIFTED_OFTEN])
@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("answer", [True, False])
def test_a_choice_inside_a_load_is_made_when_it_is_decided(
    how: dict[str, str], is_first: bool, answer: bool
) -> None:
    """`is_first`: the choice is decided before what is loaded there is."""
    load = QUESTION_OF_THE_LOAD.format(**how)
    ran = run(
        LOAD_FROM_A_CHOSEN_PLACE
        + (BRANCH_ON_THE_CHOICE + load if is_first else load + BRANCH_ON_THE_CHOICE)
        + LOAD_WITHOUT_A_CHOICE.format(**how),
        choose=answer,
    )
    assert len(ran.questions) == 2
    assert len(ran.events("bar.sync")) == 1 + 3 * answer


def test_a_choice_inside_a_load_is_made_where_the_same_question_asks_for_it() -> None:
    ran = run(
        LOAD_FROM_A_CHOSEN_PLACE + CHOICE_IN_THE_QUESTION + LOAD_WITHOUT_A_CHOICE.format(**AS_IT_IS),
        choose=True,
    )
    assert len(ran.questions) == 2


def test_a_load_from_another_place_is_another_symbol() -> None:
    elsewhere = LOAD_WITHOUT_A_CHOICE.replace("[%rd1]", "[%rd1+4]").replace("[%rd2]", "[%rd2+4]")
    ran = run(
        LOAD_FROM_A_CHOSEN_PLACE
        + BRANCH_ON_THE_CHOICE
        + QUESTION_OF_THE_LOAD.format(**AS_IT_IS)
        + elsewhere.format(**AS_IT_IS),
        choose=True,
    )
    assert len(ran.questions) == 3


LOADS_FROM_EQUAL_PLACES = """
    ld.param.u32 %r1, [n]; ld.param.u64 %rd1, [p]; ld.global.u32 %r2, [%rd1];
    setp.eq.s32 %p1, %r1, %r2; @%p1 bar.sync 1, 128;
    mul.wide.s32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2; ld.global.u32 %r3, [%rd2+64];
    setp.lt.s32 %p2, %r3, 1; @%p2 bar.sync 2, 128;
    mul.wide.s32 %rd3, %r2, 4; add.s64 %rd3, %rd1, %rd3; ld.global.u32 %r4, [%rd3+64];
    setp.lt.s32 %p3, %r4, 1; @%p3 bar.sync 3, 128;
"""


@pytest.mark.parametrize("answer", [True, False])
def test_what_is_loaded_from_places_that_were_decided_to_be_one_is_one_number(answer: bool) -> None:
    ran = run(LOADS_FROM_EQUAL_PLACES, choose=answer)
    assert len(ran.questions) == 3 - answer
    assert len(ran.events("bar.sync")) == 3 * answer


@pytest.mark.parametrize("is_alike", [True, False])
def test_equal_numbers_are_one_in_what_was_decided_before(is_alike: bool) -> None:
    """What is loaded from two places was decided to be different, or not; then the places are one."""
    first = "setp.eq.s32 %p1, %r1, %r2; @%p1 bar.sync 1, 128;"
    text = LOADS_FROM_EQUAL_PLACES.replace(first, "") + first
    answers = iter((True, is_alike, True))
    with nullcontext() if is_alike else pytest.raises(ImpossibleError):
        assert len(run(text, choose=lambda _: next(answers)).events("bar.sync")) == 3


@pytest.mark.parametrize(("turns", "barrier"), [(2, 16), (5, 16), (4, 8)])
def test_a_barrier_that_a_count_of_rounds_gives_is_one_number_in_a_run(turns: int, barrier: int) -> None:
    """Three barriers in turn; after `n` rounds the next one is `n mod 3`, by a magic number."""
    ran = run(
        """
        mov.u32 %r1, smem;
        mov.u32 %r2, 0;
        ld.param.u32 %r3, [n];
        LOOP: setp.ge.s32 %p1, %r2, %r3;
        @%p1 bra OUT;
        mbarrier.arrive.shared::cta.b64 _, [smem];
        add.u32 %r2, %r2, 1;
        bra LOOP;
        OUT: mul.hi.u32 %r4, %r3, 0xaaaaaaab;
        shr.u32 %r4, %r4, 1;
        mul.lo.u32 %r4, %r4, 3;
        sub.u32 %r4, %r3, %r4;
        shl.b32 %r4, %r4, 3;
        add.u32 %r4, %r1, %r4;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 16;
        """,
        threads=1,
        choose=lambda question: question.turns[-1] >= turns,
    )
    (place,) = ran.operands("mbarrier.arrive.expect_tx", "addr")
    first = ran.operands("mbarrier.arrive.shared", "addr")
    assert len(first) == turns
    assert isinstance(place, int)
    assert isinstance(first[0], int)
    assert place - first[0] == barrier
