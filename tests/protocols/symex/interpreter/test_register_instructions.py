"""Numbers that threads have for themselves, narrow ones, and lanes that are active together."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.symex.values.substitution import leaves, with_pins
from ptxcheck.protocols.symex.values.symbol import Form, Value
from ptxcheck.verdict import VerdictKind
from tests.protocols.machine_runs import run
from tests.protocols.verifying import deadlock

LAST_LANE_OF_A_MASK = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; and.b32 %r3, %r9, 31; setp.eq.u32 %p9, %r9, 0;
@%p9 mbarrier.init.shared.b64 [%r1], 2; bar.sync 0;
{mask}
brev.b32 %r6, %r5; clz.b32 %r6, %r6; setp.eq.u32 %p2, %r6, %r3;
@%p2 mbarrier.arrive.shared.b64 _, [%r1];
W: mbarrier.try_wait.parity.shared.b64 %p5, [%r1], 0; @!%p5 bra W;
"""


def test_active_lanes_are_taken_to_be_those_that_come() -> None:
    assert deadlock(LAST_LANE_OF_A_MASK.format(mask="activemask.b32 %r5;")) is VerdictKind.ASSUMES
    assert deadlock(LAST_LANE_OF_A_MASK.format(mask="mov.u32 %r5, 0xffffffff;")) is VerdictKind.PROVED


SIDES = (
    "setp.lt.u32 %p3, %r3, 16; @%p3 bra LOW; add.u32 %r7, %r7, 1; bra JOIN; LOW: add.u32 %r7, %r7, 2; JOIN: "
)


def test_active_lanes_are_not_known_behind_two_sides_of_a_branch() -> None:
    apart = f"{SIDES} activemask.b32 %r5;"
    together = f"{SIDES} bar.warp.sync 0xffffffff; activemask.b32 %r5;"
    assert deadlock(LAST_LANE_OF_A_MASK.format(mask=apart)) is VerdictKind.UNKNOWN
    assert deadlock(LAST_LANE_OF_A_MASK.format(mask=together)) is VerdictKind.ASSUMES


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ("mov.u32 %r5, 0xffffffff;", VerdictKind.PROVED),
        ("ld.param.u32 %r5, [n];", VerdictKind.UNKNOWN),
        (f"{SIDES} activemask.b32 %r5;", VerdictKind.UNKNOWN),
    ],
)
def test_a_warp_barrier_orders_the_lanes_of_its_mask_alone(mask: str, expected: VerdictKind) -> None:
    sync = f"{mask} bar.warp.sync %r5; mov.u32 %r5, 0xffffffff;"
    assert deadlock(LAST_LANE_OF_A_MASK.format(mask=sync)) is expected


def computed(body: str) -> Value:
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
    assert computed(body) == read


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
    value = computed(body)
    assert isinstance(value, Form)
    assert with_pins(value, dict.fromkeys(leaves(value), number), 32) == number & ((1 << bits) - 1)


@pytest.mark.parametrize("kind", ["u8", "s8"])
def test_a_parameter_of_a_byte_has_no_more_bits(kind: str) -> None:
    assert computed(f"ld.param.{kind} %r2, [n]; cvt.s32.{kind} %r5, %r2;") == computed(
        f"ld.param.{kind} %r5, [n];"
    )


def test_low_bits_read_as_a_signed_number() -> None:
    value = computed("cvt.s32.s8 %r5, %r2;")
    assert isinstance(value, Form)
    assert value != computed("mov.u32 %r5, %r2;")


@pytest.mark.parametrize(("number", "expected"), [(-5, 0), (3, 3)])
def test_the_larger_number_that_is_not_negative(number: int, expected: int) -> None:
    assert computed(f"mov.u32 %r3, {number}; max.relu.s32 %r5, %r3, -7;") == expected


@pytest.mark.parametrize(
    "body",
    [
        "mov.u32 %r3, 0x0001ffff; add.u16x2 %r5, %r3, 1;",
        "mov.u32 %r3, 0x7fffffff; add.sat.s32 %r5, %r3, 1;",
        "mov.u32 %r3, %laneid; shfl.sync.idx.b32 %r5, %r3, 7, 0, -1;",
    ],
)
def test_results_that_are_not_computed(body: str) -> None:
    assert isinstance(computed(body), Form)


BARRIER_BEHIND_A_NUMBER = """
.local .align 4 .b8 own[16];
mov.u32 %r9, %tid.x; ld.param.u32 %r1, [n]; ld.param.u64 %rd1, [p]; setp.eq.u32 %p1, %r9, 0; mov.u64 %rd2, own;
{before} {number} @!%p2 bra E;
barrier.sync 1, 64;
E:
"""
"""All threads come to the barrier where %p2 is the same in all of them."""


@pytest.mark.parametrize(
    ("before", "number"),
    [
        ("st.local.u32 [own], %r9;", "ld.local.u32 %r2, [own]; setp.eq.u32 %p2, %r2, 0;"),
        (
            "selp.u32 %r3, 7, 8, %p1; st.local.u32 [own], %r3;",
            "ld.local.u32 %r2, [own]; setp.eq.u32 %p2, %r2, 7;",
        ),
        (
            "cvta.local.u64 %rd3, %rd2; st.u32 [%rd3+4], %r9;",
            "ld.u32 %r2, [%rd3+4]; setp.eq.u32 %p2, %r2, 0;",
        ),
        ("", "mov.u32 %r2, %clock; and.b32 %r2, %r2, 1; setp.eq.u32 %p2, %r2, 0;"),
        ("", "mov.u32 %r2, %lanemask_eq; setp.eq.u32 %p2, %r2, 1;"),
    ],
)
def test_numbers_that_threads_do_not_share(before: str, number: str) -> None:
    found = deadlock(BARRIER_BEHIND_A_NUMBER.format(before=before, number=number))
    assert found in (VerdictKind.UNKNOWN, VerdictKind.VIOLATED)


@pytest.mark.parametrize(
    "number",
    [
        "setp.eq.u32 %p2, %r1, 0;",
        "ld.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0;",
        "mov.u32 %r2, %smid; setp.eq.u32 %p2, %r2, 0;",
    ],
)
def test_numbers_that_all_threads_share(number: str) -> None:
    assert deadlock(BARRIER_BEHIND_A_NUMBER.format(before="", number=number)) in (
        VerdictKind.PROVED,
        VerdictKind.ASSUMES,
    )


def test_a_local_variable_that_is_stored_to_again() -> None:
    body = """
    .local .align 4 .b8 own[16];
    mov.u32 %r9, %tid.x; ld.param.u32 %r1, [n]; setp.ge.u32 %p1, %r9, 32; st.local.u32 [own], %r1;
    ld.local.u32 %r2, [own]; add.u32 %r3, %r2, 1; st.local.u32 [own], %r3; ld.local.u32 %r4, [own];
    selp.u32 %r5, {second}, %r2, %p1; setp.eq.u32 %p2, %r5, 7; @!%p2 bra E;
    barrier.sync 1, 64;
    E:
    """
    assert deadlock(body.format(second="%r2")) is VerdictKind.PROVED
    assert deadlock(body.format(second="%r4")) is VerdictKind.VIOLATED, (
        "n or n + 1 is 7: one warp comes alone"
    )
