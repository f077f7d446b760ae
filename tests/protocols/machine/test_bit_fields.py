"""Bit fields that reach beyond the register, and additions that read a carry."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.symex.values.symbol import Form

from .running import run


@pytest.mark.parametrize(
    ("kind", "place", "length", "found"),
    [
        ("s32", 24, 8, 0xFFFFFF80),
        ("s32", 24, 16, 0xFFFFFF80),
        ("s32", 4, 40, 0xF8000000),
        ("s32", 0, 8, 1),
        ("s32", 31, 1, 0xFFFFFFFF),
        ("s32", 40, 8, 0xFFFFFFFF),
        ("s32", 4, 0, 0),
        ("u32", 24, 16, 0x80),
        ("u32", 4, 40, 0x08000000),
    ],
)
def test_a_field_ends_with_the_register(kind: str, place: int, length: int, found: int) -> None:
    body = f"""
    mov.u32 %r1, 0x80000001; bfe.{kind} %r2, %r1, {place}, {length}; mov.u32 %r3, smem;
    mbarrier.init.shared.b64 [%r3], %r2;
    """
    assert run(body).operands("mbarrier.init", "count") == [found]


def test_a_carry_is_no_operand() -> None:
    body = """
    ld.param.u32 %r1, [n]; ld.param.u32 %r2, [m]; mov.u32 %r9, smem; mov.u32 %r8, %tid.x; setp.eq.u32 %p1, %r8, 0;
    add.cc.u32 %r3, %r1, 1; addc.u32 %r4, %r2, 0; add.cc.u32 %r3, %r1, 7; addc.u32 %r5, %r2, 0; sub.u32 %r6, %r4, %r5;
    mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r9], %r6;
    """
    (found,) = run(body).operands("mbarrier.expect_tx", "tx_count")
    assert isinstance(found, Form)
