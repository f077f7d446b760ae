"""Operations that the machine does not follow give one number only where all that they read is one."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind

from .verifying import kind, verified

KERNEL = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .f32 scale)
.reqntid 64
{{
    .shared .align 8 .b64 full;
    .reg .pred first, other, large, ready;
    .reg .b32 thread;
    .reg .f32 scale, product;
    mov.u32 thread, %tid.x;
    setp.eq.u32 first, thread, 0;
    @first mbarrier.init.shared.b64 [full], 1;
    bar.sync 0;
    ld.param.f32 scale, [scale];
    setp.gt.u32 other, thread, 31;
    @other bra CONSUMER;
    mov.f32 product, scale;
    {one}
    setp.gt.f32 large, product, 0f3F800000;
    @!large bra END;
    @first mbarrier.arrive.shared.b64 _, [full];
    bra END;
CONSUMER:
    mov.f32 product, scale;
    {other}
    setp.gt.f32 large, product, 0f3F800000;
    @!large bra END;
WAIT:
    mbarrier.try_wait.parity.shared.b64 ready, [full], 0;
    @!ready bra WAIT;
END:
    ret;
}}
"""


MADE = "fma.rn.f32 product, scale, 0f40000000, scale;"


@pytest.mark.parametrize(
    ("other", "is_alike"),
    [
        (MADE, True),
        ("fma.rn.f32 product, scale, 0f40400000, scale;", False),
        ("fma.rn.f32 product, scale, scale, 0f40000000;", False),
        (f"{MADE} sub.f32 product, product, scale;", False),
    ],
    ids=["the same", "another number", "in another order", "more steps"],
)
def test_what_is_computed_in_another_way_is_another_number(other: str, is_alike: bool) -> None:
    verdict = kind(verified(KERNEL.format(one=MADE, other=other)), Property.DEADLOCK_FREEDOM)
    assert (verdict not in (VerdictKind.UNKNOWN, VerdictKind.VIOLATED)) == is_alike


def test_what_a_register_held_before_counts() -> None:
    """The result of an operation on itself is not what another one starts with."""
    one = "mul.f32 product, product, 0f40000000;"
    verdict = kind(verified(KERNEL.format(one=one, other=one + one)), Property.DEADLOCK_FREEDOM)
    assert verdict in (VerdictKind.UNKNOWN, VerdictKind.VIOLATED)
