"""Two warps that meet as often as numbers of 64 bits say, and what 64 bits hold of 32: with a sign, without it, masked.

Worked out by hand from the semantics of the PTX ISA: `HANGS` for the number that is named, `HOLDS` for no number.
"""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.test_wrapped_numbers import ALWAYS, TEXT, once
from tests.protocols.verifying import kind, verified

WIDE = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 n, .param .u64 m)
.reqntid 64
{{
.reg .b64 %rd<9>; .reg .b32 %r<12>; .reg .pred %p<12>;
ld.param.u64 %rd1, [n]; ld.param.u64 %rd2, [m]; mov.u32 %r9, %tid.x; setp.ge.u32 %p9, %r9, 32;
@%p9 bra END;
{alone}
END: ret;
}}
"""
IS = "setp.ne.s64 %p1, %rd1, {}; @%p1 bra END;"
MEET = "barrier.sync 1, 64;"
ALONE: dict[str, str] = {
    "2^32 is not 0": IS.format(1 << 32) + "setp.eq.s64 %p1, %rd1, 0; @%p1 bra END;" + MEET,
    "2^32 - 1 is not negative": IS.format((1 << 32) - 1) + "setp.lt.s64 %p1, %rd1, 0; @%p1 bra END;" + MEET,
    "2^32 - 1 is not small": IS.format((1 << 32) - 1) + "setp.lt.s64 %p1, %rd1, 5; @%p1 bra END;" + MEET,
    "8 times 2^32 is not 0": (
        IS.format(1 << 32) + "shl.b64 %rd1, %rd1, 3; setp.eq.s64 %p1, %rd1, 0; @%p1 bra END;" + MEET
    ),
    "2^32 is another number than 0": (
        IS.format(1 << 32) + "setp.ne.s64 %p1, %rd2, 0; @%p1 bra END; setp.eq.s64 %p1, %rd1, %rd2; @%p1 bra END;" + MEET
    ),
    "2^32 is more than 0": (
        IS.format(1 << 32) + "setp.ne.s64 %p1, %rd2, 0; @%p1 bra END; setp.le.u64 %p1, %rd1, %rd2; @%p1 bra END;" + MEET
    ),
    "2^32 is less than 2^33": (
        IS.format(1 << 32) + "setp.ne.s64 %p1, %rd2, 8589934592; @%p1 bra END; setp.ge.s64 %p1, %rd1, %rd2;"
        "@%p1 bra END;" + MEET
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ALONE)
@pytest.mark.parametrize("for_every_count", [False, True], ids=["runs", "product"])
def test_a_warp_that_waits_alone_for_a_number_of_64_bits_is_found(name: str, for_every_count: bool) -> None:
    result = verified(WIDE.format(alone=ALONE[name]), for_every_count=for_every_count)
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.VIOLATED


MORE = "add.s32 %r10, %r1, 1;"
EXTEND = "cvt.s64.s32 %rd1, %r1;"
REST = "rem.s32 %r10, %r1, 10; cvt.u64.u32 %rd1, %r10;"
HANGS: dict[str, tuple[str, str]] = {
    "one more, less one, in 64 bits": (  # n = 2^31 - 1
        once(MORE + "cvt.s64.s32 %rd2, %r10;" + EXTEND + "sub.s64 %rd1, %rd2, %rd1; setp.ne.s64 %p1, %rd1, 1;"),
        ALWAYS,
    ),
    "eight times one more, less eight times, in 64 bits": (  # n = 2^31 - 1
        once(MORE + "cvt.s64.s32 %rd2, %r10; neg.s64 %rd3, %rd2; mul.lo.s64 %rd3, %rd3, 8;" + EXTEND
             + "mad.lo.s64 %rd1, %rd1, 8, %rd3; setp.ne.s64 %p1, %rd1, -8;"),
        ALWAYS,
    ),
    "masked to 32 bits": (  # n = -2
        once(MORE + "cvt.s64.s32 %rd1, %r10; and.b64 %rd1, %rd1, 4294967295; setp.eq.s64 %p1, %rd1, -1;"),
        once("setp.eq.s32 %p1, %r1, -2;"),
    ),
    "masked to 32 bits behind a choice": (  # n = -1
        once(EXTEND + "and.b64 %rd1, %rd1, 4294967288; setp.lt.s64 %p1, %rd1, 0;"), once("setp.lt.s32 %p1, %r1, 0;")
    ),
    "the larger of a rest and a number": (  # n = -65536
        once("rem.s32 %r10, %r4, 10; max.u32 %r10, %r10, %r1; setp.eq.s32 %p1, %r10, -65536;"), ALWAYS
    ),
}  # fmt: skip
HOLDS: dict[str, tuple[str, str]] = {
    "a rest without its sign is not negative": (once(REST + "setp.lt.s64 %p1, %rd1, 0;"), ALWAYS),
    "one that never meets": (once(REST + "setp.ge.s64 %p1, %rd1, 0;"), ""),
    "nor is it with nine more": (once(REST + "add.s64 %rd1, %rd1, 9; setp.lt.s64 %p1, %rd1, 4;"), ALWAYS),
}


@pytest.mark.parametrize("name", HANGS)
@pytest.mark.parametrize("for_every_count", [False, True], ids=["runs", "product"])
def test_what_64_bits_hold_of_32_is_not_proved_where_it_hangs(name: str, for_every_count: bool) -> None:
    one, other = HANGS[name]
    result = verified(kernel(TEXT.format(one=one, other=other), threads=64), for_every_count=for_every_count)
    assert kind(result, Property.DEADLOCK_FREEDOM) is not VerdictKind.PROVED


@pytest.mark.parametrize("name", HOLDS)
@pytest.mark.parametrize("for_every_count", [False, True], ids=["runs", "product"])
def test_a_number_that_loses_its_sign_is_no_counterexample(name: str, for_every_count: bool) -> None:
    one, other = HOLDS[name]
    result = verified(kernel(TEXT.format(one=one, other=other), threads=64), for_every_count=for_every_count)
    assert kind(result, Property.DEADLOCK_FREEDOM) is not VerdictKind.VIOLATED


FOUR = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u32 n, .param .u32 m, .param .u64 p, .param .u64 q)
.reqntid 64
{{
.reg .b64 %rd<19>; .reg .b32 %r<32>; .reg .pred %p<22>;
ld.param.u32 %r1, [n]; ld.param.u32 %r2, [m]; ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];
mov.u32 %r29, %tid.x; setp.ge.u32 %p20, %r29, 32; @%p20 bra LATER;
{one}
bra END;
LATER: {other}
END: ret;
}}
"""
LEAVE = "@%p1 bra END; "
STAY = "@!%p1 bra END; "
EXTENDED = "cvt.s64.s32 %rd3, %r3; cvt.s64.s32 %rd4, %r1;"
NOT_PROVED: dict[str, tuple[str, str]] = {
    "the end of signed numbers of 32 bits": (  # n = 0, m = 0
        "setp.ge.u32 %p1, %r1, 2147483648;" + LEAVE + "setp.eq.s32 %p1, %r2, 3;" + LEAVE + MEET, ""
    ),
    "two large numbers under a mask": (  # p = -1, q = 2^40
        "setp.ne.s64 %p1, %rd1, -1;" + LEAVE + "setp.ne.s64 %p1, %rd2, 1099511627776;" + LEAVE
        + "and.b64 %rd3, %rd1, %rd2; setp.eq.s64 %p1, %rd3, 0;" + LEAVE + MEET, ""
    ),
    "a large number under a mask of ones": (  # p = -1, q = 2^40
        "setp.ne.s64 %p1, %rd1, -1;" + LEAVE + "and.b64 %rd3, %rd1, %rd2; setp.lt.s64 %p1, %rd3, 4294967296;"
        + LEAVE + MEET, ""
    ),
    "the opposite of the least number": (  # n = -2^31
        "neg.s32 %r3, %r1;" + EXTENDED + "add.s64 %rd3, %rd3, %rd4; setp.eq.s64 %p1, %rd3, 0;" + LEAVE + MEET, ""
    ),
    "twice a number": (  # n = 2^30
        "shl.b32 %r3, %r1, 1;" + EXTENDED + "mul.wide.s32 %rd4, %r1, 2; sub.s64 %rd3, %rd3, %rd4;"
        "setp.eq.s64 %p1, %rd3, 0;" + LEAVE + MEET, ""
    ),
    "twice a number, compared": (  # n = 2^30
        "shl.b32 %r3, %r1, 1;" + EXTENDED + "mul.wide.s32 %rd4, %r1, 2; setp.eq.s64 %p1, %rd3, %rd4;" + LEAVE + MEET,
        "",
    ),
    "one more, by a wide product": (  # n = 2^31 - 1
        "add.s32 %r3, %r1, 1;" + EXTENDED + "mad.wide.s32 %rd3, %r1, -1, %rd3; setp.eq.s64 %p1, %rd3, 1;" + LEAVE
        + MEET, ""
    ),
    "one more, by an exclusive or": (  # n = 2^31 - 1
        "add.s32 %r3, %r1, 1;" + EXTENDED + "add.s64 %rd4, %rd4, 1; xor.b64 %rd3, %rd3, %rd4;"
        "setp.eq.s64 %p1, %rd3, 0;" + LEAVE + MEET, ""
    ),
    "a sum that is equal modulo 2^32": (  # n = 2
        "add.s32 %r3, %r1, 2147483647; setp.eq.s32 %p1, %r3, -2147483647;" + LEAVE + MEET, MEET
    ),
    "a large number that is cut": (  # n = 0
        "cvt.s64.s32 %rd3, %r1; sub.u64 %rd4, 8589934592, %rd3; cvt.u32.u64 %r3, %rd4; setp.le.u32 %p1, %r3, 8;"
        + LEAVE + MEET, MEET
    ),
    "bits that are flipped": (  # p = 2^31 + 4095
        "xor.b64 %rd3, %rd1, 4095; setp.ne.s64 %p1, %rd3, 2147483648;" + LEAVE + MEET, ""
    ),
    "high bits that are set": (  # p = 0
        "or.b64 %rd3, %rd1, -4294967296; setp.le.s64 %p1, %rd3, -2147483649;" + LEAVE + MEET, MEET
    ),
    "a bit that is no sign": (  # p = -2^63
        "and.b64 %rd3, %rd1, 2147483648; setp.ge.s64 %p1, %rd1, %rd3;" + STAY + MEET, MEET
    ),
    "more than the least number": (  # p = 2^62
        "max.s64 %rd3, %rd1, 2147483648; setp.gt.s64 %p1, %rd3, -9223372036854775808;" + LEAVE + MEET, MEET
    ),
    "the least number": (  # n = -2^31
        "setp.eq.s32 %p1, %r1, -2147483648;" + LEAVE + MEET, MEET
    ),
    "any number but the least": (  # n = -2^31
        "setp.ne.s32 %p1, %r1, -2147483648;" + LEAVE + MEET, ""
    ),
    "the first number with a sign": (  # n = 2^31
        "setp.eq.u32 %p1, %r1, 2147483648;" + LEAVE + MEET, MEET
    ),
    "the least number of 64 bits": (  # p = -2^63
        "setp.eq.s64 %p1, %rd1, -9223372036854775808;" + LEAVE + MEET, MEET
    ),
    "halves of one more": (  # n = 2^31 - 1
        "add.s32 %r3, %r1, 1;" + EXTENDED + "shr.s64 %rd3, %rd3, 1; add.s64 %rd4, %rd4, 1; shr.s64 %rd4, %rd4, 1;"
        "setp.eq.s64 %p1, %rd3, %rd4;" + LEAVE + MEET, ""
    ),
    "twice a number, less two times the number": (  # n = 2^30
        "shl.b32 %r3, %r1, 1;" + EXTENDED + "sub.s64 %rd3, %rd3, %rd4; sub.s64 %rd3, %rd3, %rd4;"
        "setp.eq.s64 %p1, %rd3, 0;" + LEAVE + MEET, ""
    ),
    "two numbers that are packed": (  # n = 5, m = 1
        "mov.b64 %rd3, {%r1, %r2}; setp.ne.s64 %p1, %rd3, 4294967301;" + LEAVE + MEET, ""
    ),
}  # fmt: skip
IS_LARGE = "setp.ne.u64 %p1, %rd1, {};" + LEAVE
NOT_VIOLATED: dict[str, tuple[str, str]] = {
    "a number that is negative once it is cut": (
        IS_LARGE.format((1 << 31) + 2) + "cvt.u32.u64 %r3, %rd1; setp.le.s32 %p1, %r3, 0;" + LEAVE + MEET, ""
    ),
    "a number that is small once it is cut": (
        IS_LARGE.format((1 << 32) + 5) + "cvt.u32.u64 %r3, %rd1; setp.eq.s32 %p1, %r3, 5;" + LEAVE + MEET, ""
    ),
    "what is cut is no larger than 32 bits hold": (
        "cvt.u32.s64 %r3, %rd1; setp.le.s32 %p1, %r3, 2147483647;" + LEAVE + MEET, ""
    ),
    "what is extended is no larger than 32 bits hold": (
        "shl.b32 %r3, %r1, 8; cvt.u64.u32 %rd3, %r3; setp.le.s64 %p1, %rd3, 8589934592;" + STAY + MEET, MEET
    ),
    "a multiple is no larger than 32 bits hold": (
        "mul.lo.u32 %r3, %r2, 4; setp.lt.u32 %p1, %r3, -2;" + STAY + MEET, MEET
    ),
    "the smaller of two numbers without a sign": (
        "min.u64 %rd3, %rd1, 1099511627776; setp.lt.u64 %p1, %rd3, -4294967297;" + STAY + MEET, MEET
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_PROVED)
@pytest.mark.parametrize("for_every_count", [False, True], ids=["runs", "product"])
def test_what_hangs_for_a_large_number_is_not_proved(name: str, for_every_count: bool) -> None:
    one, other = NOT_PROVED[name]
    result = verified(FOUR.format(one=one, other=other), for_every_count=for_every_count)
    assert kind(result, Property.DEADLOCK_FREEDOM) is not VerdictKind.PROVED


@pytest.mark.parametrize("name", NOT_VIOLATED)
@pytest.mark.parametrize("for_every_count", [False, True], ids=["runs", "product"])
def test_what_hangs_for_no_large_number_is_not_violated(name: str, for_every_count: bool) -> None:
    one, other = NOT_VIOLATED[name]
    result = verified(FOUR.format(one=one, other=other), for_every_count=for_every_count)
    assert kind(result, Property.DEADLOCK_FREEDOM) is not VerdictKind.VIOLATED
