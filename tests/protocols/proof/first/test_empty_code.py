"""Code for an empty size alone says that the kernel is meant for it: to go wrong there is no condition on the host."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

IS_EMPTY = "setp.lt.s32 %p1, %r2, 1;"
ROUNDS_LESS_THAN_ONE = "add.s32 %r4, %r2, 63; shr.s32 %r4, %r4, 6; setp.lt.s32 %p1, %r4, 1;"
OR_A_FLAG = "ld.param.u32 %r3, [m]; setp.eq.s32 %p2, %r3, 7; setp.lt.or.s32 %p1, %r2, 1, %p2;"
OR_FURTHER_ON = "setp.lt.s32 %p1, %r2, 1; @%p1 bra NONE; ld.param.u32 %r3, [m]; setp.eq.s32 %p1, %r3, 7;"
BODY = """
    mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p9, %r9, 0;
    @%p9 mbarrier.init.shared.b64 [%r1], 64; bar.sync 0;
    ld.param.u32 %r2, [n]; mov.u32 %r5, 0; mov.u32 %r6, 0;
    {asks} @%p1 bra NONE;
ROUND:
    mbarrier.arrive.shared.b64 _, [%r1];
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p8, [%r1], %r6; @!%p8 bra WAIT;
    xor.b32 %r6, %r6, 1; add.u32 %r5, %r5, 1; setp.lt.s32 %p3, %r5, %r2; @%p3 bra ROUND; bra END;
NONE:
    {arrives}
LAST:
    mbarrier.try_wait.parity.shared.b64 %p8, [%r1], 0; @!%p8 bra LAST;
END:
"""
ALL_ARRIVE = "mbarrier.arrive.shared.b64 _, [%r1];"
ALL_WITH_WORK_ARRIVE = "setp.gt.s32 %p4, %r2, 0; @%p4 mbarrier.arrive.shared.b64 _, [%r1];"
BROKEN = (VerdictKind.VIOLATED,)
PROVED = (VerdictKind.PROVED, VerdictKind.PROVED_BOUNDED)


def _verify(asks: str, arrives: str) -> Verification:
    return verified(kernel(BODY.format(asks=asks, arrives=arrives), threads=64))


@pytest.mark.parametrize("asks", [IS_EMPTY, ROUNDS_LESS_THAN_ONE], ids=["size", "rounds"])
@pytest.mark.parametrize(
    ("arrives", "expected"),
    [
        ("", BROKEN),
        (ALL_WITH_WORK_ARRIVE, BROKEN),
        (ALL_ARRIVE, PROVED),
    ],
    ids=["none", "none there", "all"],
)
def test_code_for_an_empty_size_is_held_to_its_contract(
    asks: str, arrives: str, expected: tuple[VerdictKind, ...]
) -> None:
    result = _verify(asks, arrives)
    assert kind(result, Property.DEADLOCK_FREEDOM) in expected
    assert not result.required


def test_accesses_meet_in_code_for_an_empty_size_if_one_of_them_is_there() -> None:
    body = """
        mov.u32 %r9, %tid.x; shl.b32 %r1, %r9, 2; mov.u32 %r3, smem; add.u32 %r3, %r3, %r1;
        st.shared.u32 [%r3], %r9; setp.eq.u32 %p9, %r9, 0; @%p9 mbarrier.init.shared.b64 [table], 1;
        ld.param.u32 %r2, [n]; setp.ge.s32 %p1, %r2, 1; @%p1 bra END;
        {meets} xor.b32 %r1, %r1, 128; mov.u32 %r3, smem; add.u32 %r3, %r3, %r1; ld.shared.u32 %r4, [%r3]; bar.sync 1;
    END:
    """
    broken = verified(kernel(body.format(meets=""), threads=64))
    assert kind(broken, Property.SLOT_SAFETY) is VerdictKind.VIOLATED
    assert not broken.required
    right = verified(kernel(body.format(meets="bar.sync 0;"), threads=64))
    assert kind(right, Property.SLOT_SAFETY) is VerdictKind.PROVED


def test_of_two_empty_sizes_the_code_is_for_one() -> None:
    """None arrives where m is less than one, which the code for n less than one is not for."""
    some_arrive = "ld.param.u32 %r3, [m]; setp.gt.s32 %p4, %r3, 0; @%p4 mbarrier.arrive.shared.b64 _, [%r1];"
    result = _verify(IS_EMPTY, some_arrive)
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.ASSUMES
    (required,) = result.required.values()
    assert required.text.startswith("m is at least 1: with less")


@pytest.mark.parametrize("asks", [OR_A_FLAG, OR_FURTHER_ON], ids=["one predicate", "two branches"])
def test_code_that_a_flag_leads_to_as_well_is_not_for_an_empty_size_alone(asks: str) -> None:
    result = _verify(asks, ALL_WITH_WORK_ARRIVE)
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.ASSUMES
    (required,) = result.required.values()
    assert required.text.startswith("n is at least 1: with less")
    assert kind(_verify(asks, ""), Property.DEADLOCK_FREEDOM) is VerdictKind.VIOLATED
