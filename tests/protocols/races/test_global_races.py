"""Races of global memory: each broken kernel is found, its good twin is left alone."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.races.global_races import GlobalRaces, global_races

from .test_judgement import view_of

DECLARED = """
.reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<32>;
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r9, [n];
mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r3, %r1, %r2, %r0;
mul.wide.u32 %rd3, %r0, 4; add.u64 %rd4, %rd1, %rd3; mul.wide.u32 %rd5, %r3, 4; add.u64 %rd6, %rd1, %rd5;
add.u64 %rd7, %rd2, %rd5;
"""
""" %r0: thread, %r3: thread of the grid; %rd4 and %rd6: their words of `a`, %rd7: that of `b`. """
BLOCK = ".reqntid 128"
NEXT_IN_BLOCK = "ld.global.u32 %r5, [%rd4+128]; {barrier} st.global.u32 [%rd4], %r5;"
NEXT_IN_GRID = (
    "setp.ge.u32 %p1, %r3, %r9; @%p1 bra E; ld.global.u32 %r5, [%rd6+4]; st.global.u32 [{to}], %r5; E:"
)
FIRST_OF_ALL = "ld.global.u32 %r5, [%rd1]; st.global.u32 [%rd6], %r5;"


def found(body: str, attributes: str = BLOCK) -> GlobalRaces:
    parameters = ".param .u64 a, .param .u64 b, .param .u32 n, .param .u32 m"
    return global_races(view_of(f"{DECLARED} {body}", attributes, parameters))


def test_a_neighbour_that_another_warp_overwrites() -> None:
    (race,) = found(NEXT_IN_BLOCK.format(barrier="")).races
    assert race.ctas is None
    assert {thread[0] // 32 for thread in race.threads} != {race.threads[0][0] // 32}
    assert "'a'" in race.message
    assert not found(NEXT_IN_BLOCK.format(barrier="bar.sync 0;")).races


def test_a_neighbour_that_another_cta_overwrites() -> None:
    races = found(NEXT_IN_GRID.format(to="%rd6"), "").races
    (race,) = races
    assert race.ctas is not None
    assert race.ctas[0] != race.ctas[1]
    assert "of CTA" in race.message
    assert not found(NEXT_IN_GRID.format(to="%rd7"), "").races


def test_what_all_ctas_read_and_one_writes() -> None:
    assert [race.ctas is None for race in found(FIRST_OF_ALL, "").races] == [False]


def test_in_a_block_that_is_not_stated_threads_of_it_are_not_looked_at() -> None:
    """It may be a warp, or one thread."""
    assert not found(NEXT_IN_BLOCK.format(barrier=""), "").races
    assert not found(NEXT_IN_BLOCK.format(barrier=""), ".maxntid 128").races


GOOD = {
    "its own word": "ld.global.u32 %r5, [%rd6]; add.u32 %r5, %r5, 1; st.global.u32 [%rd6], %r5;",
    "one value by all": "st.global.u32 [%rd1], 1;",
    "rows apart by a pitch of the host": (
        "mul.lo.u32 %r4, %r0, %r9; mul.wide.u32 %rd8, %r4, 4; add.u64 %rd8, %rd1, %rd8; st.global.u32 [%rd8], %r0;"
    ),
    "places that are loaded": (
        "ld.global.u32 %r4, [%rd7]; mul.wide.u32 %rd8, %r4, 4; add.u64 %rd8, %rd1, %rd8; st.global.u32 [%rd8], %r0;"
    ),
    "atomic operations": "atom.global.add.u32 %r4, [%rd1], 1;",
    "by one thread": "setp.ne.u32 %p1, %r0, 0; @%p1 bra E; ld.global.u32 %r4, [%rd1]; st.global.u32 [%rd1], %r4; E:",
    "lanes of one warp": (
        "setp.ge.u32 %p1, %r0, 32; @%p1 bra E; ld.global.u32 %r5, [%rd4+4]; st.global.u32 [%rd4], %r5; E:"
    ),
    "a place that does not depend on the CTA": "setp.ne.u32 %p1, %r0, 0; @%p1 bra E; st.global.u32 [%rd2], %r1; E:",
    "each CTA its own word": (
        "mul.wide.u32 %rd8, %r1, 4; add.u64 %rd8, %rd2, %rd8; setp.ne.u32 %p1, %r0, 0;"
        "@%p1 bra E; st.global.u32 [%rd8], %r1; E:"
    ),
    "a grid-stride loop": (
        "mov.u32 %r10, %nctaid.x; mul.lo.u32 %r10, %r10, %r2; mov.u32 %r11, %r3; L: setp.ge.u32 %p1, %r11, %r9;"
        "@%p1 bra E; mul.wide.u32 %rd8, %r11, 4; add.u64 %rd8, %rd1, %rd8; ld.global.u32 %r12, [%rd8];"
        "add.u32 %r12, %r12, 1; st.global.u32 [%rd8], %r12; add.u32 %r11, %r11, %r10; bra L; E:"
    ),
    "two writes": (
        "and.b32 %r4, %r0, 31; mul.wide.u32 %rd8, %r4, 4; add.u64 %rd8, %rd1, %rd8; ld.global.u32 %r5, [%rd7];"
        "st.global.u32 [%rd8], %r5;"
    ),
    "a flag that is set": "ld.global.u32 %r5, [%rd1]; mov.u32 %r6, 1; st.global.u32 [%rd4], %r6;",
    "halves of a size": (
        "setp.ge.u32 %p1, %r3, %r9; @%p1 bra E; ld.global.u32 %r5, [%rd6]; st.global.u32 [%rd6+1024], %r5; E:"
    ),
    "one flag of two": (
        "ld.param.u32 %r10, [m]; setp.eq.u32 %p1, %r9, 0; @%p1 bra M; st.global.u32 [%rd6], %r3; M:"
        "setp.eq.u32 %p2, %r10, 0; @%p2 bra E; ld.global.u32 %r5, [%rd6+4]; st.global.u32 [%rd7], %r5; E:"
    ),
    "rows of a fixed length": (
        "mov.u32 %r4, %ctaid.y; mad.lo.u32 %r5, %r4, 2, %r1; mul.wide.u32 %rd8, %r5, 4; add.u64 %rd8, %rd1, %rd8;"
        "setp.ne.u32 %p1, %r0, 0; @%p1 bra E; ld.global.u32 %r6, [%rd8]; st.global.u32 [%rd8], %r6; E:"
    ),
    "a loop that a number of the host steps through": (
        "mov.u32 %r4, %r0; mov.u32 %r5, 0; L: mul.wide.u32 %rd8, %r4, 4; add.u64 %rd8, %rd1, %rd8;"
        "ld.global.u32 %r6, [%rd8]; st.global.u32 [%rd8], %r6; add.u32 %r4, %r4, %r9; and.b32 %r4, %r4, 65535;"
        "add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 4; @%p1 bra L;"
    ),
    "behind a fence": "ld.global.u32 %r5, [%rd4+128]; membar.gl; st.global.u32 [%rd4], %r5;",
}


@pytest.mark.parametrize("name", GOOD)
def test_what_is_in_order_or_up_to_the_host(name: str) -> None:
    assert not found(GOOD[name]).races
    assert not found(GOOD[name], "").races


def test_a_race_where_flags_may_order_is_possible() -> None:
    assert found(GOOD["behind a fence"]).possible
