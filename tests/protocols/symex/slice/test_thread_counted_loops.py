"""Loops of known length behind a branch that differs from warp to warp and is open: their accesses have places."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.verifying import kind, verified

LOOP_BEHIND_AN_OPEN_BRANCH = """.version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 16 .b8 table[];
.visible .entry kernel(.param .u32 count_in)
.reqntid 64
{{
    .shared .align 8 .b64 full;
    .reg .pred leads, less, more;
    .reg .b32 thread, warp, at, place, word, count, turn, own;
    mov.u32 thread, %tid.x;
    setp.eq.u32 leads, thread, 0;
    @leads mbarrier.init.shared.b64 [full], 64;
    bar.sync 0;
    ld.param.u32 count, [count_in];
    shr.u32 warp, thread, 5;
    shl.b32 own, warp, 5;
    setp.le.s32 less, own, count;
    @!less bra READ;
    shl.b32 at, thread, 4;
    mov.u32 place, table;
    add.u32 place, place, at;
    mov.u32 turn, 0;
FILL:
    st.shared.u32 [place], thread;
    add.u32 place, place, {step};
    add.u32 turn, turn, 1;
    setp.lt.u32 more, turn, {rounds};
    @more bra FILL;
READ:
    xor.b32 at, thread, 32;
    shl.b32 at, at, 2;
    mov.u32 place, table;
    add.u32 place, place, at;
    ld.shared.u32 word, [place+{read}];
    ret;
}}
"""


@pytest.mark.parametrize(
    ("read", "rounds", "is_known"),
    [(1024, "4", True), (512, "4", False), (1024, "count", False)],
    ids=["its own bytes", "bytes that others read", "rounds that are not known"],
)
def test_what_the_loop_comes_to(read: int, rounds: str, is_known: bool) -> None:
    text = LOOP_BEHIND_AN_OPEN_BRANCH.format(read=read, rounds=rounds, step=4)
    assert (kind(verified(text), Property.SLOT_SAFETY) is not VerdictKind.UNKNOWN) == is_known
