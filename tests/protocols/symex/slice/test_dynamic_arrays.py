"""Arrays in dynamic shared memory at an index that nothing bounds: they end in front of the next mbarrier or copy."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.order.extents import _OPEN
from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.verifying import verified

KERNEL = """.version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 16 .b8 memory[];
.visible .entry kernel(.param .u64 places, .param .u32 count_in)
.reqntid 64
{{
    .reg .pred leads, more;
    .reg .b32 thread, index, at, place, word, count, turn;
    .reg .b64 where;
    mov.u32 thread, %tid.x;
    setp.eq.u32 leads, thread, 32;
    @leads mbarrier.init.shared.b64 [memory], 64;
    @leads mbarrier.init.shared.b64 [memory+512], 64;
    bar.sync 0;
    ld.param.u64 where, [places];
    ld.param.u32 count, [count_in];
    ld.global.u32 index, [where];
    {store}
    {between}
    mov.u32 place, memory;
    shl.b32 at, thread, 2;
    add.u32 place, place, at;
    ld.shared.u32 word, [place+{read}];
    ret;
}}
"""
ONE = """
    shl.b32 at, index, 2;
    mov.u32 place, memory;
    add.u32 place, place, at;
    @leads st.shared.u32 [place+64], index;"""
TWO = ONE + "\n    @leads st.shared.u32 [place+320], index;"
MANY = """
    mov.u32 place, memory;
    add.u32 place, place, {first};
    mov.u32 turn, 0;
FILL:
    @leads st.shared.u32 [place], index;
    add.u32 place, place, {step};
    add.u32 turn, turn, 1;
    setp.lt.u32 more, turn, count;
    @more bra FILL;"""


def slot_safety(store: str, read: int, between: str = "") -> tuple[VerdictKind, set[str]]:
    result = verified(KERNEL.format(store=store, read=read, between=between))
    kinds = {each.property: each.kind for each in result.verdicts()}
    provisos = result.provisos.get(Property.SLOT_SAFETY, set())
    return kinds[Property.SLOT_SAFETY], {each.text for each in provisos}


@pytest.mark.parametrize("store", [ONE, TWO, MANY.format(first=64, step=4)], ids=["one", "two", "pointer"])
def test_what_lies_behind_the_next_mbarrier_is_not_met(store: str) -> None:
    assert slot_safety(store, 1024) == (VerdictKind.ASSUMES, {_OPEN})


@pytest.mark.parametrize(
    ("store", "read"),
    [(ONE, 64), (ONE, 128), (TWO, 64), (MANY.format(first=64, step=4), 128)],
    ids=["the start", "farther on", "of the first one", "what the pointer may come to"],
)
def test_the_array_may_be_met(store: str, read: int) -> None:
    assert slot_safety(store, read)[0] is VerdictKind.UNKNOWN


def test_two_starts_between_mbarriers_are_one_array() -> None:
    """The constant of the second store may be of another element than the first: it may write behind both."""
    late = "    @leads st.shared.u32 [place+320], index;"
    assert slot_safety(f"{ONE}\n    bar.sync 0;\n{late}", 128)[0] is VerdictKind.UNKNOWN
    assert slot_safety(f"{ONE}\n{late}\n    bar.sync 0;", 128)[0] is VerdictKind.ASSUMES


def test_a_pointer_that_goes_down_may_be_anywhere() -> None:
    assert slot_safety(MANY.format(first=64, step=-4), 1024)[0] is VerdictKind.UNKNOWN


def test_a_barrier_orders_wherever_the_access_is() -> None:
    assert slot_safety(ONE, 64, between="bar.sync 0;") == (VerdictKind.ASSUMES, {_OPEN})


DOWN = ONE.replace("add.u32 place, place, at", "sub.u32 place, place, at").replace("place+64", "place+1024")
FALLING = MANY.format(first=1024, step=4).replace(
    "mov.u32 turn", "shl.b32 at, index, 2;\n    sub.u32 place, place, at;\n    mov.u32 turn"
)


@pytest.mark.parametrize("store", [DOWN, FALLING], ids=["index", "pointer"])
def test_an_index_that_is_taken_away_may_come_to_what_lies_in_front(store: str) -> None:
    assert slot_safety(store, 640)[0] is VerdictKind.UNKNOWN


REST = """
    add.u32 at, index, {more};
    {rounded}
    sub.u32 at, at, word;
    shl.b32 at, at, 2;
    mov.u32 place, memory;
    add.u32 place, place, at;
    @leads st.shared.u32 [place+64], index;"""
MASKED = "and.b32 word, at, -8;"
DIVIDED = "div.u32 word, at, count;\n    mul.lo.u32 word, word, count;"
HALVED = "shr.u32 word, at, 1;"


@pytest.mark.parametrize("rounded", [MASKED, DIVIDED, HALVED], ids=["masked", "divided", "halved"])
def test_what_is_left_of_a_number_counts_up(rounded: str) -> None:
    assert slot_safety(REST.format(rounded=rounded, more=0), 1024) == (VerdictKind.ASSUMES, {_OPEN})


def test_what_is_left_of_a_sum_counts_from_nothing() -> None:
    """The constant of the sum is taken away as well, with all that divides: the array starts at 64, not at 320."""
    assert slot_safety(REST.format(rounded=MASKED, more=64), 64)[0] is VerdictKind.UNKNOWN


@pytest.mark.parametrize(
    "rounded", ["mul.lo.u32 word, at, count;", "shl.b32 word, at, 1;", "add.u32 word, turn, 1;"]
)
def test_more_than_the_number_may_be_taken_away(rounded: str) -> None:
    assert slot_safety(REST.format(rounded=rounded, more=0), 1024)[0] is VerdictKind.UNKNOWN
