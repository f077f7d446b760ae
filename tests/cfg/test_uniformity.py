"""Who agrees on what, and who executes what."""

from __future__ import annotations

import pytest

from ptxcheck.cfg import Facts, ThreadSet, Uniformity

from .kernels import exact_block, facts_of, point_of, register

ELECT = """
    mov.b32 %r8, 0;
    mov.b32 %r9, -1;
    { .reg .pred %px; elect.sync _|%px, %r9; @%px mov.s32 %r8, 1; }
"""
WARP_INDEX = """
    mov.u32 %r1, %tid.x;
    shr.u32 %r2, %r1, 5;
    shfl.sync.idx.b32 %r3, %r2, 0, 31, -1;
"""


def _threads(facts: Facts, text: str) -> str:
    return str(facts.execution(point_of(facts, text)).threads)


def test_levels_of_thread_indices() -> None:
    facts = facts_of(
        WARP_INDEX
        + "shr.u32 %r4, %r1, 7; mov.u32 %r5, %ctaid.x; ld.param.u32 %r6, [n]; add.s32 %r7, %r3, %r5;"
        "and.b32 %r8, %r1, 31; st.shared.u32 [tile], %r1; ret;"
    )
    point = point_of(facts, "st.shared")
    expected = {1: "DIVERGENT", 3: "WARP", 4: "WARPGROUP", 5: "CTA", 6: "GRID", 7: "WARP", 8: "DIVERGENT"}
    for number, level in expected.items():
        assert facts.uniform(point, register(f"%r{number}")).name == level


def test_a_role_is_its_warp() -> None:
    facts = facts_of(
        WARP_INDEX + "setp.ne.s32 %p1, %r3, 4; @%p1 bra L; bar.warp.sync -1; L: bar.sync 0; ret;",
        exact_block(256),
    )
    inside = facts.execution(point_of(facts, "bar.warp.sync"))
    assert inside.uniformity is Uniformity.WARP
    assert inside.exact
    assert str(inside.threads) == "128-159"
    behind = facts.execution(point_of(facts, "bar.sync"))
    assert (behind.uniformity, str(behind.threads)) == (Uniformity.GRID, "0-255")


def test_an_elected_thread_in_compiled_form() -> None:
    facts = facts_of(
        WARP_INDEX + ELECT + "setp.eq.s32 %p1, %r3, 0; setp.ne.s32 %p2, %r8, 0; and.pred %p3, %p1, %p2;"
        "not.pred %p4, %p3; @%p4 bra L; mbarrier.init.shared.b64 [bars], 1; L: bar.sync 0; ret;"
    )
    execution = facts.execution(point_of(facts, "mbarrier.init"))
    assert execution.elected
    assert execution.single_thread
    assert execution.uniformity is Uniformity.DIVERGENT
    assert execution.threads is not None
    assert execution.threads.warps == (0,)


def test_an_elected_thread_of_each_warp_is_not_single() -> None:
    facts = facts_of(ELECT + "setp.ne.s32 %p1, %r8, 0; @%p1 mbarrier.arrive.shared.b64 _, [bars]; ret;")
    execution = facts.execution(point_of(facts, "mbarrier.arrive"))
    assert execution.elected
    assert not execution.single_thread


def test_one_thread_by_its_index() -> None:
    facts = facts_of(
        "mov.u32 %r1, %tid.x; setp.eq.s32 %p1, %r1, 0;"
        "@%p1 mbarrier.init.shared.b64 [bars], 1; bar.sync 0; ret;"
    )
    execution = facts.execution(point_of(facts, "mbarrier.init"))
    assert execution.single_thread
    assert execution.elected
    assert execution.exact
    assert facts.execution(point_of(facts, "bar.sync")).uniformity is Uniformity.GRID


def test_lane_zero_of_each_warp_counts_as_elected() -> None:
    facts = facts_of(
        "mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; setp.eq.s32 %p1, %r2, 0;"
        "@%p1 mbarrier.arrive.shared.b64 _, [bars]; ret;",
        exact_block(128),
    )
    execution = facts.execution(point_of(facts, "mbarrier.arrive"))
    assert execution.elected
    assert not execution.single_thread
    assert _threads(facts, "mbarrier.arrive") == "0, 32, 64, 96"


def test_a_warpgroup_role() -> None:
    facts = facts_of(
        "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 128; @%p1 bra L; bar.sync 1, 256; L: ret;",
        exact_block(384),
    )
    execution = facts.execution(point_of(facts, "bar.sync"))
    assert execution.uniformity is Uniformity.WARPGROUP
    assert _threads(facts, "bar.sync") == "128-383"


