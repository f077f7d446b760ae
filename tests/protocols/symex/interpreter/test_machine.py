"""What the machine records: joins instead of forks, values per thread, tables in shared memory."""

from __future__ import annotations

import numpy as np
import pytest

from ptxcheck.protocols.symex.interpreter.options import Options
from ptxcheck.protocols.symex.values.trace import NotFollowedError, TooLongError
from ptxcheck.verdict import AssumptionKind
from tests.protocols.machine_runs import run

ALL = (1 << 128) - 1
INIT = "mov.u32 %r1, smem; mbarrier.init.shared.b64 [%r1], 1;"


def test_branch_without_events_is_joined_and_asks_nothing() -> None:
    ran = run("""
        mov.u32 %r1, smem; ld.param.u32 %r2, [n]; mov.u32 %r3, 1;
        setp.gt.s32 %p1, %r2, 0;
        @%p1 bra A; mov.u32 %r4, 5; bra B;
        A: mov.u32 %r4, 7;
        B: mbarrier.init.shared.b64 [%r1], %r3;
    """)
    assert not ran.questions
    assert len(ran.events("mbarrier.init")) == 1


@pytest.mark.parametrize(("taken", "count"), [(True, 7), (False, 5)])
def test_joined_value_is_decided_where_an_operand_needs_it(taken: bool, count: int) -> None:
    ran = run(
        """
        mov.u32 %r1, smem; ld.param.u32 %r2, [n];
        setp.gt.s32 %p1, %r2, 0;
        @%p1 bra A; mov.u32 %r4, 5; bra B;
        A: mov.u32 %r4, 7;
        B: mbarrier.init.shared.b64 [%r1], %r4;
        """,
        choose=taken,
    )
    assert len(ran.questions) == 1
    assert ran.operands("mbarrier.init", "count") == [count]


def test_loop_without_events_leaves_a_symbol_and_asks_nothing() -> None:
    ran = run("""
        mov.u32 %r1, smem; ld.param.u32 %r2, [n]; mov.u32 %r3, 0;
        L: add.u32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, %r2; @%p1 bra L;
        mbarrier.init.shared.b64 [%r1], 1;
        setp.eq.s32 %p2, %r3, 9; @%p2 mbarrier.arrive.shared.b64 _, [%r1];
    """)
    assert len(ran.questions) == 1, "only the predicate of the arrival is decided"


def test_equal_computations_of_two_roles_are_decided_once() -> None:
    ran = run(
        INIT
        + """
        mov.u32 %r9, %tid.x; setp.lt.u32 %p9, %r9, 32; @%p9 bra A;
        ld.param.u32 %r2, [n]; add.s32 %r3, %r2, 63; shr.s32 %r4, %r3, 6; setp.gt.s32 %p1, %r4, 2;
        @%p1 mbarrier.arrive.shared.b64 _, [%r1];
        bra E;
        A: ld.param.u32 %r12, [n]; add.s32 %r13, %r12, 63; shr.s32 %r14, %r13, 6; setp.le.s32 %p2, %r14, 2;
        @!%p2 mbarrier.arrive.shared.b64 _, [%r1];
        E:
        """,
        choose=True,
    )
    assert len(ran.questions) == 1


def test_solver_links_a_rounded_count_and_the_count() -> None:
    """n > 128 decides (n + 63) >> 6 > 2: the second branch is not open."""
    ran = run(
        INIT
        + """
        ld.param.u32 %r2, [n]; setp.gt.s32 %p1, %r2, 128; @%p1 mbarrier.arrive.shared.b64 _, [%r1];
        add.s32 %r3, %r2, 63; shr.s32 %r4, %r3, 6; setp.gt.s32 %p2, %r4, 2;
        @%p2 mbarrier.arrive.shared.b64 _, [%r1];
        """,
        choose=True,
    )
    assert len(ran.questions) == 1
    assert len(ran.events("mbarrier.arrive")) == 2


def test_side_that_aborts_is_never_taken() -> None:
    ran = run("""
        mov.u32 %r1, smem; ld.param.u32 %r2, [n]; setp.gt.s32 %p1, %r2, 0;
        @%p1 bra A; trap;
        A: mbarrier.init.shared.b64 [%r1], 1;
    """)
    assert not ran.questions
    assert [event.threads for event in ran.events("mbarrier.init")] == [ALL]


# -- values that differ between threads


LOAD = "mov.u32 %r9, %tid.x; ld.param.u64 %rd1, [p]; mul.wide.u32 %rd2, %r9, 4; add.u64 %rd3, %rd1, %rd2;"


def test_loads_from_addresses_of_threads_are_not_one_decision_for_all() -> None:
    with pytest.raises(NotFollowedError, match="differs between threads"):
        run(
            INIT
            + LOAD
            + "ld.global.u32 %r4, [%rd3]; setp.eq.s32 %p1, %r4, 0; @%p1 mbarrier.arrive.shared.b64 _, [%r1];"
        )


