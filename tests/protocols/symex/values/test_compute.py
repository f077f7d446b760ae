"""Operations that the machine follows, and what is known of those that it does not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxcheck.cfg.optypes import Typing
from ptxcheck.opcodes.op import Op
from ptxcheck.protocols.symex.values import lane_arithmetic as lanes
from ptxcheck.protocols.symex.values.compute import COMPUTE
from ptxcheck.protocols.symex.values.kinds import Kind
from ptxcheck.protocols.symex.values.substitution import leaves, with_pins
from ptxcheck.protocols.symex.values.symbol import Form, Value, atom
from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import run
from tests.protocols.verifying import kind, verified

COMPUTED_BY_BOTH_ROLES = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .f32 scale_in)
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
    ld.param.f32 scale, [scale_in];
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
"""Operations that the machine does not follow give one number only where all that they read is one."""
MULTIPLY_AND_ADD = "fma.rn.f32 product, scale, 0f40000000, scale;"


@pytest.mark.parametrize(
    ("other", "is_alike"),
    [
        (MULTIPLY_AND_ADD, True),
        ("fma.rn.f32 product, scale, 0f40400000, scale;", False),
        ("fma.rn.f32 product, scale, scale, 0f40000000;", False),
        (f"{MULTIPLY_AND_ADD} sub.f32 product, product, scale;", False),
    ],
    ids=["the same", "another number", "in another order", "more steps"],
)
def test_what_is_computed_in_another_way_is_another_number(other: str, is_alike: bool) -> None:
    verdict = kind(
        verified(COMPUTED_BY_BOTH_ROLES.format(one=MULTIPLY_AND_ADD, other=other)), Property.DEADLOCK_FREEDOM
    )
    assert (verdict not in (VerdictKind.UNKNOWN, VerdictKind.VIOLATED)) == is_alike


def test_what_a_register_held_before_counts() -> None:
    """The result of an operation on itself is not what another one starts with."""
    one = "mul.f32 product, product, 0f40000000;"
    verdict = kind(
        verified(COMPUTED_BY_BOTH_ROLES.format(one=one, other=one + one)), Property.DEADLOCK_FREEDOM
    )
    assert verdict in (VerdictKind.UNKNOWN, VerdictKind.VIOLATED)


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


N = atom("param", "n", 0, 4)


@given(
    st.integers(0, 1 << 12),
    st.lists(st.integers(-(1 << 12), 1 << 12), min_size=4, max_size=4),
    st.integers(1, 5),
)
def test_signed_indices_that_differ_between_lanes_become_places(stage: int, own: list[int], n: int) -> None:
    """As the front end makes places of numbers of some bits: `(index * size) >> log2(bits)`, in 64 bits."""
    wide, shift = Typing((".s32",), frozenset({".wide"})), Typing((".u64",), frozenset())
    held = np.array([each & 0xFFFFFFFF for each in own], dtype=np.uint64)

    def place(number: Value) -> Value:
        index = lanes.add(lanes.multiply(number, 64, 32), held, 32)
        bits = COMPUTE[Op.MUL](wide, (index, 4), 4)
        return COMPUTE[Op.SHR](shift, (bits, n), 4)

    symbolic = place(N)
    assert isinstance(symbolic, Form)
    found = with_pins(symbolic, {leaf: stage for leaf in leaves(symbolic) if leaf[0] == "param"}, 4)
    assert not isinstance(found, Form)
    expected = [((stage * 64 + each) * 4 & 0xFFFFFFFFFFFFFFFF) >> n for each in own]
    assert np.broadcast_to(found, 4).tolist() == expected
    computed = place(stage)
    assert not isinstance(computed, Form)
    assert np.broadcast_to(computed, 4).tolist() == expected


SIGNED = st.integers(-(1 << 31), (1 << 31) - 1)


@given(SIGNED, SIGNED, st.sampled_from([Op.MIN, Op.MAX]))
def test_an_extreme_that_is_not_negative(one: int, other: int, op: Op) -> None:
    relu = Typing((".s32",), frozenset({".relu", ".s32"}))
    mask = (1 << 32) - 1
    expected = max(0, min(one, other) if op is Op.MIN else max(one, other))
    assert COMPUTE[op](relu, (one & mask, other & mask), 1) == expected
    size = atom(Kind.PARAM, "n", 0, 4)
    found = COMPUTE[op](relu, (size, other & mask), 1)
    assert isinstance(found, Form)
    assert with_pins(found, {size.terms[0][0]: one}, 1) == expected
    plain = COMPUTE[op](Typing((".s32",), frozenset({".s32"})), (size, other & mask), 1)
    assert found == COMPUTE[Op.MAX](Typing((".s32",), frozenset({".s32"})), (plain, 0), 1)


@pytest.mark.parametrize(("number", "expected"), [(-5, 3), (4, 7), (9, 10)])
def test_an_instruction_that_gives_no_negative_number(number: int, expected: int) -> None:
    body = f"""mov.u32 %r1, {number}; min.relu.s32 %r2, %r1, 7; add.u32 %r3, %r2, 3; mov.u32 %r4, smem;
        mbarrier.init.shared.b64 [%r4], %r3;"""
    assert run(body, threads=32).operands("mbarrier.init", "count") == [expected]
