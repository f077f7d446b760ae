"""Slot safety: order, visibility, proxies, groups; what libraries rely on is strict; extents that are not known."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.model.actions import (
    Access,
    Action,
    Arrive,
    AsyncArrive,
    Barrier,
    Commit,
    Fence,
    Protocol,
    Proxy,
    Registers,
    Rendezvous,
    Span,
    Strand,
    Transfer,
    Wait,
    WaitGroup,
)
from ptxcheck.protocols.model.outcome import Flaw
from ptxcheck.protocols.model.sync_objects import ClusterBarrier, NamedBarrier, WarpBarrier
from ptxcheck.protocols.proof.search import examine
from tests.protocols.building import (
    BYTES,
    EMPTY,
    FULL,
    SLOT,
    expected_load,
    flaws_of,
    meeting,
    protocol,
    shown,
)

READ = Access(0, reads=(SLOT,))
WRITE = Access(0, writes=(SLOT,))
STORE = Transfer(0, (), "bulk", reads=(SLOT,))
PROXY = Fence(0, proxy=True)
TO_ASYNC: list[Action] = [STORE, Commit(0, "bulk"), WaitGroup(0, "bulk", 0, read=True)]


def test_a_tile_is_read_after_its_wait_and_overwritten_after_its_release() -> None:
    producer = [*expected_load(), Wait(0, EMPTY, 0), *expected_load()]
    consumer: list[Action] = [Wait(0, FULL, 0), READ, Arrive(0, EMPTY, 1), Wait(0, FULL, 1)]
    counts = {FULL: 1, EMPTY: 1}
    assert flaws_of(counts, producer, consumer) == set()
    unread: list[Action] = [READ, Wait(0, FULL, 0), Arrive(0, EMPTY, 1), Wait(0, FULL, 1)]
    assert flaws_of(counts, producer, unread) == {Flaw.OVERWRITE}
    released: list[Action] = [Wait(0, FULL, 0), Arrive(0, EMPTY, 1), READ, Wait(0, FULL, 1)]
    assert flaws_of(counts, producer, released) & {Flaw.OVERWRITE, Flaw.READ_TOO_EARLY}


def test_writes_that_nothing_orders_collide() -> None:
    assert flaws_of({}, [WRITE], [WRITE]) == {Flaw.WRITES_COLLIDE}
    assert flaws_of({}, [WRITE, meeting(2)], [meeting(2), WRITE]) == set()


def test_atomics_may_meet() -> None:
    add = Access(0, reads=(SLOT,), writes=(SLOT,))
    assert flaws_of({}, [add], [add]) == set()
    assert flaws_of({}, [add], [READ]) != set()


def handover(*after_write: Action, before_read: list[Action]) -> set[Flaw]:
    return flaws_of({}, [WRITE, *after_write, meeting(2)], [meeting(2), *before_read, *TO_ASYNC])


def test_generic_writes_need_a_proxy_fence_of_their_writer() -> None:
    assert handover(PROXY, before_read=[]) == set()
    assert handover(before_read=[]) == {Flaw.MISSING_PROXY_FENCE}
    assert handover(before_read=[PROXY]) == {Flaw.MISSING_PROXY_FENCE}
    assert handover(Fence(0, releases=True, acquires=True), before_read=[]) == {Flaw.MISSING_PROXY_FENCE}


def test_a_write_through_the_async_proxy_needs_no_fence() -> None:
    assert flaws_of({FULL: 1}, [*expected_load(), Wait(0, FULL, 0), *TO_ASYNC]) == set()


def test_a_generic_write_before_an_asynchronous_one_is_strict() -> None:
    outcome = examine(protocol({FULL: 1}, [WRITE, *expected_load(), Wait(0, FULL, 0)]))
    assert outcome.problems == ()
    assert {problem.flaw for problem in outcome.strict} == {Flaw.MISSING_PROXY_FENCE}


def test_the_response_of_a_cancellation_needs_its_readers_fenced() -> None:
    ask: list[Action] = [
        Arrive(0, FULL, 1, BYTES),
        Transfer(0, ((FULL, BYTES),), writes=(SLOT,), after_fenced_reads=True),
    ]
    twice: list[Action] = [*ask, Wait(0, FULL, 0), READ, *ask, Wait(0, FULL, 1)]
    assert flaws_of({FULL: 1}, twice) == {Flaw.MISSING_PROXY_FENCE}
    fenced: list[Action] = [*ask, Wait(0, FULL, 0), READ, PROXY, *ask, Wait(0, FULL, 1)]
    assert flaws_of({FULL: 1}, fenced) == set()


def test_a_completed_copy_publishes_no_ordinary_write_of_its_issuer() -> None:
    """The bytes are counted, and the store before the copy is not part of that; an arrival publishes it."""
    other = Span(0, 4096, BYTES)
    store = Access(0, writes=(other,))
    reader: list[Action] = [Arrive(0, FULL, 1, BYTES), Wait(0, FULL, 0), Access(0, reads=(other,))]
    copy = Transfer(0, ((FULL, BYTES),), writes=(SLOT,))
    assert flaws_of({FULL: 1}, [store, copy], reader) == {Flaw.READ_TOO_EARLY}
    arrives: list[Action] = [Wait(0, FULL, 0), Access(0, reads=(other,))]
    assert flaws_of({FULL: 1}, [store, Arrive(0, FULL, 1, BYTES), copy], arrives) == set()


def test_relaxed_arrivals_and_waits_need_fences() -> None:
    def run(*, released: bool, acquired: bool) -> set[Flaw]:
        release: list[Action] = [Fence(0, releases=True)] if released else []
        acquire: list[Action] = [Fence(0, acquires=True)] if acquired else []
        writer: list[Action] = [WRITE, *release, Arrive(0, FULL, 1, releases=False)]
        return flaws_of({FULL: 1}, writer, [Wait(0, FULL, 0, acquires=False), *acquire, READ])

    assert run(released=True, acquired=True) == set()
    for released, acquired in ((False, True), (True, False), (False, False)):
        assert run(released=released, acquired=acquired) == {Flaw.READ_TOO_EARLY}


@pytest.mark.parametrize(("pending", "wrong"), [(0, set()), (1, {Flaw.OVERWRITE})])
def test_a_store_is_overwritten_after_its_own_group(pending: int, wrong: set[Flaw]) -> None:
    second = Span(0, 4096, BYTES)
    rest: list[Action] = [WaitGroup(0, "bulk", pending, read=True), Access(0, writes=(SLOT, second))]
    groups: list[Action] = []
    for span in (second, SLOT):
        groups += [Transfer(0, (), "bulk", reads=(span,)), Commit(0, "bulk")]
    assert flaws_of({}, [*groups, *rest, WaitGroup(0, "bulk", 0)]) == wrong


def test_a_group_that_is_not_committed_is_not_waited_for() -> None:
    assert Flaw.OVERWRITE in flaws_of({}, [STORE, WaitGroup(0, "bulk", 0), WRITE])


def test_cp_async_is_visible_to_its_strand_after_its_group_and_to_others_after_a_barrier() -> None:
    copy = Transfer(0, (), "cp.async", writes=(SLOT,), proxy=Proxy.GENERIC)
    done: list[Action] = [copy, Commit(0, "cp.async"), WaitGroup(0, "cp.async", 0)]
    assert flaws_of({}, [*done, READ]) == set()
    assert flaws_of({}, [copy, READ]) == {Flaw.READ_TOO_EARLY}
    assert flaws_of({}, [*done, meeting(2)], [meeting(2), READ]) == set()
    assert flaws_of({}, [copy, meeting(2), *done[1:]], [meeting(2), READ]) == {Flaw.READ_TOO_EARLY}
    assert flaws_of({}, [*done, meeting(2)], [meeting(2), *TO_ASYNC]) == {Flaw.MISSING_PROXY_FENCE}
    assert flaws_of({}, [*done, PROXY, meeting(2)], [meeting(2), *TO_ASYNC]) == set()


def test_the_matrix_unit_reads_until_its_commit_arrives() -> None:
    multiply: list[Action] = [Wait(0, FULL, 0), Transfer(0, (), "tcgen05", reads=(SLOT,))]
    producer = [*expected_load(), Wait(0, EMPTY, 0), *expected_load(), Wait(0, FULL, 1)]
    counts = {FULL: 1, EMPTY: 1}
    assert flaws_of(counts, producer, [*multiply, AsyncArrive(0, EMPTY, 1)]) == set()
    assert flaws_of(counts, producer, [*multiply, Arrive(0, EMPTY, 1)]) == {Flaw.OVERWRITE}


def test_a_wait_of_one_warp_covers_the_multiplication_of_its_warpgroup() -> None:
    """Released kernels let one thread of a warpgroup release a slot behind its own wait."""
    multiply: list[Action] = [Wait(0, FULL, 0), Transfer(0, (), "wgmma", reads=(SLOT,)), Commit(0, "wgmma")]
    first: list[Action] = [*multiply, WaitGroup(0, "wgmma", 0), Arrive(0, EMPTY, 1)]
    producer = [*expected_load(), Wait(0, EMPTY, 0), *expected_load(), Wait(0, FULL, 1)]
    last: list[Action] = [*multiply, WaitGroup(0, "wgmma", 0)]
    assert flaws_of({FULL: 1, EMPTY: 1}, first, last, producer) == set()
    early: list[Action] = [*multiply, Arrive(0, EMPTY, 1), WaitGroup(0, "wgmma", 0)]
    assert Flaw.OVERWRITE in shown(examine(protocol({FULL: 1, EMPTY: 1}, early, last, producer)))


def lanes(*, meet: bool) -> Protocol:
    """Return a warp whose lanes write, whose first lane arrives, and a reader in another warp."""
    warp = Rendezvous(2, WarpBarrier(0, 0, 3), 1, 2, True)
    start = Rendezvous(0, ClusterBarrier(), 1, 3, True)
    middle = (warp,) if meet else ()
    others = Strand(0, 0, 2, "lane 1", (start, Access(1, writes=(SLOT,)), *middle), (0, 1, 3)[: 2 + meet])
    leader = Strand(0, 0, 1, "lane 0", (start, *middle, Rendezvous(4, NamedBarrier(0, 1), 1, 2, False)))
    reader = Strand(
        0, 1, 1, "warp 1", (start, Rendezvous(5, NamedBarrier(0, 1), 1, 2, True), Access(6, reads=(SLOT,)))
    )
    return Protocol((leader, others, reader), 3)


def test_an_elected_lane_does_not_publish_what_other_lanes_stored() -> None:
    assert shown(examine(lanes(meet=False))) == {Flaw.READ_TOO_EARLY}
    assert shown(examine(lanes(meet=True))) == set()


def test_ordinary_accesses_of_mbarrier_bytes() -> None:
    clear = Access(0, writes=(Span(0, FULL.offset, 8),))
    assert flaws_of({FULL: 1}, [clear, Arrive(0, FULL, 1)]) == {Flaw.BARRIER_OVERWRITTEN}
    outcome = examine(protocol({FULL: 1}, [Arrive(0, FULL, 1), clear]))
    assert outcome.problems == ()
    assert {p.flaw for p in outcome.strict} == {Flaw.BARRIER_OVERWRITTEN}


# -- extents


def test_bytes_that_are_not_certain_give_doubts_and_no_problem() -> None:
    tile = Span(0, 1024, BYTES, exact=False)
    inside = Access(0, reads=(Span(0, 2048, BYTES),))
    unordered = protocol({FULL: 1}, [Arrive(0, FULL, 1, 4096), Transfer(0, ((FULL, 4096),), writes=(tile,)),
                                     Wait(0, FULL, 0)], [inside])  # fmt: skip
    outcome = examine(unordered)
    assert outcome.problems == ()
    assert "whether two accesses meet is not known" in outcome.memory_doubts[0].text


def test_the_start_of_a_tile_is_certain() -> None:
    tile = Span(0, 1024, BYTES, exact=False)
    load: list[Action] = [
        Arrive(0, FULL, 1, 4096),
        Transfer(0, ((FULL, 4096),), writes=(tile,)),
        Wait(0, FULL, 0),
    ]
    assert shown(examine(protocol({FULL: 1}, load, [READ]))) & {Flaw.READ_TOO_EARLY, Flaw.OVERWRITE}


def test_a_proof_with_tiles_of_unknown_extent_rests_on_their_slots() -> None:
    tile = Span(0, 1024, BYTES, exact=False)
    load: list[Action] = [
        Arrive(0, FULL, 1, 4096),
        Transfer(0, ((FULL, 4096),), writes=(tile,)),
        Wait(0, FULL, 0),
    ]
    outcome = examine(protocol({FULL: 1}, [*load, READ]))
    assert outcome.problems == ()
    assert outcome.memory_doubts == ()
    assert outcome.provisos


def test_a_place_that_is_not_known_leaves_doubt() -> None:
    nowhere = Access(0, reads=(Span(0, -1, 4, exact=False),))
    outcome = examine(protocol({}, [nowhere]))
    assert outcome.problems == ()
    assert outcome.memory_doubts


def test_code_that_may_be_skipped_gives_doubts_only() -> None:
    maybe = Access(0, writes=(SLOT,), certain=False)
    outcome = examine(protocol({}, [maybe], [READ]))
    assert outcome.problems == ()
    assert outcome.memory_doubts


# -- exits and registers


@pytest.mark.parametrize("wide", [True, False])
def test_a_release_of_cta_scope_publishes_nothing_to_another_cta(wide: bool) -> None:
    there = Barrier(1, 0)
    writer: list[Action] = [WRITE, Arrive(0, there, 1, wide=wide), meeting(2, number=1)]
    reader: list[Action] = [Wait(0, there, 0), READ, meeting(2, number=1)]
    wrong = flaws_of({there: 1}, writer, reader, ctas=(0, 1))
    assert wrong == (set() if wide else {Flaw.READ_TOO_EARLY})


@pytest.mark.parametrize("stays", [True, False])
def test_a_cta_must_not_end_before_others_have_written_to_it(stays: bool) -> None:
    there = Barrier(1, 0)
    writer: list[Action] = [Arrive(0, there, 1)]
    owner: list[Action] = [Wait(0, there, 0)] if stays else []
    wrong = flaws_of({there: 1}, writer, owner, ctas=(0, 1))
    assert wrong == (set() if stays else {Flaw.EXIT_WITH_REMOTE_ACCESS})


def test_a_copy_must_not_outlive_its_cta() -> None:
    assert flaws_of({}, TO_ASYNC) == set()
    for left in (protocol({}, [STORE, Commit(0, "bulk")]), protocol({FULL: 1}, expected_load())):
        outcome = examine(left)
        assert outcome.problems == ()
        assert {problem.flaw for problem in outcome.strict} == {Flaw.EXIT_WITH_REMOTE_ACCESS}


def test_registers_that_nobody_releases() -> None:
    grow, shrink = Registers(0, 160, True), Registers(0, 40, False)
    assert flaws_of({}, [shrink], [grow], registers=100) == set()
    assert flaws_of({}, [Registers(0, 60, False)], [grow], registers=100) == {Flaw.DEADLOCK}
    assert flaws_of({}, [], [grow], registers=None) == set()


def test_threads_that_have_ended_count_at_barriers_of_all() -> None:
    barrier = Rendezvous(0, NamedBarrier(0, 0), 1, 2, True, without_exited=True)
    assert flaws_of({}, [], [barrier]) == set()
    named = Rendezvous(0, NamedBarrier(0, 1), 1, 2, True)
    assert flaws_of({}, [], [named]) == {Flaw.DEADLOCK}
