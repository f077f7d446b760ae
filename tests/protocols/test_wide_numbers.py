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
