"""Charts of runs: events, bars of asynchronous work, states of barriers; and the map of shared memory."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ptxcheck.explain import charting
from ptxcheck.explain.barrier_names import BarrierNames, barrier_names, readable
from ptxcheck.explain.charting import run_chart
from ptxcheck.explain.counterexample import Story
from ptxcheck.explain.run_chart import Event, EventKind, RunChart
from ptxcheck.explain.shared_map import Buffer, BufferUse, shared_map
from ptxcheck.explain.violations import steps_of, whole_kernel
from ptxcheck.protocols.model.actions import Protocol, Span, Transfer
from ptxcheck.protocols.proof.evidence import Run
from ptxcheck.protocols.proof.simulate import simulate
from tests.protocols.building import FULL, protocol
from tests.protocols.corpus_runs import sample, view_of


def named(name: str) -> tuple[Run, BarrierNames]:
    view, run = view_of(name), sample(name)
    return run, barrier_names(view.function, view.module, run.protocol)


def good(name: str) -> RunChart:
    run, names = named(name)
    return run_chart(run.protocol, simulate(run.protocol).steps, names, view_of(name).cfg.instructions)


def wrong(name: str) -> tuple[RunChart, Story]:
    view = view_of(name)
    whole = view.get(whole_kernel)
    assert whole is not None
    violation = whole.violations[0]
    story = Story(view, violation)
    names = barrier_names(view.function, view.module, violation.run.protocol)
    schedule = steps_of(violation.run, violation.problem)
    bad = story.counterexample().bad
    return run_chart(
        violation.run.protocol, schedule, names, view.cfg.instructions, violation.problem, bad
    ), story


def bad_of(chart: RunChart) -> Event:
    (found,) = [event for event in chart.events if event.is_bad]
    return found


def test_a_hang_ends_with_those_who_are_stuck() -> None:
    chart, story = wrong("ring/three_stages.consumer_stops_early")
    bad = bad_of(chart)
    assert bad.is_stuck
    assert bad.moment == chart.last
    assert bad.text == "waits on empty[0] with parity 1: for ever"
    assert bad.order == story.counterexample().bad
    assert chart.roles[bad.lane].name == "producer (warp 0, lane 0)"


def test_numbers_are_those_of_the_counterexample() -> None:
    chart, story = wrong("ring/three_stages.consumer_stops_early")
    told = {step.order: step.place for role in story.counterexample().roles for step in role.steps}
    drawn = {event.order: event.point for event in chart.events}
    merged = {order for order in told if order not in drawn}
    assert {order: drawn[order] for order in told if order in drawn} == {
        order: place for order, place in told.items() if order in drawn
    }
    assert merged <= {2, 3, 4, 5, 6}, "initialisations in a row are one event"


def test_the_state_at_the_bad_step_is_that_of_the_counterexample() -> None:
    chart, story = wrong("ring/three_stages.consumer_stops_early")
    (text,) = story.counterexample().state
    (lane,) = [lane for lane in chart.barriers if lane.name == "empty[0]"]
    state = lane.states[-1]
    assert text == f"empty[0]: phase {state.phase}, {state.pending} of {state.count} arrivals pending"


def test_a_schedule_that_was_searched_for() -> None:
    """There, who meets at a barrier arrives in one step and passes in another: it counts once."""
    chart, _ = wrong("ring/two_stages.releases_the_other_stage")
    (lane,) = [lane for lane in chart.barriers if lane.name == "barrier 0"]
    assert [state.phase for state in lane.states] == [1]
    assert len({event.moment for event in chart.events if event.kind is EventKind.MEET}) == 1


def test_who_waits_at_a_meeting_for_ever_has_arrived_there() -> None:
    chart, _ = wrong("handover/three_roles_meet.one_role_less")
    state = next(lane for lane in chart.barriers if not lane.is_mbarrier).states[-1]
    stuck = [event for event in chart.events if event.is_stuck]
    assert stuck
    assert 0 < state.pending < state.count


def test_copies_last_until_somebody_knows() -> None:
    chart = good("ring/three_stages")
    assert [lane.name for lane in chart.units] == ["TMA"]
    for work in chart.work:
        event = chart.events[work.event]
        assert event.kind is EventKind.ISSUE
        assert work.end is not None
        waits = [
            each.moment
            for each in chart.events
            if each.kind is EventKind.WAIT and each.barriers == event.barriers and each.phase == event.phase
        ]
        assert work.end == min(waits) > work.start


def test_matrix_work_lasts_until_its_group_is_awaited() -> None:
    chart = good("wgmma/released_after_the_wait")
    assert [lane.name for lane in chart.units] == ["TMA", "tensor core"]
    bars = [work for work in chart.work if work.lane == 1]
    assert bars
    for work in bars:
        (end,) = [
            event for event in chart.events if event.moment == work.end and event.kind is EventKind.GROUP
        ]
        assert "are done" in end.text


def test_work_that_a_later_commit_covers_as_well() -> None:
    chart = good("tcgen05/commits_release_stages")
    bars = [work for work in chart.work if chart.units[work.lane].name == "tensor core"]
    assert all(work.end is not None for work in bars), "the last commit tells the epilogue"


def test_copies_by_threads_are_another_unit() -> None:
    assert [lane.name for lane in good("groups/cp_async_three_stages").units] == ["copies by threads"]
    assert [lane.name for lane in good("persistent/launch_control").units][:1] != []


def test_causes_come_before() -> None:
    chart = good("ring/three_stages")
    caused = [event for event in chart.events if event.causes and event.kind is EventKind.WAIT]
    assert caused
    for event in caused:
        for cause in event.causes:
            assert chart.events[cause].moment < event.moment
            assert set(chart.events[cause].barriers) & set(event.barriers)


def test_a_race_shows_both_accesses() -> None:
    chart, story = wrong("wgmma/operand_written_by_threads.no_proxy_fence")
    bad = bad_of(chart)
    assert bad.point == story.violation.problem.point
    assert any(event.kind is EventKind.ACCESS for event in chart.events)
    assert not any(event.is_stuck for event in chart.events)


def test_long_runs_are_cut_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = good("ring/three_stages")
    monkeypatch.setattr(charting, "MOST_EVENTS", 10)
    chart = good("ring/three_stages")
    assert len(chart.events) == 10
    assert chart.left_out > 0
    assert chart.events == whole.events[:10]


def test_stages_of_shared_memory() -> None:
    run, names = named("tcgen05/commits_release_stages")
    by_name = {buffer.name: buffer for buffer in shared_map(run.protocol, names)}
    tile = by_name["tile"]
    assert tile.uses == (BufferUse.COPIED_IN, BufferUse.MULTIPLIED)
    assert len(tile.starts) == 2
    assert (tile.size, tile.is_exact) == (18432, True)
    assert by_name["full[0-1]"].uses == (BufferUse.BARRIER,)


def test_threads_fill_a_stage_together() -> None:
    run, names = named("groups/cp_async_three_stages")
    (tile,) = shared_map(run.protocol, names)
    assert (tile.starts, tile.size, tile.is_exact) == ((1024, 2048, 3072), 1024, True)


def test_producers_fill_a_stage_each() -> None:
    run, names = named("roles/two_producers_two_consumers")
    tile = next(buffer for buffer in shared_map(run.protocol, names) if buffer.name == "tile")
    assert (tile.starts, tile.size) == ((1152, 1664, 2176, 2688), 512)


def rounds(*pieces: Span) -> Protocol:
    """Return three rounds of copies, a kibibyte on in each round."""
    actions = [
        Transfer(point, ((FULL, 16),), writes=(replace(piece, start=piece.start + 1024 * number),))
        for number in range(3)
        for point, piece in enumerate(pieces)
    ]
    return protocol({FULL: 1}, actions)


NAMES = BarrierNames(((0, "data"),), (), frozenset(), 1)


def buffers_of(made: Protocol) -> list[Buffer]:
    return [buffer for buffer in shared_map(made, NAMES) if buffer.uses != (BufferUse.BARRIER,)]


def test_operands_side_by_side_are_buffers_of_their_own() -> None:
    # one instruction for each operand: the points that `protocol` gives are those of an unrolled loop
    found = buffers_of(looped(rounds(Span(0, 1024, 256), Span(0, 1280, 512)), 2))
    assert [(buffer.starts, buffer.size, buffer.pieces) for buffer in found] == [
        ((1024, 2048, 3072), 256, 1), ((1280, 2304, 3328), 512, 1),
    ]  # fmt: skip


@pytest.mark.parametrize("exact", [True, False])
def test_many_parts_of_a_stage_are_one_buffer(exact: bool) -> None:
    parts = [Span(0, 1024 + 128 * number, 128, exact) for number in range(8)]
    (found,) = buffers_of(looped(rounds(*parts), 8))
    assert (found.starts, found.size, found.is_exact, found.pieces) == ((1024, 2048, 3072), 1024, exact, 8)


def looped(made: Protocol, period: int) -> Protocol:
    """Return a protocol whose copies are those of a loop: every so many are the same instructions again."""
    (strand,) = made.strands
    numbers = iter(range(10_000))
    actions = tuple(
        replace(action, point=next(numbers) % period) if isinstance(action, Transfer) else action
        for action in strand.actions
    )
    return replace(made, strands=(replace(strand, actions=actions),))


def test_stage_of_an_offset() -> None:
    exact = Buffer("b", (1024, 2048, 3072), 512, True, ())
    assert [exact.stage_of(offset) for offset in (1023, 1024, 1535, 1536, 2048, 3072 + 511, 3072 + 512)] == [
        None, 0, 0, None, 1, 2, None,
    ]  # fmt: skip
    open_ended = Buffer("b", (1024, 2048), 16, False, ())
    assert [open_ended.stage_of(offset) for offset in (1024, 2047, 2048, 3071, 3072)] == [0, 0, 1, 1, None]


@pytest.mark.parametrize(
    ("mangled", "name"),
    [
        ("_ZN7cutlass4smemE", "cutlass::smem"),
        ("_ZZ4loadPKcE3bar", "bar"),
        ("_ZN12xE", "_ZN12xE"),
        ("_ZN2ab3cdeIiE4f", "_ZN2ab3cdeIiE4f"),
        ("smem", "smem"),
    ],
)
def test_names_of_variables(mangled: str, name: str) -> None:
    assert readable(mangled) == name
