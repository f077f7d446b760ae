"""Numbers of less than a register, and instructions that change what they compute."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.symex.values.substitution import leaves, with_pins
from ptxcheck.protocols.symex.values.symbol import Form, Value

from .running import run


def expected(body: str) -> Value:
    """Return what %r5 is at the end of a body, in which %r2 is the parameter n."""
    end = "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], %r5;"
    ran = run("mov.u32 %r1, smem; ld.param.u32 %r2, [n];" + body + end, threads=32)
    (amount,) = ran.operands("mbarrier.expect_tx", "tx_count")
    return amount


@pytest.mark.parametrize(
    ("kind", "read"), [("s8", 0xFFFFFF80), ("u8", 0x80), ("b8", 0x80), ("s16", 0xFFFFFF80), ("u16", 0xFF80)]
)
def test_signed_loads_fill_the_register(kind: str, read: int) -> None:
    body = f"mov.u32 %r3, 0xff80; st.shared.u16 [table], %r3; bar.sync 0; ld.shared.{kind} %r5, [table];"
    assert expected(body) == read


@pytest.mark.parametrize(
    ("body", "bits"),
    [
        ("cvt.u32.u8 %r5, %r2;", 8),
        ("cvt.u32.u16 %r5, %r2;", 16),
        ("st.shared.u8 [table], %r2; bar.sync 0; ld.shared.u8 %r5, [table];", 8),
        ("st.shared.u16 [table], %r2; bar.sync 0; ld.shared.u16 %r5, [table];", 16),
        ("st.shared.u32 [table], %r2; bar.sync 0; ld.shared.u32 %r5, [table];", 32),
    ],
)
def test_low_bits_of_a_parameter(body: str, bits: int) -> None:
    number = 0x12345
    value = expected(body)
    assert isinstance(value, Form)
    assert with_pins(value, dict.fromkeys(leaves(value), number), 32) == number & ((1 << bits) - 1)


@pytest.mark.parametrize("kind", ["u8", "s8"])
def test_a_parameter_of_a_byte_has_no_more_bits(kind: str) -> None:
    assert expected(f"ld.param.{kind} %r2, [n]; cvt.s32.{kind} %r5, %r2;") == expected(
        f"ld.param.{kind} %r5, [n];"
    )


def test_low_bits_read_as_a_signed_number() -> None:
    value = expected("cvt.s32.s8 %r5, %r2;")
    assert isinstance(value, Form)
    assert value != expected("mov.u32 %r5, %r2;")


@pytest.mark.parametrize(
    "body",
    [
        "mov.u32 %r3, -5; max.relu.s32 %r5, %r3, -7;",
        "mov.u32 %r3, 0x0001ffff; add.u16x2 %r5, %r3, 1;",
        "mov.u32 %r3, 0x7fffffff; add.sat.s32 %r5, %r3, 1;",
        "mov.u32 %r3, %laneid; shfl.sync.idx.b32 %r5, %r3, 7, 0, -1;",
    ],
)
def test_results_that_are_not_computed(body: str) -> None:
    assert isinstance(expected(body), Form)
