"""Two warps that take turns at tiles: each reads its own stage of a ring, by the same instruction at the same time."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.verifying import kind, verified

GOOD = (VerdictKind.PROVED, VerdictKind.PROVED_BOUNDED, VerdictKind.ASSUMES)
WARPS_THAT_TAKE_TURNS = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u32 limit_in)
.reqntid 96
{
    .shared .align 8 .b64 full[2];
    .shared .align 8 .b64 empty[2];
    .shared .align 4 .b8 ring[8];
    .reg .pred first, teller, lead, ready, more;
    .reg .b32 thread, lane, limit, last, step, slot, bar, place, parity, tile, at;
    mov.u32 thread, %tid.x;
    ld.param.u32 limit, [limit_in];
    setp.eq.u32 first, thread, 0;
    @first mbarrier.init.shared.b64 [full], 1;
    @first mbarrier.init.shared.b64 [full+8], 1;
    @first mbarrier.init.shared.b64 [empty], 1;
    @first mbarrier.init.shared.b64 [empty+8], 1;
    bar.sync 0;
    and.b32 lane, thread, 31;
    setp.eq.u32 lead, lane, 0;
    @!lead bra END;
    mov.u32 step, 0;
    setp.lt.u32 teller, thread, 32;
    @!teller bra READ;
    add.u32 last, limit, SENTINELS;
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
    shl.b32 place, slot, 2;
    add.u32 place, place, ring;
    st.shared.u32 [place], step;
    mov.u32 bar, full;
    add.u32 bar, bar, at;
    mbarrier.arrive.shared.b64 _, [bar];
    add.u32 step, step, 1;
    setp.lt.s32 more, step, last;
    @more bra TELL;
    bra END;
READ:
    shr.u32 slot, thread, 5;
    sub.u32 slot, slot, 1;
    shl.b32 at, slot, 3;
    xor.b32 place, slot, OTHER;
    shl.b32 place, place, 2;
    add.u32 place, place, ring;
NEXT:
    and.b32 parity, step, 1;
    mov.u32 bar, full;
    add.u32 bar, bar, at;
WAIT:
    mbarrier.try_wait.parity.shared.b64 ready, [bar], parity;
    @!ready bra WAIT;
    ld.shared.u32 tile, [place];
    mov.u32 bar, empty;
    add.u32 bar, bar, at;
    mbarrier.arrive.shared.b64 _, [bar];
    add.u32 step, step, 1;
    setp.lt.s32 more, tile, limit;
    @more bra NEXT;
END:
    ret;
}
"""


def told(sentinels: int = 2, other: int = 0) -> Verification:
    return verified(WARPS_THAT_TAKE_TURNS.replace("SENTINELS", str(sentinels)).replace("OTHER", str(other)))


def test_each_warp_reads_what_was_written_in_its_turn_at_its_stage() -> None:
    result = told()
    assert kind(result, Property.DEADLOCK_FREEDOM) in GOOD
    assert kind(result, Property.SLOT_SAFETY) in GOOD


def test_who_is_told_no_end_waits_for_ever() -> None:
    assert kind(told(sentinels=1), Property.DEADLOCK_FREEDOM) not in GOOD


@pytest.mark.parametrize("which", [Property.DEADLOCK_FREEDOM, Property.SLOT_SAFETY])
def test_the_stage_of_the_other_warp_may_be_of_another_turn(which: Property) -> None:
    assert kind(told(other=1), which) not in GOOD
