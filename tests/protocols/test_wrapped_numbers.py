"""Two warps that meet as often as numbers say that are not what they look like: narrow, extended, moved by a constant.

In each kernel one warp waits for ever for some number of the host: none is proved without saying what excludes it.
"""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Evidence, Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

TEXT = """
.reg .b16 %h<9>;
ld.param.u32 %r1, [n]; ld.param.u32 %r4, [m]; mov.u32 %r9, %tid.x; setp.ge.u32 %p9, %r9, 32;
@%p9 bra LATER;
{one}
bra END;
LATER: {other}
END:
"""
ONCE = "{} @%p1 bra END; barrier.sync 1, 64;"
ALWAYS = "barrier.sync 1, 64;"
ROUNDS = """mov.{type} {i}, {first}; {name}: setp.ge.{order} %p1, {i}, {count}; @%p1 bra {name}E;
barrier.sync 1, 64; add.{type} {i}, {i}, 1; bra {name}; {name}E:
"""
WORD = "cvt.u16.u32 %h1, %r1;"


def once(text: str) -> str:
    return ONCE.format(text)


def rounds(name: str, order: str, count: str, first: int = 0) -> str:
    counter = "%rd2" if "64" in order else "%r2"
    kind_of = "u64" if "64" in order else "u32"
    return ROUNDS.format(name=name, order=order, count=count, first=first, i=counter, type=kind_of)


HANGS: dict[str, tuple[str, str]] = {
    "sign of 16 bits": (once(WORD + "setp.lt.s16 %p1, %h1, 0;"), ALWAYS),
    "16 bits with and without a sign": (
        once(WORD + "setp.lt.s16 %p1, %h1, 5;"), once(WORD + "setp.lt.u16 %p1, %h1, 5;")
    ),
    "16 bits shifted with and without a sign": (
        once(WORD + "shr.s16 %h1, %h1, 3; setp.eq.s16 %p1, %h1, 8191;"),
        once(WORD + "shr.u16 %h1, %h1, 3; setp.eq.s16 %p1, %h1, 8191;"),
    ),
    "16 bits extended with their sign": (
        WORD + "cvt.s32.s16 %r10, %h1;" + rounds("A", "s32", "%r10"),
        WORD + "cvt.u32.u16 %r10, %h1;" + rounds("B", "s32", "%r10"),
    ),
    "extended with its sign, in 64 bits without": (
        once("cvt.s64.s32 %rd1, %r1; setp.gt.u64 %p1, %rd1, 4294967295;"), ALWAYS
    ),
    "rounds of 64 bits": (rounds("A", "u32", "%r1"), "cvt.s64.s32 %rd1, %r1;" + rounds("B", "u64", "%rd1")),
    "64 bits that are cut": (
        once(
            "cvt.s64.s32 %rd1, %r1; shl.b64 %rd1, %rd1, 8; shr.u64 %rd1, %rd1, 8; cvt.u32.u64 %r10, %rd1;"
            "setp.lt.s32 %p1, %r10, 0;"
        ),
        ALWAYS,
    ),
    "one less": (once("sub.u32 %r10, %r1, 1; setp.lt.s32 %p1, %r10, 0;"), once("setp.lt.s32 %p1, %r1, 1;")),
    "one less, in 64 bits": (
        once("sub.s32 %r10, %r1, 1; cvt.s64.s32 %rd1, %r10; setp.lt.s64 %p1, %rd1, 0;"),
        once("setp.lt.s32 %p1, %r1, 1;"),
    ),
    "some more": (once("add.u32 %r10, %r1, 5; setp.lt.s32 %p1, %r10, 10;"), once("setp.lt.s32 %p1, %r1, 5;")),
    "the opposite": (once("neg.s32 %r10, %r1; setp.ge.s32 %p1, %r10, 0;"), once("setp.le.s32 %p1, %r1, 0;")),
    "rounds from 0 and from 8": (
        "sub.s32 %r10, %r1, 8;" + rounds("A", "s32", "%r10"), rounds("B", "s32", "%r1", first=8)
    ),
    "one more is less": (once("add.u32 %r10, %r1, 1; setp.le.s32 %p1, %r10, %r1;"), ALWAYS),
    "equal to one more, in 64 bits": (
        once("add.s32 %r10, %r1, 1; cvt.s64.s32 %rd1, %r10; setp.eq.s64 %p1, %rd1, 2147483648;"),
        once("setp.eq.s32 %p1, %r1, 2147483647;"),
    ),
    "rounds up to one more, in 64 bits": (
        "add.s32 %r10, %r1, 1; cvt.s64.s32 %rd1, %r10; mov.u64 %rd2, 0;"
        "A: setp.eq.s64 %p1, %rd2, %rd1; @%p1 bra END; barrier.sync 1, 64; add.s64 %rd2, %rd2, 1; bra A;",
        "mov.u32 %r3, 0; B: setp.gt.u32 %p1, %r3, %r1; @%p1 bra END; barrier.sync 1, 64;"
        "add.u32 %r3, %r3, 1; bra B;",
    ),
    "the larger of a number and one more": (
        once("add.s32 %r10, %r1, 1; max.s32 %r10, %r10, %r1; sub.s32 %r10, %r10, %r1; setp.ne.s32 %p1, %r10, 1;"),
        ALWAYS,
    ),
    "16 bits with their sign by shifts": (
        once("shl.b32 %r10, %r1, 16; shr.s32 %r10, %r10, 16; setp.ne.s32 %p1, %r10, %r1;"), ALWAYS
    ),
    "a quotient of a multiple": (
        once("mul.lo.s32 %r10, %r1, 4; div.s32 %r10, %r10, 4; setp.ne.s32 %p1, %r10, %r1;"), ALWAYS
    ),
    "a quotient of a sum": (
        once("sub.s32 %r10, %r1, 8; shr.s32 %r10, %r10, 3; setp.lt.s32 %p1, %r10, 1;"),
        once("setp.lt.s32 %p1, %r1, 16;"),
    ),
    "an unsigned order of known numbers": (
        "setp.ne.u32 %p2, %r1, 4294967295; @%p2 bra END; setp.ne.u32 %p2, %r4, 0; @%p2 bra END;"
        "setp.lt.u32 %p1, %r4, %r1; @!%p1 bra END; barrier.sync 1, 64;",
        "",
    ),
    "a sum is less": (once("mov.u32 %r10, %ctaid.x; add.u32 %r10, %r10, %r1; setp.lt.u32 %p1, %r10, %r1;"), ALWAYS),
}  # fmt: skip


