"""Phases, bytes and lives of mbarriers; every demonstrated problem comes with a schedule."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.model.actions import (
    Action,
    Amount,
    Arrive,
    AsyncArrive,
    Barrier,
    Expect,
    Fence,
    Init,
    Inval,
    Protocol,
    Rendezvous,
    Span,
    Strand,
    Transfer,
    Wait,
)
from ptxcheck.protocols.model.outcome import Flaw
from ptxcheck.protocols.model.sync_objects import ClusterBarrier, NamedBarrier
from ptxcheck.protocols.proof.search import examine
from ptxcheck.protocols.proof.simulate import simulate
from ptxcheck.protocols.symex.values.symbol import atom, plus
from tests.protocols.building import BYTES, EMPTY, FULL, expected_load, flaws_of, meeting, protocol, shown


def ring(
    stages: int, rounds: int, *, slip: int = 0, released: bool = True
) -> tuple[dict[Barrier, int], list[Action], list[Action]]:
    """Return a ring of loads: mbarriers, a producer, and a consumer whose parity may slip."""
    full, empty = ([Barrier(0, start + 8 * i) for i in range(stages)] for start in (0, 256))
    producer: list[Action] = []
    consumer: list[Action] = []
    for step in range(rounds):
        stage, lap = step % stages, step // stages
        producer += [Wait(0, empty[stage], lap & 1 ^ 1), Arrive(0, full[stage], 1, 16)]
        producer.append(Transfer(0, ((full[stage], 16),)))
        consumer.append(Wait(0, full[stage], lap + slip & 1))
        if released:
            consumer.append(Arrive(0, empty[stage], 1))
    return dict.fromkeys((*full, *empty), 1), producer, consumer


@pytest.mark.parametrize("stages", [1, 2, 3])
@pytest.mark.parametrize("rounds", range(8))
def test_a_correct_ring_has_no_problem(stages: int, rounds: int) -> None:
    assert flaws_of(*ring(stages, rounds)) == set()


def test_a_missing_release_hangs_on_the_second_lap_only() -> None:
    assert flaws_of(*ring(2, 2, released=False)) == set()
    assert flaws_of(*ring(2, 3, released=False)) == {Flaw.DEADLOCK}


def test_a_wrong_parity_is_found() -> None:
    assert Flaw.DEADLOCK in flaws_of(*ring(2, 4, slip=1))


def test_two_waits_of_opposite_parity_with_one_flip_a_round_are_correct() -> None:
    one: list[Action] = []
    for _ in range(3):
        one += [Arrive(0, FULL, 1), Wait(0, FULL, 0), Arrive(0, FULL, 1), Wait(0, FULL, 1)]
    assert flaws_of({FULL: 2}, one, one) == set()


def test_a_wait_whose_copy_is_outstanding_is_correct() -> None:
    assert flaws_of({FULL: 1}, [*expected_load(), Wait(0, FULL, 0)]) == set()


def test_bytes_that_never_come_are_named_first() -> None:
    producer: list[Action] = [Arrive(0, FULL, 1, 32), Transfer(0, ((FULL, 16),)), Wait(0, EMPTY, 0)]
    outcome = examine(protocol({FULL: 1, EMPTY: 1}, producer, [Wait(0, FULL, 0), Arrive(0, EMPTY, 1)]))
    first, second = outcome.problems
    assert first.flaw is second.flaw is Flaw.DEADLOCK
    assert first.strand == 1
    assert "32 bytes expected, 16 complete" in first.detail
    assert "blocked themselves: warp 1" in second.detail
    assert first.schedule


def test_a_deadlock_says_that_nobody_arrives_any_more() -> None:
    (problem,) = examine(protocol({FULL: 2}, [Arrive(0, FULL, 1), Wait(0, FULL, 0)])).problems
    assert "1 of 2 arrivals are missing; no thread arrives there any more" in problem.detail


def test_a_deadlock_names_the_circle() -> None:
    one: list[Action] = [Wait(0, FULL, 0), Arrive(0, EMPTY, 1)]
    other: list[Action] = [Wait(0, EMPTY, 0), Arrive(0, FULL, 1)]
    first, _ = examine(protocol({FULL: 1, EMPTY: 1}, one, other)).problems
    assert "a circle of waits: warp 0 → warp 1 → warp 0" in first.detail


def test_a_deadlock_tells_a_parity_that_was_seen_before() -> None:
    mover: list[Action] = [Arrive(0, FULL, 1), meeting(2), Arrive(0, FULL, 1), meeting(2, number=1)]
    waiter: list[Action] = [Wait(0, FULL, 0), meeting(2), meeting(2, number=1), Wait(0, FULL, 0)]
    (problem,) = examine(protocol({FULL: 1}, mover, waiter)).problems
    assert "it has seen phase 0 and waits with the same parity again" in problem.detail


def test_an_expect_after_the_last_arrival_comes_too_late() -> None:
    late: list[Action] = [Arrive(0, FULL, 1), Expect(0, FULL, 16), Transfer(0, ((FULL, 16),))]
    assert Flaw.LATE_EXPECT in flaws_of({FULL: 2}, late, [Arrive(0, FULL, 1)])


def test_an_expect_that_other_bytes_hold_the_phase_open_for_is_in_time() -> None:
    chain: list[Action] = [Arrive(0, FULL, 1, 16), Expect(0, FULL, 16)]
    copies: list[Action] = [Transfer(0, ((FULL, 16),)), Transfer(0, ((FULL, 16),))]
    assert flaws_of({FULL: 1}, [*chain, *copies, Wait(0, FULL, 0)]) == set()


def test_a_copy_before_its_expect_is_fine_while_an_arrival_is_missing() -> None:
    early: list[Action] = [Transfer(0, ((FULL, 16),)), Arrive(0, FULL, 1, 16), Wait(0, FULL, 0)]
    assert flaws_of({FULL: 1}, early) == set()


def test_arrivals_that_may_take_the_place_of_another() -> None:
    twice: list[Action] = [Arrive(0, FULL, 1), Arrive(0, FULL, 1)]
    assert flaws_of({FULL: 2}, twice, twice) == {Flaw.EARLY_ARRIVAL}


def test_a_phase_that_can_be_missed_has_a_schedule_that_misses_it() -> None:
    outcome = examine(protocol({FULL: 1}, [Arrive(0, FULL, 1), meeting(2), Arrive(0, FULL, 1)],
                               [meeting(2), Wait(0, FULL, 0)]))  # fmt: skip
    assert outcome.problems
    assert all(problem.schedule for problem in outcome.problems)
    assert shown(outcome) & {Flaw.MISSED_PHASE, Flaw.DEADLOCK}


@pytest.mark.parametrize("phases", [1, 2])
def test_a_wait_that_may_be_late_is_held_back_where_the_search_gives_up(phases: int) -> None:
    """No schedule is searched, and in the one that is simulated the wait comes in time."""
    late: list[Action] = [meeting(2), Wait(0, FULL, 0)]
    leads: list[Action] = [Arrive(0, FULL, 1), meeting(2), *[Arrive(0, FULL, 1)] * (phases - 1)]
    outcome = examine(protocol({FULL: 1}, late, leads), budget=0)
    assert shown(outcome) == ({Flaw.MISSED_PHASE, Flaw.DEADLOCK} if phases > 1 else set())


@pytest.mark.parametrize("boxes", [1, 3])
def test_schedules_are_searched_where_the_host_passes_how_many_bytes_come(boxes: int) -> None:
    """What is expected is a parameter: it is at least as much as all boxes together."""
    sizes = [atom("box_bytes", f"param+{128 * each}") for each in range(boxes)]
    loads: list[Action] = [
        Arrive(0, EMPTY, 1, atom("param", "n", 0, 4)),
        *(Transfer(0, ((EMPTY, size),)) for size in sizes),
    ]
    late: list[Action] = [*loads, Wait(0, EMPTY, 0), meeting(2), Wait(0, FULL, 0)]
    leads: list[Action] = [Arrive(0, FULL, 1), meeting(2), Arrive(0, FULL, 1)]
    outcome = examine(protocol({FULL: 1, EMPTY: 1}, late, leads))
    assert Flaw.MISSED_PHASE in shown(outcome) or Flaw.DEADLOCK in shown(outcome)


@pytest.mark.parametrize("is_ordered", [True, False])
def test_others_are_held_back_where_an_arrival_may_come_before_theirs(is_ordered: bool) -> None:
    """No schedule is searched, and in the one that is simulated the second arrival comes in time."""
    meets, arrives = (Rendezvous(point, NamedBarrier(0, 1), 1, 2, point == 7) for point in (7, 8))
    twice: list[Action] = [arrives, Wait(0, FULL, 0), arrives]
    told: list[Action] = [meets, Arrive(0, FULL, 1)] if is_ordered else [Arrive(0, FULL, 1), meets]
    outcome = examine(protocol({FULL: 1}, twice, [*told, meets]), budget=0)
    assert shown(outcome) == (set() if is_ordered else {Flaw.EARLY_ARRIVAL})


def test_a_state_is_waited_for_without_parity() -> None:
    one: list[Action] = [Arrive(0, FULL, 1, token=2), Wait(0, FULL, None, token=2)]
    assert flaws_of({FULL: 1}, one) == set()


def test_asynchronous_arrivals_may_come_in_any_order() -> None:
    """Commits of two strands on one mbarrier of one arrival: which of them ends which phase is not fixed."""
    one: list[Action] = [AsyncArrive(0, FULL, 1)]
    assert Flaw.EARLY_ARRIVAL in flaws_of({FULL: 1}, one, one)
    between: list[Action] = [
        AsyncArrive(0, FULL, 1),
        Wait(0, FULL, 0),
        AsyncArrive(0, FULL, 1),
        Wait(0, FULL, 1),
    ]
    assert flaws_of({FULL: 1}, between) == set()


def test_arrivals_of_one_pipeline_count_in_order() -> None:
    """Two commits of one strand are alike: nothing has to wait in between. Where somebody waits, it does."""
    commit, other = AsyncArrive(0, FULL, 1), AsyncArrive(0, FULL, 2)
    assert flaws_of({FULL: 1}, [commit, commit]) == set()
    assert flaws_of({FULL: 1}, [commit, commit], [Wait(0, FULL, 0), Wait(0, FULL, 1)]) == {Flaw.DEADLOCK}
    assert Flaw.EARLY_ARRIVAL in flaws_of({FULL: 3}, [commit, other, other, commit])
    lanes = AsyncArrive(0, FULL, 32, pipeline="cp.async")
    assert Flaw.EARLY_ARRIVAL in flaws_of({FULL: 32}, [lanes, lanes]), "one lane may be twice before others"
    raised = AsyncArrive(0, FULL, 1, True, "cp.async")
    assert flaws_of({FULL: 1}, [raised, Arrive(0, FULL, 1), raised, Arrive(0, FULL, 1)]) != set()


@pytest.mark.parametrize(("increments", "count"), [(True, 1), (False, 2)])
def test_cp_async_arrivals_with_and_without_increment(increments: bool, count: int) -> None:
    copier: list[Action] = [
        Transfer(0, (), "cp.async"), AsyncArrive(0, FULL, 1, increments, "cp.async"), Arrive(0, FULL, 1),
    ]  # fmt: skip
    assert flaws_of({FULL: count}, copier, [Wait(0, FULL, 0)]) == set()
    assert flaws_of({FULL: 3 - count}, copier, [Wait(0, FULL, 0)]) != set()


def test_an_arrival_that_must_not_complete_the_phase() -> None:
    assert flaws_of({FULL: 1}, [Arrive(0, FULL, 1, completes=False)]) == {Flaw.OVER_ARRIVAL}
    assert flaws_of({FULL: 2}, [Arrive(0, FULL, 1, completes=False)]) == set()


def test_a_dropped_arrival_lowers_later_phases() -> None:
    leaver: list[Action] = [Arrive(0, FULL, 1, drop=True)]
    stayer: list[Action] = [Arrive(0, FULL, 1), Wait(0, FULL, 0), Arrive(0, FULL, 1), Wait(0, FULL, 1)]
    assert flaws_of({FULL: 2}, leaver, stayer) == set()
    assert flaws_of({FULL: 2}, [Arrive(0, FULL, 1)], stayer) == {Flaw.DEADLOCK}


def test_more_bytes_than_an_mbarrier_counts() -> None:
    assert flaws_of({FULL: 1}, [Arrive(0, FULL, 1, 1 << 20)]) == {Flaw.TX_RANGE}


def test_symbolic_bytes_become_an_equation() -> None:
    box = atom("box_bytes", "param+0")
    outcome = simulate(
        protocol({FULL: 1}, [Arrive(0, FULL, 1, 64), Transfer(0, ((FULL, box),)), Wait(0, FULL, 0)])
    )
    (equation,) = outcome.equations
    assert outcome.problems == ()
    assert (equation.expected, equation.completed) == (64, box)


def test_a_copy_that_comes_late_is_of_the_phase_it_was_announced_for() -> None:
    """Another barrier is awaited before the second copy of a phase is started: the first does not end it alone."""
    one, two, other = (atom("box_bytes", name) for name in ("one", "two", "other"))
    slots = [Span(0, place, 0, exact=False) for place in (1024, 2048, 4096)]
    loads: list[Action] = [
        Arrive(0, FULL, 1, 2 * BYTES),
        Transfer(0, ((FULL, one),), writes=(slots[0],)),
        Arrive(0, EMPTY, 1, BYTES),
        Transfer(0, ((EMPTY, other),), writes=(slots[2],)),
        Wait(0, EMPTY, 0),
        Transfer(0, ((FULL, two),), writes=(slots[1],)),
    ]
    outcome = examine(protocol({FULL: 1, EMPTY: 1}, loads, [Wait(0, FULL, 0)]))
    assert not outcome.problems
    assert {(str(e.expected), str(e.completed)) for e in outcome.equations} == {
        (str(2 * BYTES), str(plus(one, two))),
        (str(BYTES), str(other)),
    }


def test_equations_that_contradict_each_other() -> None:
    box = atom("box_bytes", "param+0")
    one: list[Action] = []
    for step, expected in enumerate((64, 128)):
        one += [Arrive(0, FULL, 1, expected), Transfer(0, ((FULL, box),)), Wait(0, FULL, step)]
    assert flaws_of({FULL: 1}, one) == {Flaw.TX_MISMATCH}


@pytest.mark.parametrize("expected", [64, atom("param", "n", 0, 4)], ids=["number", "parameter"])
def test_a_box_is_not_empty(expected: Amount) -> None:
    """A phase that lacks a copy balances only where its box has no bytes: no host can pass that."""
    boxes = [atom("box_bytes", name) for name in ("param+0", "param+128")]
    copies: list[list[Action]] = [[Transfer(0, ((FULL, box),)) for box in boxes[:count]] for count in (2, 1)]
    announced = Arrive(0, FULL, 1, expected)
    both = [announced, *copies[0], Wait(0, FULL, 0), announced, *copies[0], Wait(0, FULL, 1)]
    lacking = [announced, *copies[0], Wait(0, FULL, 0), announced, *copies[1], Wait(0, FULL, 1)]
    assert flaws_of({FULL: 1}, both) == set()
    assert flaws_of({FULL: 1}, lacking) == {Flaw.TX_MISMATCH}


def start(*, fence: bool, ordered: bool) -> Protocol:
    """Return an initialisation that a relaxed or an ordinary barrier separates from its use."""
    arrive = Rendezvous(2, ClusterBarrier(), 1, 2, False, orders=ordered)
    wait = Rendezvous(3, ClusterBarrier(), 1, 2, True, arrives=False)
    head: list[Action] = [Init(0, FULL, 1), *([Fence(1, inits=True)] if fence else []), arrive, wait]
    one = Strand(0, 0, 1, "warp 0", (*head, Wait(4, FULL, 0)))
    return Protocol((one, Strand(1, 1, 1, "warp 1", (arrive, wait, Arrive(5, FULL, 1)))), 2)


def test_an_initialisation_behind_a_relaxed_barrier_needs_its_fence() -> None:
    assert shown(examine(start(fence=False, ordered=False))) == {Flaw.UNORDERED_INIT}
    assert shown(examine(start(fence=True, ordered=False))) == set()
    assert shown(examine(start(fence=False, ordered=True))) == set()


def test_lives_of_an_mbarrier() -> None:
    again: list[Action] = [
        Arrive(0, FULL, 1),
        Wait(0, FULL, 0),
        Inval(0, FULL),
        Init(0, FULL, 1),
        Arrive(0, FULL, 1),
    ]
    assert flaws_of({FULL: 1}, [*again, Wait(0, FULL, 0)]) == set()
    assert Flaw.DOUBLE_INIT in flaws_of({FULL: 1}, [Init(0, FULL, 1)])
    assert flaws_of({FULL: 1}, [Inval(0, FULL), Arrive(0, FULL, 1)]) == {Flaw.UNINITIALISED}
    outstanding: list[Action] = [*expected_load(), Inval(0, FULL)]
    outcome = examine(protocol({FULL: 1}, outstanding))
    assert outcome.problems == ()
    assert Flaw.EARLY_INVALIDATION in {p.flaw for p in outcome.strict}
    assert Flaw.EARLY_INVALIDATION in shown(examine(protocol({FULL: 1}, [*outstanding, Init(0, FULL, 1)])))
    waits: list[Action] = [Arrive(0, FULL, 1), Wait(0, FULL, 0)]
    assert Flaw.EARLY_INVALIDATION in flaws_of({FULL: 2}, [*waits, Inval(0, FULL)], waits)
    assert flaws_of({FULL: 2}, [*waits, meeting(2), Inval(0, FULL)], [*waits, meeting(2)]) == set()
