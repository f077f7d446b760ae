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
from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.protocols.proof.search import examine
from ptxcheck.protocols.proof.simulate import simulate
from ptxcheck.protocols.symex.values.trace import OutOfTimeError
from ptxcheck.verdict import Property, VerdictKind
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
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

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


def test_pairs_are_looked_at_within_the_effort() -> None:
    """All steps are over by then, and there are more pairs than steps between two looks at the effort."""
    writes: list[Action] = [Access(0, writes=(Span(0, 4 * word, 4),)) for word in range(100)]
    both = protocol({}, writes, writes)
    asked = 0

    def is_late() -> bool:
        nonlocal asked
        asked += 1
        return True

    with pytest.raises(OutOfTimeError):
        simulate(both, is_late=is_late)
    assert asked == 1
    assert {problem.flaw for problem in simulate(both).problems} == {Flaw.WRITES_COLLIDE}


def test_atomics_may_meet() -> None:
    add = Access(0, reads=(SLOT,), writes=(SLOT,))
    assert flaws_of({}, [add], [add]) == set()
    assert flaws_of({}, [add], [READ]) != set()


def told_of_a_word(word: Span) -> tuple[Action, Action, Action]:
    """Return a store of a word, a copy of other bytes, and a read of the word."""
    copy = Transfer(0, ((FULL, BYTES),), writes=(SLOT,))
    return Access(0, writes=(word,)), copy, Access(0, reads=(word,))


def handover(*after_write: Action, before_read: list[Action]) -> set[Flaw]:
    return flaws_of({}, [WRITE, *after_write, meeting(2)], [meeting(2), *before_read, *TO_ASYNC])


def test_generic_writes_need_a_proxy_fence_on_the_way() -> None:
    assert handover(PROXY, before_read=[]) == set()
    assert handover(before_read=[]) == {Flaw.MISSING_PROXY_FENCE}
    assert handover(before_read=[PROXY]) == set()
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
    store, copy, read = told_of_a_word(Span(0, 4096, BYTES))
    expects = Arrive(0, FULL, 1, BYTES)
    outcome = examine(protocol({FULL: 1}, [store, copy], [expects, Wait(0, FULL, 0), read]))
    assert outcome.problems == ()
    assert {problem.flaw for problem in outcome.strict} == {Flaw.UNRELEASED_STORE}
    published = examine(protocol({FULL: 1}, [store, expects, copy], [Wait(0, FULL, 0), read]))
    assert (published.problems, published.strict) == ((), ())


def test_a_completed_copy_tells_nothing_of_stores_behind_it_or_to_another_cta() -> None:
    store, copy, read = told_of_a_word(Span(0, 4096, BYTES))
    reader: list[Action] = [Arrive(0, FULL, 1, BYTES), Wait(0, FULL, 0)]
    assert flaws_of({FULL: 1}, [copy, store], [*reader, read]) == {Flaw.READ_TOO_EARLY}
    store, copy, read = told_of_a_word(Span(1, 4096, BYTES))
    assert flaws_of({FULL: 1}, [store, copy], [*reader, read]) == {Flaw.READ_TOO_EARLY}


@pytest.mark.parametrize("releases", [True, False])
def test_what_a_copy_tells_of_is_told_on_by_any_arrival(*, releases: bool) -> None:
    store, copy, read = told_of_a_word(Span(0, 4096, BYTES))
    middle: list[Action] = [
        Arrive(0, FULL, 1, BYTES),
        Wait(0, FULL, 0),
        Arrive(0, EMPTY, 1, releases=releases),
    ]
    outcome = examine(protocol({FULL: 1, EMPTY: 1}, [store, copy], middle, [Wait(0, EMPTY, 0), read]))
    assert outcome.problems == ()
    assert {problem.flaw for problem in outcome.strict} == {Flaw.UNRELEASED_STORE}