def test_divergence_ends_where_the_sides_meet() -> None:
    facts = facts_of("""
        mov.u32 %r1, %tid.x;
        and.b32 %r2, %r1, 1;
        setp.eq.s32 %p1, %r2, 0;
        mov.b32 %r3, 0;
        @%p1 bra L;
        bar.warp.sync -1;
        mov.b32 %r3, 1;
      L: bar.sync 0;
        st.shared.u32 [tile], %r3;
        ret;
    """)
    inside = facts.execution(point_of(facts, "bar.warp.sync"))
    assert inside.uniformity is Uniformity.DIVERGENT
    assert inside.splits_warps
    assert facts.execution(point_of(facts, "bar.sync")).uniformity is Uniformity.GRID
    assert facts.uniform(point_of(facts, "st.shared"), register("%r3")) is Uniformity.DIVERGENT


@pytest.mark.parametrize(
    ("again", "level"),
    [
        ("ld.param.u32 %r3, [n];", Uniformity.GRID),
        ("mov.u32 %r3, %ctaid.x;", Uniformity.DIVERGENT),
        ("ld.param.u32 %r3, [n]; add.u32 %r3, %r3, 1;", Uniformity.DIVERGENT),
        ("mov.u32 %r3, %r1;", Uniformity.DIVERGENT),
    ],
)
def test_a_merge_of_one_number_of_the_launch(again: str, level: Uniformity) -> None:
    """A parameter that one side reads again is the same number on either way."""
    facts = facts_of(f"""
        mov.u32 %r1, %tid.x;
        ld.param.u32 %r3, [n];
        mov.b32 %r4, 0;
      L: setp.lt.u32 %p1, %r1, %r3;
        @%p1 bra M;
        {again}
      M: add.u32 %r4, %r4, 1;
        setp.lt.u32 %p1, %r4, 4;
        @%p1 bra L;
        st.shared.u32 [tile], %r3;
        ret;
    """)
    assert facts.uniform(point_of(facts, "st.shared"), register("%r3")) is level


def test_a_loop_with_a_divergent_exit() -> None:
    facts = facts_of("""
        mov.u32 %r1, %tid.x;
        mov.b32 %r2, 0;
      L: add.s32 %r2, %r2, 1;
        bar.warp.sync -1;
        setp.lt.u32 %p1, %r2, %r1;
        @%p1 bra L;
        bar.sync 0;
        st.shared.u32 [tile], %r2;
        ret;
    """)
    assert facts.execution(point_of(facts, "bar.warp.sync")).uniformity is Uniformity.DIVERGENT
    assert facts.execution(point_of(facts, "bar.sync")).uniformity is Uniformity.GRID
    assert facts.uniform(point_of(facts, "add.s32"), register("%r2")) is Uniformity.GRID
    assert facts.uniform(point_of(facts, "st.shared"), register("%r2")) is Uniformity.DIVERGENT


def test_threads_that_left_do_not_count() -> None:
    facts = facts_of("mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 99; @%p1 bra END; bar.sync 0; END: ret;")
    assert facts.execution(point_of(facts, "bar.sync")).uniformity is Uniformity.WARP
    assert _threads(facts, "bar.sync") == "0-99"
    assert not facts.execution(point_of(facts, "bar.sync")).splits_warps


def test_two_dimensional_blocks() -> None:
    body = "mov.u32 %r1, %tid.y; setp.eq.s32 %p1, %r1, 1; @%p1 bar.warp.sync -1; ret;"
    facts = facts_of(body, exact_block(64, 2))
    assert _threads(facts, "bar.warp.sync") == "64-127"
    assert facts.execution(point_of(facts, "bar.warp.sync")).uniformity is Uniformity.WARP
    assert facts_of(body).execution(2).threads is None


def test_thread_sets() -> None:
    some = ThreadSet(0xFFFF_FFFF << 32, 128)
    assert some.warps == (1,)
    assert some.whole(32)
    assert not some.whole(64)
    assert len(ThreadSet.all(128) - some) == 96
    assert 32 in some
    assert 31 not in some
    assert str(some | ThreadSet(1, 128)) == "0, 32-63"


def test_unknown_divergence_is_not_proved() -> None:
    facts = facts_of("""
        ld.param.u64 %d1, [data];
        mov.u32 %r1, %tid.x;
        mul.wide.u32 %d2, %r1, 4;
        add.s64 %d3, %d1, %d2;
        ld.global.u32 %r2, [%d3];
        setp.eq.s32 %p1, %r2, 0;
        @%p1 bra L;
        bar.warp.sync -1;
      L: bar.sync 0;
        ret;
    """)
    execution = facts.execution(point_of(facts, "bar.warp.sync"))
    assert execution.uniformity is Uniformity.DIVERGENT
    assert not execution.exact
    assert not execution.splits_warps


