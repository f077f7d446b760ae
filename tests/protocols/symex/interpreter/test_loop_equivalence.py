"""Roles that look for their tile by copies of one loop over a table: they find the same one."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.verifying import kind, verified

KERNEL = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 table_in, .param .u32 limit_in)
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
    ld.param.u64 table, [table_in];
    ld.param.u32 limit, [limit_in];
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
    {more_steps}
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


UNDECIDED = (VerdictKind.UNKNOWN, VerdictKind.VIOLATED)


def deadlock(start: str = "0", stride: str = "1", strength: str = "", more_steps: str = "") -> VerdictKind:
    text = KERNEL.format(start=start, stride=stride, strength=strength, more_steps=more_steps)
    return of(text)


def of(text: str) -> VerdictKind:
    return kind(verified(text), Property.DEADLOCK_FREEDOM)


def test_copies_of_a_loop_agree() -> None:
    assert deadlock() is VerdictKind.ASSUMES, "the table does not change meanwhile"


@pytest.mark.parametrize(
    ("start", "stride", "strength", "more_steps"),
    [
        ("1", "1", "", ""),
        ("0", "2", "", ""),
        ("0", "1", ".relaxed.gpu", ""),
        ("0", "1", "", "mul.lo.u32 step, step, 2;"),
    ],
    ids=["other start", "other code", "others may store meanwhile", "other code behind an equal first round"],
)
def test_what_differs_may_find_something_else(
    start: str, stride: str, strength: str, more_steps: str
) -> None:
    assert deadlock(start, stride, strength, more_steps) in UNDECIDED


COPIES = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 table_in, .param .u32 count_in, .param .u32 wanted_in)
.reqntid 64
{{
    .shared .align 8 .b64 full;
    .reg .pred first, other, none, below, inside, more, lost, ready;
    .reg .b32 thread, count, wanted, at, last, next, tiles, base, chosen, place, end;
    .reg .b64 table, pointer, wide;
    mov.u32 thread, %tid.x;
    setp.eq.u32 first, thread, 0;
    @first mbarrier.init.shared.b64 [full], 1;
    bar.sync 0;
    ld.param.u64 table, [table_in];
    ld.param.u32 count, [count_in];
    ld.param.u32 wanted, [wanted_in];
    setp.gt.u32 other, thread, 31;
    @other bra CONSUMER;
    mov.u32 base, 0;
    mov.u32 chosen, -1;
    mov.u32 place, 0;
    mov.u32 at, 0;
    setp.lt.s32 none, count, {fewest};
    @none bra FOUND;
    setp.lt.u32 none, count, 3;
    @none bra FOUND;
    ld.global.u32 last, [table];
SCAN:
    mul.wide.u32 wide, at, 4;
    add.u64 wide, table, wide;
    ld.global.u32 next, [wide+4];
    sub.u32 tiles, next, last;
    setp.ge.s32 below, wanted, base;
    sub.u32 end, wanted, base;
    add.u32 base, base, tiles;
    setp.lt.s32 inside, wanted, base;
    and.pred inside, below, inside;
    selp.b32 chosen, at, chosen, inside;
    selp.b32 place, end, place, inside;
    mov.u32 last, next;
    add.u32 at, at, 1;
    setp.lt.s32 more, at, count;
    @more bra SCAN;
FOUND:
    setp.lt.s32 lost, place, 7;
    @lost bra END;
    setp.lt.s32 lost, chosen, 0;
    @lost bra END;
    @first mbarrier.arrive.shared.b64 _, [full];
    bra END;
CONSUMER:
    mov.u32 chosen, {unfound};
    mov.u32 place, 0;
    setp.lt.s32 none, count, {fewest};
    @none bra LOOKED;
    sub.u32 end, count, 1;
    setp.lt.u32 none, {few};
    @none bra LOOKED;
    ld.global.u32 last, [table];
    mov.u32 base, 0;
    mov.u32 at, 0;
    add.u64 pointer, table, {offset};
LOOK:
    sub.u32 end, wanted, base;
    setp.ge.s32 below, wanted, base;
    ld.global.u32 next, [pointer];
    sub.u32 tiles, next, last;
    add.u32 base, tiles, base;
    setp.lt.s32 inside, wanted, base;
    and.pred inside, below, inside;
    selp.b32 place, {taken}, place, inside;
    selp.b32 chosen, at, chosen, inside;
    add.u64 pointer, pointer, {stride};
    add.u32 at, at, 1;
    setp.{relation}.s32 more, at, count;
    mov.u32 last, next;
    @more bra LOOK;
LOOKED:
    setp.lt.s32 lost, place, 7;
    @lost bra END;
    setp.lt.s32 lost, chosen, 0;
    @lost bra END;
WAIT:
    mbarrier.try_wait.parity.shared.b64 ready, [full], 0;
    @!ready bra WAIT;
END:
    ret;
}}
"""
SAME = {"offset": "4", "stride": "4", "relation": "lt", "unfound": "-1", "taken": "end"}
SAME |= {"few": "end, 2", "fewest": "1"}


