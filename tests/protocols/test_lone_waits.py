"""A warp that waits alone where some numbers of the host keep it from leaving: found by brute force.

Each line leaves where it holds; behind the last one the warp waits for ever. Worked out by an exact evaluator.
"""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import verified

HEAD = "ld.param.u32 %r1, [n]; ld.param.u32 %r2, [m]; mov.u32 %r3, %tid.x; setp.ge.u32 %p2, %r3, 32; @%p2 bra DONE;"
NATURAL = ("lt.s32 %r2, 0", "le.u32 %r1, %r2")
"""0 <= m, and m < n as unsigned numbers: n may be negative."""


def guards(*leaving: str) -> str:
    """Return branches to the end, each where a comparison holds: `lt.s32 %r2, 0`."""
    compared = (each.split(" ", 1) for each in leaving)
    return " ".join(f"setp.{relation} %p3, {operands}; @%p3 bra DONE;" for relation, operands in compared)


def waits(before: str, *leaving: str) -> str:
    return f"{HEAD} {before} {guards(*leaving)} barrier.sync 1, 64; DONE:"


def late(computed: str, *leaving: str, first: tuple[str, ...] = NATURAL) -> str:
    return waits(f"{guards(*first)} {computed}", *leaving)


HANGS: dict[str, str] = {
    "a quotient that is negative": waits(  # n = -3, m = 2
        "div.s32 %r5, %r1, %r2; mul.lo.s32 %r6, %r5, %r2;", "le.u32 %r5, %r6", "lt.u32 %r5, 0x80000000"
    ),
    "places in the grid that are large": waits(  # 65536 * 32768 CTAs
        "mov.u32 %r10, %nctaid.x; mov.u32 %r13, %nctaid.y; mul.lo.u32 %r11, %r10, %r13; rem.s32 %r12, %r11, %r1;",
        "ge.s32 %r12, 0",
    ),
    "a place and a large number, divided": waits(
        "mov.u32 %r10, %nctaid.x; add.u32 %r11, %r10, 0x7fffffff; rem.s32 %r12, %r11, %r1;", "ge.s32 %r12, 0"
    ),
    "a place and a large number": waits("mov.u32 %r10, %nctaid.x; add.u32 %r11, %r10, 0x7fffffff;", "ge.s32 %r11, 0"),
    "the sign taken away from what has none": waits(  # m = 0, n = -2^31
        "max.relu.s32 %r5, %r2, 0; sub.s32 %r6, %r5, 0x80000000;", "ne.s32 %r6, %r1"
    ),
    "few bits and a large number": waits(  # m = 1, n = -2^31
        "and.b32 %r5, %r2, 1023; add.s32 %r6, %r5, 0x7fffffff;", "ne.s32 %r6, %r1", "ge.s32 %r1, 0"
    ),
    "a large bound": late("", "lt.u32 %r1, 0x80000000"),  # n = -2, m = 0 for all of these
    "half of it": late("shr.s32 %r5, %r1, 1;", "ge.s32 %r5, 0"),
    "the sign": late("and.b32 %r5, %r1, 0x80000000;", "eq.s32 %r5, 0"),
    "the sign, shifted": late("shr.u32 %r5, %r1, 31;", "eq.s32 %r5, 0"),
    "a third of it": late("div.s32 %r5, %r1, 3;", "ge.s32 %r5, 0"),
    "a third of it without a sign": late("div.u32 %r5, %r1, 3;", "lt.u32 %r5, 0x40000000"),
    "more than a number that is known": waits(  # m = 1, n = -1
        "", "ne.s32 %r2, 1", "le.u32 %r1, %r2", "lt.u32 %r1, 0x80000000"
    ),
    "no more than a negative number that is known": waits(  # m = -8, n = 0
        "", "ne.s32 %r2, -8", "gt.u32 %r1, %r2", "gt.u32 %r1, 7"
    ),
    "one more than the largest": late("add.s32 %r6, %r2, 1;", "ge.s32 %r6, 0", first=("ne.s32 %r2, 0x7fffffff",)),
    "twice the largest": late("add.s32 %r6, %r2, %r2;", "gt.s32 %r6, 0", first=("ne.s32 %r2, 0x7fffffff",)),
    "the high half of a product without a sign": waits(  # m = -1, n = -1
        "mul.hi.u32 %r5, %r2, -5;", "ge.s32 %r5, %r1", "ne.s32 %r1, -1"
    ),
    "a large number by choice": waits(  # n = 2
        "max.u32 %r10, %r1, 0x80000000;", "gt.u32 %r1, %r10", "ne.u32 %r1, 2"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HANGS)
@pytest.mark.parametrize("for_every_count", [False, True], ids=["runs", "product"])
def test_what_hangs_for_some_numbers_is_not_proved(name: str, for_every_count: bool) -> None:
    result = verified(kernel(HANGS[name], threads=64), for_every_count=for_every_count)
    found = next(each for each in result.verdicts() if each.property is Property.DEADLOCK_FREEDOM)
    assert found.kind is not VerdictKind.PROVED
    assert found.kind is not VerdictKind.PROVED_BOUNDED or found.reasons


def behind_rounds(counted: str, *leaving: str, first: str = "") -> str:
    """Count %r5 up until it is n, and test what is left behind the loop: some n come after 2^31 rounds and more."""
    loop = f"L: {first} barrier.sync 2, 32; add.s32 %r5, %r5, 1; {counted}"
    return waits(f"mov.u32 %r5, 0; mov.u32 %r7, 0; mov.u64 %rd1, 0; {loop} X:", *leaving)


UNEQUAL = "setp.ne.s32 %p4, %r5, %r1; @%p4 bra L;"
WRAPPED: dict[str, str] = {
    "a count that is negative": behind_rounds(UNEQUAL, "ge.s32 %r5, 0"),
    "the number itself": behind_rounds(UNEQUAL, "ge.s32 %r1, 0"),
    "tested before the round": behind_rounds(
        "bra L;", "ge.s32 %r5, 0", first="setp.eq.u32 %p4, %r5, %r1; @%p4 bra X;"
    ),
    "no round at all": behind_rounds(f"add.s32 %r7, %r7, 2; {UNEQUAL}", "ne.s32 %r7, %r1"),
    "counted down past it": waits(  # n = 120
        f"{guards('gt.s32 %r1, 150')} mov.u32 %r5, 101; L: barrier.sync 2, 32; sub.s32 %r5, %r5, 1; {UNEQUAL}",
        "le.s32 %r5, 100",
    ),
    "a wide count": behind_rounds(f"add.s64 %rd1, %rd1, 1; {UNEQUAL}", "lt.u64 %rd1, 0x80000000"),
}
"""Where rounds are never what n is before they wrap around, n is negative, or nothing was to be done."""


@pytest.mark.parametrize("name", WRAPPED)
def test_rounds_that_wrap_around_are_an_assumption(name: str) -> None:
    result = verified(kernel(WRAPPED[name], threads=64), for_every_count=True)
    found = next(each for each in result.verdicts() if each.property is Property.DEADLOCK_FREEDOM)
    assert found.kind is not VerdictKind.PROVED
    assert any("wraps around" in each.text for each in found.assumptions)


HOLDS = {
    "no number is larger than the larger one": waits("max.u32 %r10, %r1, 0x80000000;", "ge.u32 %r10, %r1"),
    "no number is larger than the largest": waits("max.u32 %r10, %r2, -1;", "ge.u32 %r10, %r1"),
    "no number is below zero": waits("", "ne.s32 %r2, 0", "le.u32 %r2, %r1"),
}


@pytest.mark.parametrize("name", HOLDS)
@pytest.mark.parametrize("for_every_count", [False, True], ids=["runs", "product"])
def test_what_hangs_for_no_number_is_not_violated(name: str, for_every_count: bool) -> None:
    result = verified(kernel(HOLDS[name], threads=64), for_every_count=for_every_count)
    found = next(each for each in result.verdicts() if each.property is Property.DEADLOCK_FREEDOM)
    assert found.kind is not VerdictKind.VIOLATED
