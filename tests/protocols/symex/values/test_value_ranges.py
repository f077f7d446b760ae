"""Places that a mask bounds in a stage that a run knows: which bytes they may be is known."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.verifying import kind, verified

STORE_AT_A_MASKED_PLACE = """.version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 16 .b8 stages[];
.visible .entry kernel(.param .u64 places)
.reqntid 64
{{
    .shared .align 8 .b64 full;
    .reg .pred leads, more;
    .reg .b32 thread, index, at, place, word, round, stage;
    .reg .b64 where;
    mov.u32 thread, %tid.x;
    setp.eq.u32 leads, thread, 32;
    @leads mbarrier.init.shared.b64 [full], 64;
    ld.param.u64 where, [places];
    ld.global.u32 index, [where];
    and.b32 index, index, {mask};
    mov.u32 round, 0;
ROUND:
    bar.sync 0;
    mul.lo.u32 stage, round, 2048;
    shl.b32 at, thread, 4;
    add.u32 place, at, index;
    add.u32 place, place, stage;
    mov.u32 word, stages;
    add.u32 place, place, word;
    st.shared.u32 [place], thread;
    add.u32 at, at, stage;
    add.u32 word, word, at;
    ld.shared.u32 word, [word+{read}];
    add.u32 round, round, 1;
    setp.lt.u32 more, round, 2;
    @more bra ROUND;
    ret;
}}
"""


@pytest.mark.parametrize(
    ("mask", "read", "is_known"),
    [(12, 1024, True), (1020, 1024, False), (12, 16, False)],
    ids=["beside it", "as far as there", "of the next thread"],
)
def test_bytes_that_a_mask_leaves(mask: int, read: int, is_known: bool) -> None:
    found = kind(verified(STORE_AT_A_MASKED_PLACE.format(mask=mask, read=read)), Property.SLOT_SAFETY)
    assert (found is not VerdictKind.UNKNOWN) == is_known
