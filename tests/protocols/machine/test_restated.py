"""A load from a place that a predicate chose is the same symbol as one from there without a choice."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from ptxcheck.protocols.symex.values.symbol import ImpossibleError

from .running import run

PLACES = """
    ld.param.u32 %r1, [n]; ld.param.u64 %rd1, [p]; add.s64 %rd2, %rd1, 64;
    setp.eq.s32 %p1, %r1, 7; selp.b64 %rd3, %rd2, %rd1, %p1; ld.global.u32 %r2, [%rd3];
"""
CHOSEN = "@%p1 bar.sync 1, 128;"
FIRST = "{operation} setp.eq.{type} %p2, %r3, 0{zero}; @%p2 bar.sync 2, 128;"
AGAIN = """
    @%p1 bra OTHER; ld.global.u32 %r2, [%rd1]; bar.sync 3, 128; bra HERE;
    OTHER: ld.global.u32 %r2, [%rd2]; bar.sync 4, 128; bra HERE;
    HERE: {operation} setp.eq.{type} %p3, %r3, 0{zero}; @%p3 bar.sync 5, 128;
"""
AS_IT_IS = {"operation": "mov.b32 %r3, %r2;", "type": "s32", "zero": ""}
SCALED = {"operation": "mul.f32 %r3, %r2, %r1;", "type": "f32", "zero": "f00000000"}


DEEP = AS_IT_IS | {
    "operation": "mov.b32 %r3, %r2; ld.global.u32 %r9, [%rd1+128];" + 30 * "shr.u32 %r3, %r3, %r9;"
}
MIXED = "selp.b32 %r3, %r2, 0, %p1; setp.eq.s32 %p2, %r3, 0; @%p2 bar.sync 2, 128;"


@pytest.mark.parametrize("how", [AS_IT_IS, SCALED, DEEP])
@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("answer", [True, False])
def test_a_choice_inside_a_load_is_made_when_it_is_decided(
    how: dict[str, str], is_first: bool, answer: bool
) -> None:
    """`is_first`: the choice is decided before what is loaded there is."""
    load = FIRST.format(**how)
    ran = run(PLACES + (CHOSEN + load if is_first else load + CHOSEN) + AGAIN.format(**how), choose=answer)
    assert len(ran.questions) == 2
    assert len(ran.events("bar.sync")) == 1 + 3 * answer


def test_a_choice_inside_a_load_is_made_where_the_same_question_asks_for_it() -> None:
    ran = run(PLACES + MIXED + AGAIN.format(**AS_IT_IS), choose=True)
    assert len(ran.questions) == 2


def test_a_load_from_another_place_is_another_symbol() -> None:
    elsewhere = AGAIN.replace("[%rd1]", "[%rd1+4]").replace("[%rd2]", "[%rd2+4]")
    ran = run(PLACES + CHOSEN + FIRST.format(**AS_IT_IS) + elsewhere.format(**AS_IT_IS), choose=True)
    assert len(ran.questions) == 3


SECOND = """
    ld.param.u32 %r1, [n]; ld.param.u64 %rd1, [p]; ld.global.u32 %r2, [%rd1];
    setp.eq.s32 %p1, %r1, %r2; @%p1 bar.sync 1, 128;
    mul.wide.s32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2; ld.global.u32 %r3, [%rd2+64];
    setp.lt.s32 %p2, %r3, 1; @%p2 bar.sync 2, 128;
    mul.wide.s32 %rd3, %r2, 4; add.s64 %rd3, %rd1, %rd3; ld.global.u32 %r4, [%rd3+64];
    setp.lt.s32 %p3, %r4, 1; @%p3 bar.sync 3, 128;
"""


@pytest.mark.parametrize("answer", [True, False])
def test_what_is_loaded_from_places_that_were_decided_to_be_one_is_one_number(answer: bool) -> None:
    ran = run(SECOND, choose=answer)
    assert len(ran.questions) == 3 - answer
    assert len(ran.events("bar.sync")) == 3 * answer


@pytest.mark.parametrize("is_alike", [True, False])
def test_equal_numbers_are_one_in_what_was_decided_before(is_alike: bool) -> None:
    """What is loaded from two places was decided to be different, or not; then the places are one."""
    first = "setp.eq.s32 %p1, %r1, %r2; @%p1 bar.sync 1, 128;"
    text = SECOND.replace(first, "") + first
    answers = iter((True, is_alike, True))
    with nullcontext() if is_alike else pytest.raises(ImpossibleError):
        assert len(run(text, choose=lambda _: next(answers)).events("bar.sync")) == 3