def test_relaxed_arrivals_and_waits_need_fences() -> None:
    def run(*, released: bool, acquired: bool) -> set[Flaw]:
        """Return what the words of PTX forbid, and hardware has been seen to keep in order."""
        release: list[Action] = [Fence(0, releases=True)] if released else []
        acquire: list[Action] = [Fence(0, acquires=True)] if acquired else []
        writer: list[Action] = [WRITE, *release, Arrive(0, FULL, 1, releases=False)]
        reader = [Wait(0, FULL, 0, acquires=False), *acquire, READ]
        outcome = examine(protocol({FULL: 1}, writer, reader))
        assert outcome.problems == ()
        return {problem.flaw for problem in outcome.strict}

    assert run(released=True, acquired=True) == set()
    for released, acquired in ((False, True), (True, False), (False, False)):
        assert run(released=released, acquired=acquired) == {Flaw.UNRELEASED_STORE}


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


@pytest.mark.parametrize(
    "wait", [Wait(0, Barrier(1, 0), 0, wide=False), Wait(0, Barrier(1, 0), 0, acquires=False)]
)
def test_what_is_released_for_the_cluster_is_there_behind_any_wait(wait: Wait) -> None:
    there, word = Barrier(1, 0), Span(1, 4096, BYTES)
    store, read = Access(0, writes=(word,)), Access(0, reads=(word,))
    for wide in (True, False):
        writer: list[Action] = [store, Arrive(0, there, 1, wide=wide), meeting(2, number=1)]
        reader: list[Action] = [wait, read, meeting(2, number=1)]
        outcome = examine(protocol({there: 1}, writer, reader, ctas=(0, 1)))
        assert {problem.flaw for problem in outcome.problems} == (set() if wide else {Flaw.READ_TOO_EARLY})
        assert {problem.flaw for problem in outcome.strict} == ({Flaw.NARROW_ACQUIRE} if wide else set())


def test_what_a_cta_stores_is_released_for_readers_of_another_one() -> None:
    """In front of a narrow wait, the bytes of its own CTA are there; those that it looks up elsewhere need not be."""
    there, word = Barrier(1, 0), Span(0, 4096, BYTES)
    writer: list[Action] = [Access(0, writes=(word,)), Arrive(0, there, 1), meeting(2, number=1)]
    reader: list[Action] = [Wait(0, there, 0, wide=False), Access(0, reads=(word,)), meeting(2, number=1)]
    assert flaws_of({there: 1}, writer, reader, ctas=(0, 1)) == {Flaw.READ_TOO_EARLY}


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


HALVES = (Span(0, 1024, 64), Span(0, 1088, 64))
BOTH_HALVES = (Span(0, 1024, 128),)
WRITING, MEETING, FENCING, MULTIPLYING = 1, 2, 3, 4


def multiplying_warp(
    number: int, *, fence: bool = True, first: bool = False, pipeline: str = "wgmma"
) -> Strand:
    """Return a warp that writes its half and multiplies both; `first`: it fences before the barrier."""
    meet = Rendezvous(MEETING, NamedBarrier(0, 0), 32, 64, True)
    fences: tuple[Action, ...] = (Fence(FENCING, proxy=True),) if fence else ()
    middle = (*fences, meet) if first else (meet, *fences)
    use = Transfer(MULTIPLYING, (), pipeline, reads=BOTH_HALVES)
    return Strand(
        0, number, (1 << 32) - 1, f"warp {number}", (Access(WRITING, (), (HALVES[number],)), *middle, use)
    )


def copying_warp(number: int, *middle: Action) -> Strand:
    """Return a warp that copies its half by `cp.async`, does something, and multiplies both."""
    copy = Transfer(WRITING, (), "cp.async", writes=(HALVES[number],), proxy=Proxy.GENERIC)
    use = Transfer(MULTIPLYING, (), "wgmma", reads=BOTH_HALVES)
    return Strand(0, number, (1 << 32) - 1, f"warp {number}", (copy, *middle, use))


def flaws_of_warps(*warps: Strand) -> list[Flaw]:
    return [problem.flaw for problem in simulate(Protocol(warps, 64)).problems]


def test_fence_of_the_writer_before_the_barrier() -> None:
    assert flaws_of_warps(multiplying_warp(0, first=True), multiplying_warp(1, first=True)) == []


