"""Rounds of a loop that has no barrier: how often a thread goes round follows from its branch back."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.races.blocks import is_excluded
from ptxcheck.protocols.races.geometry import Geometry
from ptxcheck.protocols.races.kernel import Kernel
from ptxcheck.protocols.races.layout import layout_of
from ptxcheck.terms.effort import Effort
from ptxcheck.verdict import VerdictKind

from .test_judgement import DECLARED, judgement, races, view_of

BARRIER = "bar.sync 0;"


def rows(*, first: str, step: int, end: str) -> str:
    """Return a loop that goes round at least once, as compilers make them: rows of 33 words, the first %r3."""
    return f"""
    {first} and.b32 %r4, %r0, 31; shl.b32 %r5, %r4, 2;
    mad.lo.u32 %r6, %r3, 132, %r5; add.u32 %r6, %r6, %r20;
    ROUND:
    st.shared.u32 [%r6], %r0;
    add.u32 %r6, %r6, {132 * step}; add.u32 %r3, %r3, {step};
    setp.lt.s32 %p1, %r3, {end}; @%p1 bra ROUND;
    {BARRIER} ld.shared.u32 %r9, [%r20];
    """


OWN_ROWS = "shr.u32 %r3, %r0, 5;"


def test_rows_of_other_rounds_are_other_rows() -> None:
    assert races(rows(first=OWN_ROWS, step=4, end="24")) is VerdictKind.PROVED


def test_rows_that_a_warp_takes_over_from_another_race() -> None:
    assert races(rows(first=OWN_ROWS, step=2, end="24")) is VerdictKind.VIOLATED


def test_a_loop_that_never_goes_back_has_one_round() -> None:
    # All threads of a warp store to one row; with a second round they would meet those of the next warp.
    assert races(rows(first=OWN_ROWS, step=1, end="1")) is VerdictKind.PROVED


def test_a_loop_that_only_some_threads_repeat_is_no_loop_of_one_round() -> None:
    # Row 0 goes on to row 1, which is that of the next warp.
    assert races(rows(first=OWN_ROWS, step=1, end="2")) is VerdictKind.VIOLATED


@pytest.mark.parametrize("product", ["mul.lo.s64 %rd5, %rd4, %rd4;", "div.s64 %rd5, %rd4, %rd3;"])
def test_guards_that_multiply_unknown_numbers_do_not_hide_whose_rows_they_are(product: str) -> None:
    guarded = rows(first=OWN_ROWS, step=4, end="24").replace(
        "st.shared", "setp.lt.s64 %p2, %rd5, %rd2; @%p2 st.shared"
    )
    begun = f"""
    ld.param.u64 %rd1, [p]; ld.param.u32 %r10, [n]; cvt.s64.s32 %rd2, %r10; mov.u32 %r11, %ctaid.x;
    cvt.u64.u32 %rd3, %r11; add.s64 %rd4, %rd2, %rd3; {product}
    """
    assert judgement(begun + guarded).verdicts()[0].kind is VerdictKind.PROVED


def test_a_block_that_the_kernel_asserts_not_to_have_is_not_taken() -> None:
    asserted = """
    mov.u32 %r10, %ntid.x; setp.eq.u32 %p3, %r10, 16; @%p3 bra FINE; trap;
    FINE: mov.u32 %r11, %tid.y; mad.lo.u32 %r12, %r11, 16, %r0; shl.b32 %r12, %r12, 2; add.u32 %r12, %r20, %r12;
    st.shared.u32 [%r12], %r0; bar.sync 0; ld.shared.u32 %r13, [%r20];
    """
    view = view_of(f"{DECLARED} {asserted}", ".maxntid 256, 1, 1", "")
    layout = layout_of(view.function, view.module)
    for block, excluded in (((256, 1, 1), True), ((16, 16, 1), False)):
        assert is_excluded(Kernel(view.facts, layout, Geometry(block), Effort())) is excluded
