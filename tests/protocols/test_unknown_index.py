"""Accesses of shared memory at an index that is not known: they stay inside their variable."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind

from .verifying import verified

KERNEL = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 places)
.reqntid 64
{{
    .shared .align 8 .b64 full;
    .shared .align 4 .b8 table[256];
    .shared .align 4 .b8 other[256];
    .reg .pred leads;
    .reg .b32 thread, index, at, place, word;
    .reg .b64 where;
    mov.u32 thread, %tid.x;
    setp.eq.u32 leads, thread, 32;
    @leads mbarrier.init.shared.b64 [full], 64;
    bar.sync 0;
    ld.param.u64 where, [places];
    ld.global.u32 index, [where];
    {mask}
    shl.b32 at, index, 2;
    mov.u32 place, {written};
    add.u32 place, place, at;
    @leads st.shared.u32 [place], index;
    {between}
    mov.u32 place, table;
    shl.b32 at, thread, 2;
    add.u32 place, place, at;
    ld.shared.u32 word, [place{offset}];
    ret;
}}
"""
UNKNOWN_INDEX = "an index into shared memory that is not known stays inside its variable"


def slot_safety(
    written: str, between: str = "", mask: str = "", offset: str = ""
) -> tuple[VerdictKind, set[str]]:
    text = KERNEL.format(written=written, between=between, mask=mask, offset=offset)
    result = verified(text)
    kinds = {each.property: each.kind for each in result.verdicts()}
    return kinds[Property.SLOT_SAFETY], result.provisos


def test_another_variable_is_not_met() -> None:
    assert slot_safety("other") == (VerdictKind.ASSUMES, {UNKNOWN_INDEX})


def test_the_same_variable_may_be_met() -> None:
    kind, _ = slot_safety("table")
    assert kind is VerdictKind.UNKNOWN


def test_a_barrier_orders_wherever_the_access_is() -> None:
    assert slot_safety("table", between="bar.sync 0;") == (VerdictKind.ASSUMES, {UNKNOWN_INDEX})


@pytest.mark.parametrize(("largest", "expected"), [(7, VerdictKind.ASSUMES), (15, VerdictKind.UNKNOWN)])
def test_a_bound_of_the_index_counts(largest: int, expected: VerdictKind) -> None:
    mask = f"and.b32 index, index, {largest};"
    kind, _ = slot_safety("table", mask=mask, offset="+32")
    assert kind is expected
