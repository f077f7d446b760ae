"""Every schedule of a small protocol, by explicit search: any strand may move, any copy may complete, any time.

This knows nothing of happens-before. It interprets mbarriers as the PTX ISA describes them: a phase completes when
no arrival is pending and the byte count is zero; a parity wait passes when the current phase has the other parity.
"""

from __future__ import annotations

from dataclasses import dataclass

from ptxcheck.protocols.actions import Action, Arrive, Barrier, Expect, Transfer, Wait


@dataclass(frozen=True, slots=True)
class State:
    """One state: where each strand is, each barrier as (phase, pending, bytes), open copies, what was seen."""

    at: tuple[int, ...]
    barriers: tuple[tuple[int, int, int], ...]
    open_copies: tuple[tuple[int, int, tuple[int, int]], ...]
    """Barrier, bytes, and (strand, position) of the issue."""
    seen: tuple[tuple[int, int, int], ...]
    """Sorted (strand, position, phase) of every wait, arrival and completed copy so far."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether all schedules end and behave alike, and why not."""

    good: bool
    reason: str = ""


def explore(
    strands: tuple[tuple[Action, ...], ...], counts: tuple[int, ...], limit: int = 200_000
) -> Answer | None:
    """Search all schedules; None when there are more states than the limit."""
    start = State((0,) * len(strands), tuple((0, count, 0) for count in counts), (), ())
    known = {start}
    work = [start]
    outcome: tuple[tuple[int, int, int], ...] | None = None
    while work:
        state = work.pop()
        if len(known) > limit:
            return None
        if any(pending < 0 for _, pending, _ in state.barriers):
            return Answer(False, "more arrivals than expected")
        following = list(_moves(state, strands, counts))
        if not following:
            if any(at < len(actions) for at, actions in zip(state.at, strands, strict=True)):
                return Answer(False, "deadlock")
            if outcome is not None and outcome != state.seen:
                return Answer(False, "schedules differ")
            outcome = state.seen
        for each in following:
            if each not in known:
                known.add(each)
                work.append(each)
    return Answer(True)


def _moves(state: State, strands: tuple[tuple[Action, ...], ...], counts: tuple[int, ...]) -> list[State]:
    found = []
    for strand, actions in enumerate(strands):
        if state.at[strand] < len(actions):
            moved = _act(state, strand, actions[state.at[strand]], counts)
            if moved is not None:
                found.append(moved)
    for index, (barrier, amount, issue) in enumerate(state.open_copies):
        rest = state.open_copies[:index] + state.open_copies[index + 1 :]
        phase, pending, tx = state.barriers[barrier]
        updated = _with(state, barrier, (phase, pending, tx - amount), counts)
        seen = tuple(sorted((*state.seen, (issue[0], issue[1], phase))))
        found.append(State(state.at, updated, rest, seen))
    return found


def _act(state: State, strand: int, action: Action, counts: tuple[int, ...]) -> State | None:
    position = state.at[strand]
    at = tuple(p + (s == strand) for s, p in enumerate(state.at))
    barriers, copies, seen = state.barriers, state.open_copies, state.seen
    match action:
        case Wait(barrier=Barrier(offset=index), parity=parity):
            phase, _, _ = barriers[index]
            if phase & 1 == parity:
                return None
            seen = tuple(sorted((*seen, (strand, position, phase - 1))))
        case Arrive(barrier=Barrier(offset=index), count=count, expect=expect):
            phase, pending, tx = barriers[index]
            assert isinstance(expect, int)
            barriers = _with(state, index, (phase, pending - count, tx + expect), counts)
            seen = tuple(sorted((*seen, (strand, position, phase))))
        case Expect(barrier=Barrier(offset=index), amount=amount):
            phase, pending, tx = barriers[index]
            assert isinstance(amount, int)
            barriers = _with(state, index, (phase, pending, tx + amount), counts)
            seen = tuple(sorted((*seen, (strand, position, phase))))
        case Transfer(completes=((Barrier(offset=index), amount),)):
            assert isinstance(amount, int)
            copies = tuple(sorted((*copies, (index, amount, (strand, position)))))
        case _:
            raise AssertionError(action)
    return State(at, barriers, copies, seen)


def _with(
    state: State, index: int, barrier: tuple[int, int, int], counts: tuple[int, ...]
) -> tuple[tuple[int, int, int], ...]:
    phase, pending, tx = barrier
    if pending == 0 and tx == 0:
        barrier = (phase + 1, counts[index], 0)
    return (*state.barriers[:index], barrier, *state.barriers[index + 1 :])