def test_loads_of_two_threads_are_two_decisions() -> None:
    """Thread 0 and thread 32 read their own elements: what one sees says nothing of the other."""
    ran = run(
        INIT
        + LOAD
        + """
        setp.eq.u32 %p5, %r9, 0; @%p5 bra A; setp.eq.u32 %p6, %r9, 32; @%p6 bra B; bra E;
        A: ld.global.u32 %r4, [%rd3]; setp.eq.s32 %p1, %r4, 0; @%p1 mbarrier.arrive.shared.b64 _, [%r1]; bra E;
        B: ld.global.u32 %r5, [%rd3]; setp.eq.s32 %p2, %r5, 0; @%p2 mbarrier.arrive.shared.b64 _, [%r1];
        E:
        """
    )
    assert len(ran.questions) == 2


def test_a_symbol_plus_the_thread_index_is_a_number_per_warp() -> None:
    """warp < n: decided for each warp, and once n is bounded the others follow."""
    ran = run(
        INIT
        + """
        mov.u32 %r9, %tid.x; shr.u32 %r8, %r9, 5; ld.param.u32 %r2, [n]; setp.lt.s32 %p1, %r8, %r2;
        @%p1 mbarrier.arrive.shared.b64 _, [%r1];
        """,
        choose=lambda question: len(str(question.condition)) > 0 and question.condition.bound != 0,
    )
    arrivals = 0
    for event in ran.events("mbarrier.arrive"):
        arrivals |= event.threads
    warps = [arrivals >> 32 * warp & 0xFFFFFFFF for warp in range(4)]
    assert all(mask in (0, 0xFFFFFFFF) for mask in warps)
    assert warps == sorted(warps, reverse=True), "warp w + 1 takes part only if warp w does"


def test_roles_that_hold_different_symbols_in_one_register_keep_them_apart() -> None:
    ran = run(
        INIT
        + """
        mov.u32 %r9, %tid.x; setp.lt.u32 %p9, %r9, 64; @%p9 bra A;
        ld.param.u32 %r2, [n]; bra J;
        A: ld.param.u32 %r2, [m];
        J: setp.gt.s32 %p1, %r2, 3; @%p1 mbarrier.arrive.shared.b64 _, [%r1];
        """,
        choose=lambda question: "m" in str(question.condition.form).split("_"),
    )
    assert len(ran.questions) == 2


def test_shuffle_from_lane_zero_gives_the_warp_index() -> None:
    ran = run("""
        mov.u32 %r9, %tid.x; shr.u32 %r8, %r9, 5; shfl.sync.idx.b32 %r7, %r8, 0, 31, -1;
        mov.u32 %r1, smem; shl.b32 %r6, %r7, 3; add.u32 %r5, %r1, %r6; mbarrier.init.shared.b64 [%r5], 1;
    """)
    (address,) = ran.operands("mbarrier.init", "addr")
    assert isinstance(address, np.ndarray)
    assert sorted(set((address - address[0]).tolist())) == [0, 8, 16, 24]


def test_immediates_have_the_width_of_the_operation() -> None:
    """Division by 3 as compilers write it: the high half of an unsigned product with a negative-looking constant."""
    ran = run("""
        mov.u32 %r1, smem; mov.u32 %r2, 7; mul.hi.u32 %r3, %r2, -1431655765; shr.u32 %r4, %r3, 1;
        mad.lo.s32 %r5, %r4, -3, %r2; shl.b32 %r6, %r5, 3; add.u32 %r7, %r1, %r6;
        mbarrier.init.shared.b64 [%r7], 1;
    """)
    (address,) = ran.operands("mbarrier.init", "addr")
    assert address == 1024 + 8 * (7 % 3)


# -- shared memory


def test_table_hands_tasks_to_warps_that_run_first() -> None:
    """The workers come before the writer in the text: their reads wait for it."""
    ran = run("""
        mov.u32 %r9, %tid.x; shr.u32 %r8, %r9, 5; setp.ge.u32 %p9, %r9, 64; @%p9 bra W;
        setp.eq.u32 %p8, %r9, 0; @%p8 st.shared.b32 [smem+64], 131328;
        barrier.sync 1; bra E;
        W: barrier.sync 1; mov.u32 %r1, smem; add.u32 %r2, %r1, %r8; ld.shared.u8 %r3, [%r2+62];
        shl.b32 %r4, %r3, 3; add.u32 %r5, %r1, %r4; mbarrier.init.shared.b64 [%r5], 1;
        E:
    """)
    (address,) = ran.operands("mbarrier.init", "addr")
    assert isinstance(address, np.ndarray)
    assert (int(address[64]) - 1024, int(address[96]) - 1024) == (0, 8)
    assert [a.kind for a in ran.trace.assumptions] == [AssumptionKind.SHARED_TABLE]


