"""Numbers that stores leave in shared memory: one place for each lane, and stores that may not happen."""

from __future__ import annotations

import numpy as np
import pytest

from ptxcheck.protocols.symex.values.trace import RANK_SHIFT
from ptxcheck.verdict import AssumptionKind
from tests.protocols.machine_runs import run

READ_BACK = """
    bar.sync 0; mov.u32 %r1, smem; ld.shared.u32 %r2, [smem+{place}];
    shl.b32 %r3, %r2, 3; add.u32 %r4, %r1, %r3; mbarrier.init.shared.b64 [%r4], 1;
"""


def test_what_lanes_store_to_places_of_their_own_is_read_by_all() -> None:
    ran = run(
        """
        mov.u32 %r9, %tid.x; setp.gt.u32 %p9, %r9, 7; @%p9 bra N;
        mov.u32 %r5, table; shl.b32 %r6, %r9, 2; add.u32 %r7, %r5, %r6; add.u32 %r8, %r9, 10;
        st.shared.u32 [%r7], %r8; N:
        """
        + READ_BACK.format(place=0).replace("smem+0", "table+12")
    )
    assert ran.operands("mbarrier.init", "addr") == [1024 + 8 * 13]
    assert [each.kind for each in ran.trace.assumptions] == [AssumptionKind.SHARED_TABLE]


def test_addresses_of_other_ctas_are_handed_on() -> None:
    ran = run(
        """
        mov.u32 %r9, %tid.x; setp.gt.u32 %p9, %r9, 7; @%p9 bra N;
        mov.u32 %r5, table; shl.b32 %r6, %r9, 2; add.u32 %r7, %r5, %r6;
        mov.u32 %r10, smem; mapa.shared::cluster.u32 %r8, %r10, %r9; st.shared.u32 [%r7], %r8; N:
        bar.sync 0; ld.shared.u32 %r2, [table+20]; add.u32 %r3, %r2, 64; ld.shared::cluster.u32 %r4, [%r3];
        """,
        accesses=True,
    )
    addresses = [event.access.address for event in ran.events("ld.shared::cluster") if event.access]
    assert addresses == [5 << RANK_SHIFT | 1024 + 64]


def test_a_place_that_is_not_known_leaves_the_whole_variable_open() -> None:
    ran = run(
        """
        mov.u32 %r9, %tid.x; mov.u32 %r5, table; shl.b32 %r6, %r9, 2; and.b32 %r6, %r6, 28;
        add.u32 %r7, %r5, %r6; st.shared.u32 [%r7], 3; bar.sync 0;
        ld.param.u32 %r8, [n]; and.b32 %r8, %r8, 28; add.u32 %r7, %r5, %r8; st.shared.u32 [%r7], 4;
        bar.sync 0; mov.u32 %r1, smem; ld.shared.u32 %r2, [table+4]; setp.eq.u32 %p2, %r2, 3;
        @%p2 mbarrier.init.shared.b64 [%r1], 1;
        """,
        choose=True,
    )
    assert len(ran.questions) == 1


MAY_STORE = {
    "guard": "@%p1 st.shared.u32 [smem+64], 0;",
    "branch": "@!%p1 bra NEXT; st.shared.u32 [smem+64], 0; NEXT:",
    "loop": "LOOP: @!%p1 bra NEXT; st.shared.u32 [smem+64], 0; sub.u32 %r2, %r2, 1;"
    " setp.ne.u32 %p1, %r2, 0; bra LOOP; NEXT:",
}


@pytest.mark.parametrize("store", list(MAY_STORE.values()), ids=list(MAY_STORE))
@pytest.mark.parametrize("accesses", [False, True])
def test_a_store_that_may_not_happen_leaves_open_what_is_there(store: str, accesses: bool) -> None:
    ran = run(
        f"""
        st.shared.u32 [smem+64], 1; bar.sync 0; ld.param.u32 %r2, [n]; setp.eq.u32 %p1, %r2, 7;
        {store}
        bar.sync 0; ld.shared.u32 %r3, [smem+64]; mov.u32 %r1, smem; setp.ne.u32 %p2, %r3, 0;
        @%p2 mbarrier.init.shared.b64 [%r1], 1;
        """,
        choose=True,
        accesses=accesses,
    )
    assert len(ran.questions) == 1


def test_a_store_that_surely_follows_settles_it_again() -> None:
    ran = run(
        """
        ld.param.u32 %r2, [n]; setp.eq.u32 %p1, %r2, 7; @%p1 st.shared.u32 [smem+64], 0;
        bar.sync 0; st.shared.u32 [smem+64], 2;
        """
        + READ_BACK.format(place=64)
    )
    assert ran.operands("mbarrier.init", "addr") == [1024 + 16]


def test_places_in_skipped_code_stay_in_their_variable() -> None:
    """The address is made in the code that is not followed: the access is somewhere in `table`."""
    ran = run(
        """
        mov.u32 %r9, %tid.x; ld.param.u64 %rd1, [p]; ld.global.u32 %r5, [%rd1]; add.u32 %r5, %r5, %r9;
        setp.gt.u32 %p1, %r5, 100; @%p1 bra N; shl.b32 %r6, %r5, 2; mov.u32 %r7, table; add.u32 %r7, %r7, %r6;
        ld.shared.u32 %r8, [%r7]; N: bar.sync 0; mov.u32 %r1, smem; mbarrier.init.shared.b64 [%r1], 1;
        """,
        accesses=True,
    )
    (access,) = (event.access for event in ran.trace.events if event.access is not None)
    assert access.address is None
    assert access.within is not None
    assert access.within.end - access.within.start == 64


def test_loops_that_go_by_the_thread_are_run_behind_an_open_branch() -> None:
    """Each thread clears three words, 512 bytes apart: where is known, though not whether."""
    ran = run(
        """
        mov.u32 %r9, %tid.x; ld.param.u32 %r5, [n]; setp.ne.u32 %p1, %r5, 0; @%p1 bra N;
        mov.u32 %r6, smem; shl.b32 %r7, %r9, 2; add.u32 %r6, %r6, %r7; mov.u32 %r8, %r9;
        LOOP: st.shared.u32 [%r6+64], 0; add.u32 %r6, %r6, 512; add.u32 %r8, %r8, 128; setp.lt.u32 %p2, %r8, 384;
        @%p2 bra LOOP;
        N: bar.sync 0; mov.u32 %r1, smem; mbarrier.init.shared.b64 [%r1], 1;
        """,
        accesses=True,
    )
    accesses = [event.access for event in ran.trace.events if event.access is not None]
    assert [int(each.address[3]) for each in accesses if isinstance(each.address, np.ndarray)] == [
        1024 + 64 + 12 + 512 * turn for turn in range(3)
    ]
    assert len(accesses) == 3
    assert not any(each.certain for each in accesses)


def test_threads_that_surely_pass_by_do_not_access() -> None:
    ran = run(
        """
        mov.u32 %r9, %tid.x; ld.param.u32 %r5, [n]; setp.gt.u32 %p3, %r9, 1; setp.lt.s32 %p1, %r9, %r5;
        or.pred %p2, %p1, %p3; @%p2 bra N; mov.u32 %r6, smem; shl.b32 %r7, %r9, 2; add.u32 %r6, %r6, %r7;
        st.shared.u32 [%r6], 1; N: bar.sync 0; mov.u32 %r1, smem; mbarrier.init.shared.b64 [%r1], 1;
        """,
        accesses=True,
    )
    (event,) = (event for event in ran.trace.events if event.access is not None)
    assert event.threads == 0b11