def test_fence_behind_the_barrier_is_only_strict() -> None:
    outcome = simulate(Protocol((multiplying_warp(0), multiplying_warp(1)), 64))
    assert outcome.problems == ()
    assert {problem.flaw for problem in outcome.strict} == {Flaw.FENCED_BEHIND_BARRIER}


COMMIT = Commit(FENCING, "cp.async")


def awaited(pending: int) -> WaitGroup:
    return WaitGroup(FENCING, "cp.async", pending)


def test_copies_that_each_warp_waits_for_need_no_barrier_in_front_of_wgmma() -> None:
    outcome = simulate(Protocol(tuple(copying_warp(each, COMMIT, awaited(0)) for each in (0, 1)), 64))
    assert outcome.problems == ()
    assert Flaw.STORED_BY_ANOTHER_WARP in {problem.flaw for problem in outcome.strict}


@pytest.mark.parametrize("middle", [(), (COMMIT,), (awaited(0), COMMIT), (COMMIT, awaited(1))])
@pytest.mark.parametrize("which", [0, 1])
def test_copies_that_one_warp_does_not_wait_for_are_not_excused(
    middle: tuple[Action, ...], which: int
) -> None:
    warps = [copying_warp(each, *(middle if each == which else (COMMIT, awaited(0)))) for each in (0, 1)]
    assert set(flaws_of_warps(*warps)) & {Flaw.READ_TOO_EARLY, Flaw.OVERWRITE}


@pytest.mark.parametrize("which", [0, 1])
def test_a_warp_that_never_fences_is_not_excused(which: int) -> None:
    assert Flaw.MISSING_PROXY_FENCE in flaws_of_warps(
        *(multiplying_warp(number, fence=number != which) for number in (0, 1))
    )


def test_a_fence_of_the_thread_that_copies_is_only_strict() -> None:
    warps = multiplying_warp(0, pipeline="bulk"), multiplying_warp(1, pipeline="bulk")
    outcome = simulate(Protocol(warps, 64))
    assert outcome.problems == ()
    assert {problem.flaw for problem in outcome.strict} == {
        Flaw.FENCED_ON_THE_WAY, Flaw.EXIT_WITH_REMOTE_ACCESS,
    }  # fmt: skip


def test_a_fence_of_one_writer_does_not_speak_for_the_other() -> None:
    warps = (
        multiplying_warp(0, pipeline="bulk", first=True),
        multiplying_warp(1, pipeline="bulk", fence=False),
    )
    assert flaws_of_warps(*warps) == [Flaw.MISSING_PROXY_FENCE]


MBARRIER_BEHIND_A_BARRIER = """
    mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p9, %r9, 0; setp.eq.u32 %p7, %r9, 96;
    @%p9 mbarrier.init.shared.b64 [%r1+512], 128; bar.sync 0;
"""
"""Accesses that are let pass though nothing orders them: what comes behind the second is compared with the first."""
MEET_AND_ARRIVE = "bar.sync 0; mbarrier.arrive.shared.b64 _, [%r1+512];"
ALL_STORE = "st.shared.u32 [%r1], 7;"
TWO_ACCESSES = {
    "one stores another value, then all": ("@!%p9 bra ON; st.shared.u32 [%r1], 5; ON:", ALL_STORE),
    "all store, then one another value": (ALL_STORE, "@!%p9 bra ON; st.shared.u32 [%r1], 5; ON:"),
    "all store, then one reads": (ALL_STORE, "@!%p9 bra ON; ld.shared.u32 %r2, [%r1]; ON:"),
    "one of a warp stores, one of another reads": (
        "@!%p7 bra A; st.shared.u32 [%r1], 7; A:", "@!%p9 bra ON; ld.shared.u32 %r2, [%r1]; ON:",
    ),
}  # fmt: skip


def verified_pair(first: str, between: str, then: str) -> Verification:
    return verified(kernel(MBARRIER_BEHIND_A_BARRIER + first + between + then + MEET_AND_ARRIVE))


