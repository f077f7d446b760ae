"""A ring in shared memory through which one warp tells two others which tile is next."""

from __future__ import annotations

from functools import cache

import pytest

from ptxcheck.protocols.contract.first.handed_turns import are_turns_seen
from ptxcheck.protocols.model.actions import (
    Access,
    Protocol,
    Span,
    Strand,
    Transfer,
)
from ptxcheck.protocols.model.outcome import Step
from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.protocols.symex.values.trace import Shape, Trace
from ptxcheck.verdict import AssumptionKind, Property, VerdictKind
from tests.protocols.verifying import kind, verified

KERNEL = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 table_in, .param .u32 limit_in)
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
    ld.param.u64 table, [table_in];
    ld.param.u32 limit, [limit_in];
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
    assert {each.kind for each in result.assumptions.values()} == {AssumptionKind.GLOBAL_LOAD}, (
        "the turns were checked"
    )


@pytest.mark.parametrize("which", [Property.DEADLOCK_FREEDOM, Property.SLOT_SAFETY])
def test_who_reads_the_other_stage_is_told_something_else(which: Property) -> None:
    good = (VerdictKind.PROVED, VerdictKind.PROVED_BOUNDED, VerdictKind.ASSUMES)
    assert kind(told(other="1"), which) not in good


def test_turns_are_taken_for_granted_where_something_else_may_write() -> None:
    """A store anywhere in the ring comes in between: what is read is not sure to be what the turn says."""
    other = "    add.u32 place, ring, limit;\n    st.shared.u8 [place], limit;\n"
    result = told(before=other)
    assert AssumptionKind.SHARED_RING in {each.kind for each in result.assumptions.values()}


STAGES = "and.b32 slot, step, 1;\n    shr.u32 parity, step, 1;\n    and.b32 parity, parity, 1;"
COPY_AT_END = """
    .reg .b64 out;
    ld.param.u64 out, [table_in];
    @first cp.async.bulk.global.shared::cta.bulk_group [out], [page], 16;
    @first cp.async.bulk.commit_group;
    ret;"""


@cache
def told_in_one_place(early: str = "", end: str = "") -> Verification:
    """Return the verdict where there is one stage, at a constant place, which the second warp may read too early."""
    listen = LISTEN.replace("FULL_{name}:", "{early}FULL_{name}:").replace("[place]", "[ring]")
    text = KERNEL.replace("LISTEN(A, 0)", listen.format(name="A", other="0", early=""))
    late = listen.format(name="B", other="0", early=early)
    text = text.replace(
        "LISTEN(B, OTHER)", late.replace("    ld.shared.u32 tile, [ring];\n", "") if early else late
    )
    text = text.replace(STAGES, "mov.u32 slot, 0;\\n    and.b32 parity, step, 1;".replace("\\n", "\n"))
    text = text.replace("st.shared.u32 [place]", "st.shared.u32 [ring]")
    text = text.replace(".align 4 .b8 ring[8];", ".align 4 .b8 ring[4];\n    .shared .align 16 .b8 page[16];")
    head, tail = text.rsplit("    ret;", 1)
    return verified(head + (end or "    ret;") + tail)


@pytest.mark.parametrize("end", ["", COPY_AT_END], ids=["alone", "a copy under way at the end"])
def test_a_constant_place_is_a_ring_of_one(end: str) -> None:
    result = told_in_one_place(end=end)
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.ASSUMES
    assert {each.kind for each in result.assumptions.values()} == {AssumptionKind.GLOBAL_LOAD}, (
        "the turns were checked"
    )


def test_who_reads_before_it_waits_is_told_an_older_number() -> None:
    result = told_in_one_place(early="    ld.shared.u32 tile, [ring];\n")
    good = (VerdictKind.PROVED, VerdictKind.PROVED_BOUNDED, VerdictKind.ASSUMES)
    assert kind(result, Property.SLOT_SAFETY) not in good
    assert kind(result, Property.DEADLOCK_FREEDOM) not in good


RING = Span(0, 64, 4)
TOLD = Access(5, writes=(RING,))
HEARD = Access(6, reads=(RING,))


def seen(order: list[tuple[int, int]], *more: Access | Transfer) -> bool:
    """Tell whether a schedule of a writer, a reader of two turns and others shows each read its turn."""
    roles: tuple[tuple[Access | Transfer, ...], ...] = ((TOLD, TOLD), (HEARD, HEARD), more)
    strands = tuple(
        Strand(0, warp, 1, f"warp {warp}", actions, tuple(range(10 * warp, 10 * warp + len(actions))))
        for warp, actions in enumerate(roles)
    )
    trace = Trace(0, Shape((96, 1, 1)), (), (), (), turns={10: 0, 11: 1})
    steps = [Step(strand, index, None) for strand, index in order]
    return are_turns_seen(Protocol(strands, 30), steps, [trace], {TOLD.point})


def test_a_schedule_shows_that_reads_are_of_their_turns() -> None:
    assert seen([(0, 0), (1, 0), (0, 1), (1, 1)])
    assert seen([(0, 0), (1, 0)])
    assert not seen([(0, 0), (0, 1), (1, 0), (1, 1)])
    assert not seen([(1, 0), (0, 0)])


def test_what_something_else_wrote_is_of_no_turn() -> None:
    inside, apart = (Transfer(9, (), writes=(Span(0, at, 16, exact=False),)) for at in (60, 128))
    order = [(0, 0), (2, 0), (1, 0)]
    assert not seen(order, inside)
    assert seen(order, apart)
    assert seen([(2, 0), (0, 0), (1, 0)], inside)
    assert not seen(order, Access(8, writes=(Span(0, -1, 4),)))
