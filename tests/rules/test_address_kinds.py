"""Generic addresses and offsets of shared memory: each where the other is wanted, and no more."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import VerdictKind
from tests.protocols.races.test_judgement import races

from .kernels import agrees, kernel

START = "mov.u64 %rd1, data;\ncvta.shared.u64 %rd2, %rd1;\nmov.u32 %r9, %tid.x;\n"


@pytest.mark.parametrize(
    "line",
    [
        "ld.shared.u32 %r1, [%rd2]; // expect: SM027",
        "atom.shared.add.u32 %r1, [%rd2+8], 1; // expect: SM027",
        "mbarrier.init.shared.b64 [%rd2], 1; // expect: SM027",
        "cp.async.ca.shared.global [%rd2], [%rd8], 16; // expect: SM027",
        "mapa.shared::cluster.u64 %rd3, %rd2, %r1; // expect: SM027",
        "cvta.shared.u64 %rd3, %rd2; // expect: SM027",
        "cvta.to.shared.u64 %rd3, %rd1; // expect: SM026",
        "mapa.u64 %rd3, %rd1, %r1; // expect: SM026",
        "ld.u32 %r1, [%rd1]; // expect: SM026",
        "ld.u32 %r1, [%rd2];",
        "ld.shared.u32 %r1, [%rd1];",
        "cvta.to.shared.u64 %rd3, %rd2;\nld.shared.u32 %r1, [%rd3];",
        "cvt.u32.u64 %r1, %rd2;\nld.shared.u32 %r1, [%r1];",
        "cvt.u32.u64 %r1, %rd2;\ncvt.u64.u32 %rd3, %r1;\nld.shared.u32 %r1, [%rd3];",
        "and.b64 %rd3, %rd2, 0xffffffff;\nld.shared.u32 %r1, [%rd3];",
        "mapa.u64 %rd3, %rd2, %r1;\nmapa.shared::cluster.u64 %rd3, %rd1, %r1;",
        "selp.b64 %rd3, %rd1, %rd2, %p1;\nld.shared.u32 %r1, [%rd3];",
    ],
)
def test_the_space_that_is_named_decides(line: str) -> None:
    source = kernel(START + line)
    assert agrees("SM026", source)
    assert agrees("SM027", source)


@pytest.mark.parametrize(
    ("first", "access", "rule"),
    [
        ("%rd2", "ld.shared.u32 %r1, [%rd3];", "SM027"),
        ("%rd1", "ld.u32 %r1, [%rd3];", "SM026"),
        ("%rd1", "ld.shared.u32 %r1, [%rd3];", ""),
        ("%rd2", "ld.u32 %r1, [%rd3];", ""),
    ],
)
def test_a_pointer_that_a_loop_moves_is_of_the_kind_that_it_has_in_front_of_it(
    first: str, access: str, rule: str
) -> None:
    mark = f" // expect: {rule}" if rule else ""
    source = kernel(
        START + f"mov.u64 %rd3, {first};\nL:\n{access}{mark}\nadd.u64 %rd3, %rd3, 16;\n"
        "add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p1, %r9, 200;\n@%p1 bra L;"
    )
    assert agrees("SM026", source)
    assert agrees("SM027", source)


def test_pointers_of_both_kinds_that_meet_are_of_none() -> None:
    body = START + "setp.eq.u32 %p1, %r9, 0;\nmov.u64 %rd3, %rd1;\n@%p1 bra M;\nmov.u64 %rd3, %rd2;\nM:\n{}"
    for access in ("ld.u32 %r1, [%rd3];", "ld.shared.u32 %r1, [%rd3];"):
        source = kernel(body.format(access))
        assert agrees("SM026", source)
        assert agrees("SM027", source)


def test_an_ordinary_kernel_whose_addresses_are_none_is_not_free_of_races() -> None:
    body = "mov.u64 %rd1, a; cvta.shared.u64 %rd2, %rd1; cvt.u64.u32 %rd3, %r1; add.u64 %rd3, %rd3, {}; {}"
    assert races(body.format("%rd2", "st.u32 [%rd3], %r0;")) is VerdictKind.PROVED
    assert races(body.format("%rd1", "st.shared.u32 [%rd3], %r0;")) is VerdictKind.PROVED
    assert races(body.format("%rd2", "st.shared.u32 [%rd3], %r0;")) is VerdictKind.UNKNOWN
    assert races(body.format("%rd1", "st.u32 [%rd3], %r0;")) is VerdictKind.UNKNOWN