@pytest.mark.parametrize("name", TWO_ACCESSES)
def test_who_stored_first_is_compared_with_what_comes_later(name: str) -> None:
    first, then = TWO_ACCESSES[name]
    assert kind(verified_pair(first, "", then), Property.SLOT_SAFETY) is VerdictKind.VIOLATED
    assert kind(verified_pair(first, "bar.sync 0;", then), Property.SLOT_SAFETY) in (
        VerdictKind.PROVED,
        VerdictKind.ASSUMES,
    )


@pytest.mark.parametrize("value", ["7", "%r9"])
def test_stores_of_a_thread_that_a_predicate_chooses_by_its_index_are_certain(value: str) -> None:
    store = f"@%p7 st.shared.u32 [%r1], {value};"
    reads = "@!%p9 bra ON; ld.shared.u32 %r2, [%r1]; ON:"
    assert kind(verified_pair(store, "", reads), Property.SLOT_SAFETY) is VerdictKind.VIOLATED
    assert kind(verified_pair(store, "bar.sync 0;", reads), Property.SLOT_SAFETY) is VerdictKind.PROVED


def test_one_value_of_all_threads_is_let_pass_round_after_round() -> None:
    rounds = "".join(f"st.shared.u32 [%r1], {value}; bar.sync 0;" for value in (1, 2, 3))
    assert kind(verified_pair(rounds, "", ""), Property.SLOT_SAFETY) in (
        VerdictKind.PROVED,
        VerdictKind.ASSUMES,
    )


STORE_AT_AN_UNKNOWN_INDEX = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 places)
.reqntid 64
{{
    .shared .align 8 .b64 full;
    .shared .align 4 .b8 table[256];
    .shared .align 4 .b8 other[256];
    .reg .pred leads;
    .reg .b32 thread, index, at, place, word;
    .reg .b64 where;
    mov.u32 thread, %tid.x;
    setp.eq.u32 leads, thread, 32;
    @leads mbarrier.init.shared.b64 [full], 64;
    bar.sync 0;
    ld.param.u64 where, [places];
    ld.global.u32 index, [where];
    {mask}
    shl.b32 at, index, 2;
    mov.u32 place, {written};
    add.u32 place, place, at;
    @leads st.shared.u32 [place], index;
    {between}
    mov.u32 place, table;
    shl.b32 at, thread, 2;
    add.u32 place, place, at;
    ld.shared.u32 word, [place{offset}];
    ret;
}}
"""
"""Accesses of shared memory at an index that is not known: they stay inside their variable."""
UNKNOWN_INDEX = "an index into shared memory that is not known stays inside its variable"


def slot_safety_at_an_index(
    written: str, between: str = "", mask: str = "", offset: str = ""
) -> tuple[VerdictKind, set[str]]:
    text = STORE_AT_AN_UNKNOWN_INDEX.format(written=written, between=between, mask=mask, offset=offset)
    result = verified(text)
    kinds = {each.property: each.kind for each in result.verdicts()}
    provisos = result.provisos.get(Property.SLOT_SAFETY, set())
    return kinds[Property.SLOT_SAFETY], {each.text for each in provisos}


def test_another_variable_is_not_met() -> None:
    assert slot_safety_at_an_index("other") == (VerdictKind.ASSUMES, {UNKNOWN_INDEX})


def test_the_same_variable_may_be_met() -> None:
    kind, _ = slot_safety_at_an_index("table")
    assert kind is VerdictKind.UNKNOWN


def test_a_barrier_orders_wherever_the_access_is() -> None:
    assert slot_safety_at_an_index("table", between="bar.sync 0;") == (VerdictKind.ASSUMES, {UNKNOWN_INDEX})


@pytest.mark.parametrize(("largest", "expected"), [(7, VerdictKind.ASSUMES), (15, VerdictKind.UNKNOWN)])
def test_a_bound_of_the_index_counts(largest: int, expected: VerdictKind) -> None:
    mask = f"and.b32 index, index, {largest};"
    kind, _ = slot_safety_at_an_index("table", mask=mask, offset="+32")
    assert kind is expected