def test_parameters_handed_over_in_shared_memory_are_the_same_symbols() -> None:
    ran = run(
        """
        mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p8, %r9, 0; ld.param.u32 %r2, [n];
        @%p8 st.shared.b32 [smem+64], %r2; @%p8 mbarrier.init.shared.b64 [%r1], 1; bar.sync 0;
        setp.gt.s32 %p1, %r2, 4; @%p1 mbarrier.arrive.shared.b64 _, [%r1];
        ld.shared.b32 %r3, [smem+64]; setp.gt.s32 %p2, %r3, 4; @%p2 mbarrier.arrive.shared.b64 _, [%r1];
        """,
        choose=True,
    )
    assert len(ran.questions) == 1


def test_value_stored_in_the_epoch_of_the_read_is_open() -> None:
    """Nothing but luck orders the store before the read: the machine must not take the constant for granted."""
    ran = run(
        """
        mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p8, %r9, 0;
        @%p8 st.shared.b32 [smem+64], 1; ld.shared.b32 %r3, [smem+64];
        setp.eq.s32 %p2, %r3, 1; @%p2 mbarrier.init.shared.b64 [%r1], 1;
        """,
        choose=True,
    )
    assert len(ran.questions) == 1


def test_accesses_are_recorded_when_asked_and_may_happen_in_skipped_code() -> None:
    body = """
        mov.u32 %r9, %tid.x; mov.u32 %r1, smem; shl.b32 %r2, %r9, 2; add.u32 %r3, %r1, %r2;
        st.shared.u32 [%r3+16], %r9; ld.param.u32 %r5, [n]; setp.gt.s32 %p1, %r5, 0; @%p1 bra A;
        ld.shared.u32 %r6, [%r3];
        A: bar.sync 0; mbarrier.init.shared.b64 [%r1], 1;
    """
    assert all(event.access is None for event in run(body).trace.events)
    accesses = [event.access for event in run(body, accesses=True).trace.events if event.access is not None]
    assert [(a.reads, a.writes, a.certain) for a in accesses] == [(False, True, True), (True, False, False)]
    assert isinstance(accesses[0].address, np.ndarray)
    assert int(accesses[0].address[3]) == 1024 + 16 + 12


def test_accesses_in_code_that_is_not_followed_are_where_their_address_says_if_that_code_does_not_make_it() -> (
    None
):
    body = """
        mov.u32 %r9, %tid.x; mov.u32 %r1, smem; shl.b32 %r2, %r9, 2; add.u32 %r3, %r1, %r2; mov.u32 %r4, %r3;
        ld.param.u64 %rd1, [p]; ld.global.u32 %r5, [%rd1];
        LOOP: st.shared.u32 [%r3+16], %r9; ld.shared.u32 %r6, [%r4]; add.u32 %r4, %r4, 4;
        add.u32 %r5, %r5, %r9; setp.lt.u32 %p1, %r5, 100; @%p1 bra LOOP;
        bar.sync 0; mbarrier.init.shared.b64 [%r1], 1;
    """
    accesses = [event.access for event in run(body, accesses=True).trace.events if event.access is not None]
    stores = [access for access in accesses if access.writes]
    loads = [access for access in accesses if access.reads and not access.certain]
    assert stores
    assert all(isinstance(each.address, np.ndarray) and int(each.address[3]) == 1024 + 28 for each in stores)
    assert any(not each.certain for each in stores)
    assert loads
    assert all(each.address is None for each in loads)


@pytest.mark.parametrize(
    ("null", "is_shared"),
    [("mov.u64 %rd2, 0", False), ("mov.u32 %r7, smem; cvta.shared.u64 %rd2, %rd3", True)],
)
def test_one_of_two_pointers_or_null_is_no_place_in_shared_memory(null: str, is_shared: bool) -> None:
    body = f"""
        mov.u32 %r1, smem; ld.param.u64 %rd1, [p]; ld.param.u32 %r5, [n]; cvt.u64.u32 %rd3, %r1; {null};
        setp.eq.u32 %p1, %r5, 3; selp.b64 %rd4, %rd1, %rd2, %p1; ld.u16 %r6, [%rd4+8];
        bar.sync 0; mbarrier.init.shared.b64 [%r1], 1;
    """
    accesses = [event.access for event in run(body, accesses=True).trace.events if event.access is not None]
    assert bool(accesses) == is_shared


def test_a_loop_of_accesses_alone_ends() -> None:
    """Nothing in it is a step that decides anything: what is only noted is counted, too."""
    body = "bar.sync 0; mov.u32 %r1, smem; mbarrier.init.shared.b64 [table], 1; L: st.shared.u32 [%r1], 0; bra L;"
    with pytest.raises(TooLongError):
        run(body, accesses=True, options=Options(budget=100))


def test_sides_are_told_of_whatever_their_branch_depends_on() -> None:
    """A side that a run took is one that no other run has to be looked for, also where threads decide by themselves."""
    took: set[tuple[bool, bool]] = set()
    body = """
    mov.u32 %r1, 0;
    ROUND:
    bar.sync 0;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 3;
    @%p1 bra ROUND;
    """
    run(body, options=Options(took=lambda _, holds, is_open: took.add((holds, is_open))))
    assert took == {(True, False), (False, False)}
