"""A load from a place that a predicate chose is the same symbol as one from there without a choice."""

from __future__ import annotations

import pytest

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