def test_copies_that_count_in_other_ways_agree() -> None:
    assert of(COPIES.format(**SAME)) is VerdictKind.ASSUMES


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("offset", "8"),
        ("stride", "8"),
        ("relation", "le"),
        ("unfound", "5"),
        ("taken", "base"),
        ("few", "end, 3"),
    ],
)
def test_copies_that_compute_something_else_do_not(name: str, value: str) -> None:
    assert of(COPIES.format(**(SAME | {name: value}))) in UNDECIDED


COUNTED = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u32 count_in)
.reqntid 64
{{
    .shared .align 8 .b64 full;
    .reg .pred first, other, more, many, ready;
    .reg .b32 thread, size, at;
    mov.u32 thread, %tid.x;
    setp.eq.u32 first, thread, 0;
    @first mbarrier.init.shared.b64 [full], 1;
    bar.sync 0;
    ld.param.u32 size, [count_in];
    setp.gt.u32 other, thread, 31;
    @other bra CONSUMER;
    mov.u32 at, 0;
COUNT:
    add.u32 at, at, 1;
    setp.lt.s32 more, at, size;
    @more bra COUNT;
    setp.lt.s32 many, at, 100;
    @!many bra END;
    @first mbarrier.arrive.shared.b64 _, [full];
    bra END;
CONSUMER:
    {asked}
WAIT:
    mbarrier.try_wait.parity.shared.b64 ready, [full], 0;
    @!ready bra WAIT;
END:
    ret;
}}
"""


def test_what_a_loop_leaves_may_be_another_number_of_the_path() -> None:
    """The loop counts to the size, or to one: whether it goes wrong is not known where both are asked about."""
    asked = "max.s32 at, size, 1;\n    setp.lt.s32 many, at, 100;\n    @!many bra END;"
    assert of(COUNTED.format(asked=asked)) is VerdictKind.UNKNOWN
    assert of(COUNTED.format(asked="")) is VerdictKind.VIOLATED


SCAN = """{label}:
    mul.wide.u32 at, tile, 4;
    add.u64 at, table, at;
    ld.global.u32 word, [at];
    setp.ge.s32 more, word, limit;
    @more bra {label}_END;
    add.u32 tile, tile, 1;
    add.u64 count, count, 1;
    add.u64 last, count, 0;
    bra {label};
{label}_END:
    setp.lt.s64 found, last, 100;
    @!found bra END;
"""
LOOPS = {"scan": SCAN.format(label="SCAN"), "look": SCAN.format(label="LOOK")}
WIDE = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 table_in, .param .u32 limit_in)
.reqntid 64
{{
    .shared .align 8 .b64 full;
    .reg .pred first, other, more, found, ready;
    .reg .b32 thread, limit, tile, word;
    .reg .b64 table, at, count, last;
    mov.u32 thread, %tid.x;
    setp.eq.u32 first, thread, 0;
    @first mbarrier.init.shared.b64 [full], 1;
    bar.sync 0;
    ld.param.u64 table, [table_in];
    ld.param.u32 limit, [limit_in];
    mov.u64 last, 0;
    mov.u32 tile, 0;
    setp.gt.u32 other, thread, 31;
    @other bra CONSUMER;
    mov.u64 count, {start};
{scan}    @first mbarrier.arrive.shared.b64 _, [full];
    bra END;
CONSUMER:
    mov.u64 count, -96;
{look}WAIT:
    mbarrier.try_wait.parity.shared.b64 ready, [full], 0;
    @!ready bra WAIT;
END:
    ret;
}}
"""


def test_a_wide_counter_starts_with_what_fills_half_of_it() -> None:
    """2^32 - 96 is -96 in a register of 32 bits, and no negative number in one of 64."""
    assert of(WIDE.format(start="-96", **LOOPS)) is VerdictKind.ASSUMES
    assert of(WIDE.format(start="4294967200", **LOOPS)) in UNDECIDED