def test_a_jump_table_of_roles() -> None:
    facts = facts_of(
        WARP_INDEX
        + """
        T: .branchtargets A, B, B, A;
        brx.idx %r3, T;
      A: bar.sync 1, 64;
        bra END;
      B: bar.sync 2, 64;
      END: ret;
    """,
        exact_block(128),
    )
    first, second = (facts.execution(point_of(facts, "bar.sync", n)) for n in (0, 1))
    assert str(first.threads) == "0-31, 96-127"
    assert str(second.threads) == "32-95"
    assert first.exact
    assert first.uniformity is Uniformity.WARP


def test_a_jump_table_by_an_unknown_number_is_not_exact() -> None:
    facts = facts_of("""
        ld.param.u64 %d1, [data];
        mov.u32 %r1, %tid.x;
        mul.wide.u32 %d2, %r1, 4;
        add.s64 %d3, %d1, %d2;
        ld.global.u32 %r2, [%d3];
        T: .branchtargets A, B;
        brx.idx %r2, T;
      A: bar.warp.sync -1;
      B: ret;
    """)
    execution = facts.execution(point_of(facts, "bar.warp.sync"))
    assert not execution.exact
    assert execution.uniformity is Uniformity.WARP


INDEX_AND_SIZE = """
    ld.param.u32 %r2, [n];
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p0, %r2, 4;
    setp.lt.u32 %p1, %r1, 32;
    setp.ge.u32 %p2, %r1, 96;
"""


@pytest.mark.parametrize(
    ("body", "exact"),
    [
        ("@%p0 bra L; @%p1 bra END; L: bar.sync 1, 64; END: ret;", False),
        ("@%p1 bra L; @%p0 bra END; L: bar.sync 1, 64; END: ret;", False),
        ("@%p1 bra L; @!%p2 bra END; L: bar.sync 1, 64; END: ret;", True),
        ("@%p0 bra END; @%p1 bra L; @!%p2 bra END; L: bar.sync 1, 64; END: ret;", True),
        ("@%p0 bra L; L: bar.sync 1, 64; END: ret;", True),
        ("@!%p1 bra END; L: bar.sync 1, 64; @%p0 bra L; END: ret;", True),
        ("L: bar.sync 1, 64; @%p1 bra END; @%p0 bra L; END: ret;", False),
    ],
)
def test_a_size_that_chooses_among_sets_of_threads_makes_none_of_them_exact(body: str, exact: bool) -> None:
    facts = facts_of(INDEX_AND_SIZE + body.replace(";", ";\n"), exact_block(128))
    assert facts.execution(point_of(facts, "bar.sync")).exact is exact


CHAIN = (
    WARP_INDEX
    + "elect.sync _|%p1, -1; setp.eq.s32 %p2, %r3, {issuer}; and.pred %p3, %p2, %p1; @%p3 bra ISSUE;"
    "setp.lt.s32 %p4, %r3, 4; @%p4 bra OTHERS; bra DONE; ISSUE: st.shared.u32 [tile], %r1; bra DONE;"
    "OTHERS: bar.warp.sync -1; DONE: bar.sync 0; ret;"
)


def test_a_branch_that_parts_one_warp_counts_for_that_warp_alone() -> None:
    facts = facts_of(CHAIN.format(issuer=4), exact_block(160))
    others = facts.execution(point_of(facts, "bar.warp.sync"))
    assert (others.uniformity, str(others.threads)) == (Uniformity.WARP, "0-127")
    assert facts.execution(point_of(facts, "st.shared")).uniformity is Uniformity.DIVERGENT


@pytest.mark.parametrize("issuer", [0, 3])
def test_a_branch_that_parts_a_warp_of_the_other_side_counts(issuer: int) -> None:
    facts = facts_of(CHAIN.format(issuer=issuer), exact_block(160))
    assert facts.execution(point_of(facts, "bar.warp.sync")).uniformity is Uniformity.DIVERGENT


def test_threads_that_an_outer_branch_leaves_out_part_their_warp() -> None:
    facts = facts_of(
        "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 40; @%p1 bra LOW; bra DONE; LOW: setp.lt.u32 %p2, %r1, 32;"
        "@%p2 bra FIRST; st.shared.u32 [tile], %r1; bra DONE; FIRST: bar.warp.sync -1; DONE: bar.sync 0; ret;",
        exact_block(64),
    )
    assert facts.execution(point_of(facts, "bar.warp.sync")).uniformity is Uniformity.WARP
    assert facts.execution(point_of(facts, "st.shared")).uniformity is Uniformity.DIVERGENT
