"""Roles that look for their tile by copies of one loop over a table: they find the same one."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind

from .verifying import kind, verified

KERNEL = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 table, .param .u32 limit)
.reqntid 64
{{
    .shared .align 8 .b64 full;
    .reg .pred first, other, more, found, ready;
    .reg .b32 thread, limit, tile, word, step, far, start;
    .reg .b64 table, at;
    mov.u32 thread, %tid.x;
    setp.eq.u32 first, thread, 0;
    @first mbarrier.init.shared.b64 [full], 1;
    bar.sync 0;
    ld.param.u64 table, [table];
    ld.param.u32 limit, [limit];
    setp.gt.u32 other, thread, 31;
    mov.u32 start, {start};
    @other bra CONSUMER;
    mov.u32 tile, 0;
SCAN:
    mul.wide.u32 at, tile, 4;
    add.u64 at, table, at;
    ld.global.u32 word, [at];
    add.u32 tile, tile, 1;
    setp.lt.s32 more, word, limit;
    @more bra SCAN;
    setp.lt.s32 found, tile, 100;
    @!found bra END;
    @first mbarrier.arrive.shared.b64 _, [full];
    bra END;
CONSUMER:
    mov.u32 step, start;
LOOK:
    mul.wide.u32 at, step, 4;
    add.u64 at, table, at;
    ld{strength}.global.u32 far, [at];
    add.u32 step, step, {stride};
    setp.lt.s32 more, far, limit;
    @more bra LOOK;
    setp.lt.s32 found, step, 100;
    @!found bra END;
WAIT:
    mbarrier.try_wait.parity.shared.b64 ready, [full], 0;
    @!ready bra WAIT;
END:
    ret;
}}
"""


def deadlock(start: str = "0", stride: str = "1", strength: str = "") -> VerdictKind:
    text = KERNEL.format(start=start, stride=stride, strength=strength)
    result = verified(text)
    return kind(result, Property.DEADLOCK_FREEDOM)


def test_copies_of_a_loop_agree() -> None:
    assert deadlock() is VerdictKind.ASSUMES, "the table does not change meanwhile"


@pytest.mark.parametrize(
    ("start", "stride", "strength"),
    [("1", "1", ""), ("0", "2", ""), ("0", "1", ".relaxed.gpu")],
    ids=["other start", "other code", "others may store meanwhile"],
)
def test_what_differs_may_find_something_else(start: str, stride: str, strength: str) -> None:
    assert deadlock(start, stride, strength) not in (
        VerdictKind.PROVED,
        VerdictKind.PROVED_BOUNDED,
        VerdictKind.ASSUMES,
    )
