"""The length of K comes twice, once for each operand: one role counts tiles by one, one starts where the other says."""

from __future__ import annotations

from functools import cache

import pytest

from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.protocols.proof.first.alike import alike
from ptxcheck.protocols.symex.values.symbol import Atom, Condition, Form
from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.verifying import kind, verified

GOOD = (VerdictKind.PROVED, VerdictKind.PROVED_BOUNDED, VerdictKind.ASSUMES)
TILES = """
    shr.s32 {name}, {length}, 31;
    shr.u32 {name}, {name}, 26;
    add.s32 {name}, {length}, {name};
    shr.s32 {name}, {name}, {shift};
"""
ROUNDED_UP = """
    shl.b32 whole, {name}, {shift};
    setp.ne.s32 some, {length}, whole;
    selp.b32 rest, 1, 0, some;
    add.s32 {name}, {name}, rest;
"""
KERNEL = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u32 ka, .param .u32 kb)
.reqntid 96
{
    .shared .align 8 .b64 full[2];
    .shared .align 8 .b64 empty[2];
    .shared .align 8 .b64 done;
    .reg .pred first, producer, second, lead, ready, more, some;
    .reg .b32 thread, lane, a, b, tiles, skipped, whole, rest, step, last, bar, parity, at;
    mov.u32 thread, %tid.x;
    ld.param.u32 a, [ka];
    ld.param.u32 b, [kb];
    setp.eq.u32 first, thread, 0;
    @first mbarrier.init.shared.b64 [full], 1;
    @first mbarrier.init.shared.b64 [full+8], 1;
    @first mbarrier.init.shared.b64 [empty], 1;
    @first mbarrier.init.shared.b64 [empty+8], 1;
    @first mbarrier.init.shared.b64 [done], 1;
    bar.sync 0;
    and.b32 lane, thread, 31;
    setp.eq.u32 lead, lane, 0;
    @!lead bra END;
    COUNTED
    setp.lt.s32 some, tiles, 1;
    @some bra END;
    setp.ge.u32 second, thread, 64;
    mov.u32 step, 0;
    mov.u32 last, tiles;
    setp.lt.u32 producer, thread, 32;
    @producer bra PRODUCE;
    @!second bra CONSUME;
DONE:
    mbarrier.try_wait.parity.shared.b64 ready, [done], 0;
    @!ready bra DONE;
    SKIPPED
    add.s32 step, skipped, MORE;
    add.s32 last, step, tiles;
CONSUME:
    and.b32 at, step, 1;
    shl.b32 at, at, 3;
    shr.u32 parity, step, 1;
    and.b32 parity, parity, 1;
    mov.u32 bar, full;
    add.u32 bar, bar, at;
FULL:
    mbarrier.try_wait.parity.shared.b64 ready, [bar], parity;
    @!ready bra FULL;
    mov.u32 bar, empty;
    add.u32 bar, bar, at;
    mbarrier.arrive.shared.b64 _, [bar];
    add.u32 step, step, 1;
    setp.lt.s32 more, step, last;
    @more bra CONSUME;
    @second bra END;
    mbarrier.arrive.shared.b64 _, [done];
    bra END;
PRODUCE:
    add.s32 last, tiles, tiles;
FILL:
    and.b32 at, step, 1;
    shl.b32 at, at, 3;
    shr.u32 parity, step, 1;
    and.b32 parity, parity, 1;
    xor.b32 parity, parity, 1;
    mov.u32 bar, empty;
    add.u32 bar, bar, at;
EMPTY:
    mbarrier.try_wait.parity.shared.b64 ready, [bar], parity;
    @!ready bra EMPTY;
    mov.u32 bar, full;
    add.u32 bar, bar, at;
    mbarrier.arrive.shared.b64 _, [bar];
    add.u32 step, step, 1;
    setp.lt.s32 more, step, last;
    @more bra FILL;
END:
    ret;
}
"""


@cache
def started(more: int = 0, shift: int = 6, length: str = "b", *, up: bool = False) -> Verification:
    tiles = TILES + ROUNDED_UP if up else TILES
    text = KERNEL.replace("COUNTED", tiles.format(name="tiles", length="a", shift=6))
    text = text.replace("SKIPPED", tiles.format(name="skipped", length=length, shift=shift))
    return verified(text.replace("MORE", str(more)))


def test_one_number_is_taken_for_both() -> None:
    result = started()
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.ASSUMES
    assert not result.complete, "only numbers that are equal were run"
    (asked,) = result.required.values()
    assert asked.text == "ka and kb, of which the kernel computes the same, are one number"


def test_where_they_cannot_be_one_number_the_host_is_asked_for_it() -> None:
    """Whether a length is a multiple of a tile is decided for each of them."""
    result = started(up=True)
    assert kind(result, Property.DEADLOCK_FREEDOM) in GOOD
    (asked,) = (each for each in result.required.values() if "ka and kb" in each.text)
    assert ": else, " in asked.text


def test_with_one_length_nothing_is_taken() -> None:
    result = started(length="a")
    assert kind(result, Property.DEADLOCK_FREEDOM) in GOOD
    assert not result.required


@pytest.mark.parametrize("length", ["a", "b"])
@pytest.mark.parametrize("up", [False, True])
def test_a_start_that_is_one_tile_too_late_is_wrong_with_one_number_too(length: str, up: bool) -> None:
    result = started(more=1, length=length, up=up)
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.VIOLATED


@pytest.mark.parametrize("up", [False, True])
def test_what_is_not_computed_alike_may_be_any_number(up: bool) -> None:
    assert kind(started(shift=5, up=up), Property.DEADLOCK_FREEDOM) is VerdictKind.VIOLATED


def test_what_is_nested_many_times_over_is_no_exponential() -> None:
    """Each of 80 products has the one before it twice."""
    one, other = (Atom(("param", name, 0, 4)) for name in "ab")
    asked, value = Atom(("sar", other, 6, 32)), Atom(("sar", one, 6, 32))
    path = [(Condition("lt", Form(((asked, 1),)), 5), True)]
    for _ in range(80):
        value = Atom(("mul", value, value))
    assert list(alike(path, Form(((value, 1),)), one)) == [other]
