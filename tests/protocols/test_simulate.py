"""One schedule speaks for all: the simulation agrees with an explicit search of every schedule."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ptxcheck.protocols.actions import (
    Action,
    Arrive,
    Barrier,
    Expect,
    Init,
    Protocol,
    Rendezvous,
    Strand,
    Transfer,
    Wait,
)
from ptxcheck.protocols.simulate import Flaw, Outcome, simulate

from .brute_force import explore

BARRIERS = tuple(Barrier(0, index) for index in range(3))


def protocol(counts: tuple[int, ...], *strands: tuple[Action, ...]) -> Protocol:
    """Return a protocol whose barriers are initialised by strand 0 before all others start."""
    init = tuple(Init(0, BARRIERS[index], count) for index, count in enumerate(counts))
    meet = Rendezvous(1, ("bar", 0, 0), 1, len(strands), True)
    return Protocol(
        tuple(
            Strand(0, index, 1, f"warp {index}", (*(init if index == 0 else ()), meet, *actions))
            for index, actions in enumerate(strands)
        ),
        len(strands),
    )


def flaws(outcome: Outcome) -> set[Flaw]:
    return {problem.flaw for problem in outcome.problems}


def ring(stages: int, rounds: int, *, parity_slip: int = 0, skip_release: bool = False) -> Protocol:
    """Return a TMA ring: a producer that waits, expects and copies, a consumer that waits and releases."""
    full, empty = BARRIERS[:stages], tuple(Barrier(0, 100 + i) for i in range(stages))
    producer: list[Action] = []
    consumer: list[Action] = []
    for step in range(rounds):
        stage, lap = step % stages, step // stages
        producer += [
            Wait(10, empty[stage], (lap & 1) ^ 1),
            Arrive(11, full[stage], 1, 16),
            Transfer(12, ((full[stage], 16),)),
        ]
        consumer.append(Wait(20, full[stage], (lap + parity_slip) & 1))
        if not skip_release:
            consumer.append(Arrive(21, empty[stage], 1))
    init = tuple(Init(0, b, 1) for b in (*full, *empty))
    meet = Rendezvous(1, ("bar", 0, 0), 1, 2, True)
    return Protocol(
        (
            Strand(0, 0, 1, "producer", (*init, meet, *producer)),
            Strand(0, 1, 1, "consumer", (meet, *consumer)),
        ),
        2,
    )


def test_correct_rings_have_no_problem() -> None:
    for stages in (1, 2, 3):
        for rounds in range(8):
            assert simulate(ring(stages, rounds)).problems == ()


def test_missing_release_deadlocks_on_the_second_lap_only() -> None:
    assert simulate(ring(2, 2, skip_release=True)).problems == ()
    assert Flaw.DEADLOCK in flaws(simulate(ring(2, 3, skip_release=True)))


def test_wrong_parity_is_found() -> None:
    assert flaws(simulate(ring(2, 4, parity_slip=1)))


def test_two_waits_of_opposite_parity_with_one_flip_are_correct() -> None:
    """The trap of tools that count: two waits a round on one barrier, one completion each."""
    b = BARRIERS[0]
    first = (Arrive(1, b, 1), Wait(2, b, 0), Arrive(3, b, 1), Wait(4, b, 1))
    assert simulate(protocol((2,), first, first)).problems == ()


def test_bytes_that_never_come_deadlock_and_say_so() -> None:
    b = BARRIERS[0]
    outcome = simulate(protocol((1,), (Arrive(1, b, 1, 32), Transfer(2, ((b, 16),)), Wait(3, b, 0))))
    (problem,) = outcome.problems
    assert problem.flaw is Flaw.DEADLOCK
    assert "32 bytes expected, 16 complete" in problem.detail


def test_symbolic_bytes_become_an_equation() -> None:
    from ptxcheck.protocols.machine.symbol import atom

    b = BARRIERS[0]
    box = atom("box_bytes", "param+0")
    outcome = simulate(protocol((1,), (Arrive(1, b, 1, 64), Transfer(2, ((b, box),)), Wait(3, b, 0))))
    assert outcome.problems == ()
    (equation,) = outcome.equations
    assert (equation.expected, equation.completed) == (64, box)


def _actions(barriers: int) -> st.SearchStrategy[Action]:
    barrier = st.sampled_from(BARRIERS[:barriers])
    return st.one_of(
        st.builds(Arrive, st.just(5), barrier, st.just(1), st.sampled_from([0, 0, 16])),
        st.builds(Wait, st.just(6), barrier, st.integers(0, 1)),
        st.builds(Wait, st.just(6), barrier, st.integers(0, 1)),
        st.builds(Expect, st.just(7), barrier, st.just(16)),
        st.builds(lambda b: Transfer(8, ((b, 16),)), barrier),
    )


@st.composite
def small_protocols(draw: st.DrawFn) -> tuple[tuple[tuple[Action, ...], ...], tuple[int, ...]]:
    """Draw up to three strands of up to five actions over up to two barriers."""
    barriers = draw(st.integers(1, 2))
    counts = tuple(draw(st.lists(st.integers(1, 2), min_size=barriers, max_size=barriers)))
    strands = draw(st.lists(st.lists(_actions(barriers), max_size=5).map(tuple), min_size=1, max_size=3))
    return tuple(strands), counts


@given(small_protocols())
@settings(max_examples=1500, deadline=None)
def test_no_problem_means_that_every_schedule_is_alike(
    case: tuple[tuple[tuple[Action, ...], ...], tuple[int, ...]],
) -> None:
    """The sound direction. The other one is conservative: some late expects are harmless."""
    strands, counts = case
    answer = explore(strands, counts)
    outcome = simulate(protocol(counts, *strands))
    if answer is not None and not outcome.problems:
        assert answer.good, answer.reason


@given(small_protocols())
@settings(max_examples=500, deadline=None)
def test_a_protocol_that_is_stuck_is_not_good(
    case: tuple[tuple[tuple[Action, ...], ...], tuple[int, ...]],
) -> None:
    strands, counts = case
    answer = explore(strands, counts)
    outcome = simulate(protocol(counts, *strands))
    if answer is not None and answer.good:
        assert Flaw.DEADLOCK not in flaws(outcome)