@pytest.mark.parametrize("name", HANGS)
@pytest.mark.parametrize("for_every_count", [False, True], ids=["runs", "product"])
def test_what_goes_wrong_for_some_number_is_not_proved(name: str, for_every_count: bool) -> None:
    one, other = HANGS[name]
    result = verified(kernel(TEXT.format(one=one, other=other), threads=64), for_every_count=for_every_count)
    assert kind(result, Property.DEADLOCK_FREEDOM) is not VerdictKind.PROVED


HOLDS: dict[str, tuple[str, str]] = {
    "one less behind a guard": (
        "setp.lt.s32 %p1, %r1, 1; @%p1 bra END; sub.s32 %r10, %r1, 1;" + rounds("A", "s32", "%r10"),
        "setp.lt.s32 %p1, %r1, 1; @%p1 bra END; sub.s32 %r10, %r1, 1;" + rounds("B", "s32", "%r10"),
    ),
    "a quotient": (
        "shr.u32 %r10, %r1, 5; sub.s32 %r10, %r10, 1;" + rounds("A", "s32", "%r10"),
        "shr.u32 %r10, %r1, 5; sub.s32 %r10, %r10, 1;" + rounds("B", "s32", "%r10"),
    ),
    "16 bits without their sign": (
        WORD + "cvt.u32.u16 %r10, %h1;" + rounds("A", "s32", "%r10"),
        WORD + "cvt.u32.u16 %r10, %h1;" + rounds("B", "u32", "%r10"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOLDS)
def test_what_holds_for_all_numbers_is_shown_for_all(name: str) -> None:
    one, other = HOLDS[name]
    result = verified(kernel(TEXT.format(one=one, other=other), threads=64), for_every_count=True)
    found = next(each for each in result.verdicts() if each.property is Property.DEADLOCK_FREEDOM)
    assert found.evidence is Evidence.FOR_ALL
    assert not any("wraps" in each.text for each in result.assumptions.values())


@pytest.mark.parametrize("largest", ["min", "max"])
def test_all_numbers_that_are_read_in_both_ways_are_named(largest: str) -> None:
    both = f"{largest}.u32 %r10, %r1, %r4;"
    text = TEXT.format(one=both + rounds("A", "s32", "%r10"), other=both + rounds("B", "u32", "%r10"))
    result = verified(kernel(text, threads=64), for_every_count=True)
    found = next(each for each in result.verdicts() if each.property is Property.DEADLOCK_FREEDOM)
    texts = {each.text for each in result.assumptions.values()}
    assert found.evidence is not Evidence.FOR_ALL or {"n is not negative", "m is not negative"} <= texts
