"""A ring in shared memory through which one warp tells two others which tile is next."""

from __future__ import annotations

from functools import cache

import pytest

from ptxcheck.protocols.verification import Verification
from ptxcheck.verdict import Property, VerdictKind

from .verifying import kind, verified

KERNEL = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 table, .param .u32 limit)
.reqntid 96
{
    .shared .align 8 .b64 full[2];
    .shared .align 8 .b64 empty[2];
    .shared .align 8 .b64 done[2];
    .shared .align 4 .b8 ring[8];
    .reg .pred first, one, two, ready, last;
    .reg .b32 thread, limit, step, slot, bar, place, parity, tile, at;
    .reg .b64 table, where;
    mov.u32 thread, %tid.x;
    ld.param.u64 table, [table];
    ld.param.u32 limit, [limit];
    setp.eq.u32 first, thread, 0;
    setp.eq.u32 one, thread, 32;
    setp.eq.u32 two, thread, 64;
    @first mbarrier.init.shared.b64 [full], 1;
    @first mbarrier.init.shared.b64 [full+8], 1;
    @first mbarrier.init.shared.b64 [empty], 2;
    @first mbarrier.init.shared.b64 [empty+8], 2;
    @first mbarrier.init.shared.b64 [done], 1;
    @first mbarrier.init.shared.b64 [done+8], 1;
    bar.sync 0;
    mov.u32 step, 0;
    @one bra ONE;
    @two bra TWO;
    @!first bra END;
TELL:
    and.b32 slot, step, 1;
    shr.u32 parity, step, 1;
    and.b32 parity, parity, 1;
    xor.b32 parity, parity, 1;
    shl.b32 at, slot, 3;
    mov.u32 bar, empty;
    add.u32 bar, bar, at;
FREE:
    mbarrier.try_wait.parity.shared.b64 ready, [bar], parity;
    @!ready bra FREE;
    mul.wide.u32 where, step, 4;
    add.u64 where, table, where;
    ld.global.u32 tile, [where];
    mov.u32 place, ring;
    shl.b32 at, slot, 2;
    add.u32 place, place, at;
    st.shared.u32 [place], tile;
    shl.b32 at, slot, 3;
    mov.u32 bar, full;
    add.u32 bar, bar, at;
    mbarrier.arrive.shared.b64 _, [bar];
    add.u32 step, step, 1;
    setp.lt.s32 last, tile, limit;
    @last bra TELL;
    bra END;
ONE:
    LISTEN(A, 0)
    setp.ge.s32 last, tile, limit;
    mov.u32 bar, empty;
    add.u32 bar, bar, at;
    mbarrier.arrive.shared.b64 _, [bar];
    @last bra END;
    mov.u32 bar, done;
    add.u32 bar, bar, at;
    mbarrier.arrive.shared.b64 _, [bar];
    add.u32 step, step, 1;
    bra ONE;
TWO:
    LISTEN(B, OTHER)
    setp.ge.s32 last, tile, limit;
    @last bra END;
    mov.u32 bar, done;
    add.u32 bar, bar, at;
WAIT:
    mbarrier.try_wait.parity.shared.b64 ready, [bar], parity;
    @!ready bra WAIT;
    mov.u32 bar, empty;
    add.u32 bar, bar, at;
    mbarrier.arrive.shared.b64 _, [bar];
    add.u32 step, step, 1;
    bra TWO;
END:
    ret;
}
"""
LISTEN = """
    and.b32 slot, step, 1;
    shr.u32 parity, step, 1;
    and.b32 parity, parity, 1;
    shl.b32 at, slot, 3;
    mov.u32 bar, full;
    add.u32 bar, bar, at;
FULL_{name}:
    mbarrier.try_wait.parity.shared.b64 ready, [bar], parity;
    @!ready bra FULL_{name};
    xor.b32 place, slot, {other};
    shl.b32 place, place, 2;
    add.u32 place, place, ring;
    ld.shared.u32 tile, [place];
"""


@cache
def told(other: str = "0", before: str = "") -> Verification:
    text = KERNEL.replace("LISTEN(A, 0)", LISTEN.format(name="A", other="0"))
    text = text.replace("LISTEN(B, OTHER)", LISTEN.format(name="B", other=other))
    text = text.replace("TELL:\n", f"TELL:\n{before}", 1)
    return verified(text)


def test_both_are_told_the_same() -> None:
    result = told()
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.ASSUMES
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.ASSUMES
    assert {each.kind for each in result.assumptions.values()} == {"global-load"}, "the turns were checked"


@pytest.mark.parametrize("which", [Property.DEADLOCK_FREEDOM, Property.SLOT_SAFETY])
def test_who_reads_the_other_stage_is_told_something_else(which: Property) -> None:
    good = (VerdictKind.PROVED, VerdictKind.PROVED_BOUNDED, VerdictKind.ASSUMES)
    assert kind(told(other="1"), which) not in good


def test_turns_are_taken_for_granted_where_something_else_may_write() -> None:
    """A store anywhere in the ring comes in between: what is read is not sure to be what the turn says."""
    other = "    add.u32 place, ring, limit;\n    st.shared.u8 [place], limit;\n"
    result = told(before=other)
    assert "shared-ring" in {each.kind for each in result.assumptions.values()}
