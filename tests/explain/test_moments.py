"""Moments: sorted by them, the steps of a run are a run too, in which every step takes part in the same phase."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ptxcheck.explain.barrier_names import mbarriers_of
from ptxcheck.explain.moments import TimedRun, timed
from ptxcheck.protocols.model.actions import (
    Action,
    Arrive,
    Commit,
    Protocol,
    Registers,
    Rendezvous,
    Transfer,
    Wait,
    WaitGroup,
)
from ptxcheck.protocols.proof.explicit_state import (
    Flight,
    State,
    WrongError,
)
from ptxcheck.protocols.proof.simulate import simulate
from ptxcheck.protocols.proof.transition_system import TransitionSystem
from tests.protocols.building import EMPTY, FULL, expected_load, meeting, protocol
from tests.protocols.corpus_runs import sample

GOOD = (
    "ring/three_stages", "ring/four_stages_filled_ahead", "ring/elected_thread_loads", "ring/two_operands",
    "cluster/multicast_pair", "cluster/split_cluster_barrier", "cluster/st_async", "groups/cp_async_arrives",
    "groups/store_two_buffers", "handover/named_barriers", "handover/three_roles_meet", "pingpong/order_barriers",
    "persistent/tiles_and_steps", "roles/two_producers_two_consumers",
    "tcgen05/commits_release_stages", "waits/arrives_and_drops", "waits/question_and_answer",
    "wgmma/released_after_the_wait", "wgmma/refilled_behind_a_barrier",
    "init/invalidated_and_initialised_again",
)  # fmt: skip


def timed_all(protocol: Protocol) -> TimedRun:
    """Return the simulated run of a protocol, with every step taking a moment."""
    return timed(protocol, simulate(protocol).steps, lambda step: True)


def timed_sample(name: str) -> TimedRun:
    """Return a run in which every step takes a moment."""
    return timed_all(sample(name).protocol)


class Replayed:
    """Steps of a run done one by one, each as soon as the transition system lets it; copies complete at once.

    A step that takes part in another phase than in the run raises WrongError.
    """

    def __init__(self, run: TimedRun) -> None:
        self.run = run
        reference = {(s.strand, s.index): s.phase for s in run.schedule if s.phase is not None}
        self.system = TransitionSystem(run.protocol, reference)
        self.state: State = self.system.start()
        self.phases: dict[int, int | None] = {}

    def do_together(self, places: list[int]) -> None:
        """Do the steps of one moment, in any order that works: those who meet wait for the last."""
        while places:
            left = [place for place in places if not self.do(place)]
            assert len(left) < len(places), [self.run.schedule[place] for place in left]
            places = left

    def do(self, place: int) -> bool:
        """Do a step; False when it cannot be done yet."""
        step = self.run.schedule[place]
        assert self.state.at[step.strand] == step.index, "the steps of a strand keep their order"
        while self.state.at[step.strand] == step.index:
            made = self.system.step(self.state, step.strand)
            if made is None:
                return False
            self.state, told = made
            self.phases[place] = told.phase
        flight = Flight(step.strand, step.index)
        if flight in self.state.flights:
            self.state, told = self.system.complete(self.state, flight)
            self.phases[place] = told.phase
        return True


ACTIONS = st.one_of(
    st.sampled_from([FULL, EMPTY]).map(lambda barrier: [Arrive(0, barrier, 1)]),
    st.builds(
        lambda barrier, parity: [Wait(0, barrier, parity)], st.sampled_from([FULL, EMPTY]), st.integers(0, 1)
    ),
    st.just(expected_load()),
    st.just([meeting(2)]),
    st.sampled_from([[Registers(0, 40, False)], [Registers(0, 120, True)]]),
    st.just([Transfer(0, (), "bulk"), Commit(0, "bulk"), WaitGroup(0, "bulk", 0)]),
    st.just([Transfer(0, (), "wgmma"), Commit(0, "wgmma"), WaitGroup(0, "wgmma", 0)]),
)
"""No mbarrier is initialised again while others use it: moments do not keep a wait apart from that in every run."""
STRANDS = st.lists(
    st.lists(ACTIONS, max_size=7).map(lambda parts: [action for part in parts for action in part]),
    min_size=2,
    max_size=4,
)


@settings(max_examples=400, deadline=None)
@given(STRANDS, st.integers(1, 2), st.integers(1, 2))
def test_sorted_by_moments_any_run_is_a_run(strands: list[list[Action]], full: int, empty: int) -> None:
    """Also where nothing orders arrivals and waits, and where the run ends in a deadlock."""
    made = protocol({FULL: full, EMPTY: empty}, *strands, registers=80)
    run = timed_all(made)
    try:
        in_order(run)
    except WrongError:
        assume(False)  # a flaw of another kind, which the state machine does not go past
    replayed = Replayed(run)
    for moment in sorted(set(run.moments)):
        replayed.do_together([place for place in run.order if run.moments[place] == moment])


def in_order(run: TimedRun) -> None:
    """Do the steps as they are in the schedule; who meets leaves with the first of them."""
    replayed = Replayed(run)
    meets: dict[object, list[int]] = {}
    for place, step in enumerate(run.schedule):
        action = run.action(step)
        key = (action.name, step.phase) if isinstance(action, Rendezvous) else place
        meets.setdefault(key, []).append(place)
    left: set[int] = set()
    for places in meets.values():
        if not left.issuperset(places):
            replayed.do_together(places)
            left.update(places)


@pytest.mark.parametrize("name", GOOD)
def test_sorted_by_moments_a_run_is_a_run(name: str) -> None:
    run = timed_sample(name)
    replayed = Replayed(run)
    for moment in sorted(set(run.moments)):
        replayed.do_together([place for place in run.order if run.moments[place] == moment])
    assert replayed.system.is_done(replayed.state)
    for place, phase in replayed.phases.items():
        told = run.schedule[place].phase
        if told is not None and phase is not None:
            assert phase == told, run.schedule[place]


@pytest.mark.parametrize("name", GOOD)
def test_steps_of_a_strand_follow_each_other(name: str) -> None:
    run = timed_sample(name)
    last: dict[int, int] = {}
    for step, moment in zip(run.schedule, run.moments, strict=True):
        assert moment > last.get(step.strand, 0)
        last[step.strand] = moment


@pytest.mark.parametrize(
    "name", ["ring/three_stages", "wgmma/released_after_the_wait", "cluster/multicast_pair"]
)
def test_roles_overlap(name: str) -> None:
    """What the schedule does one after the other stands side by side."""
    run = timed_sample(name)
    assert max(run.moments) < len(run.schedule) * 0.7


def test_who_meets_leaves_at_one_moment() -> None:
    run = timed_sample("handover/three_roles_meet")
    left: dict[object, set[int]] = {}
    for step, moment in zip(run.schedule, run.moments, strict=True):
        action = run.action(step)
        if isinstance(action, Rendezvous) and action.arrives and action.waits:
            left.setdefault((action.name, step.phase), set()).add(moment)
    assert left
    assert all(len(found) == 1 for found in left.values())


def test_waits_come_after_what_completes_their_phase() -> None:
    run = timed_sample("ring/three_stages")
    for place, step in enumerate(run.schedule):
        for barrier, phase in run.phases[place].items():
            if type(run.action(step)).__name__ == "Wait" and phase >= 0:
                parts = [
                    run.moments[other]
                    for other, each in enumerate(run.schedule)
                    if barrier in mbarriers_of(run.action(each))
                    and type(run.action(each)).__name__ in ("Arrive", "Transfer")
                    and run.phases[other][barrier] == phase
                ]
                assert max(parts) < run.moments[place]


def test_what_does_not_count_takes_no_time() -> None:
    ring = sample("ring/three_stages").protocol
    schedule = simulate(ring).steps
    assert set(timed(ring, schedule, lambda step: False).moments) == {0}
