"""Groups of asynchronous work of a strand, as `order.pipelines` has them.

Property: behind a wait for groups a strand knows no more than that the work of all groups but the newest `pending` is
complete, and what was done before these were closed.

Argument: groups complete in turn, so that what is known when one is complete is that of all before it. No wait asks
for groups older than the most that a wait leaves open, counted from the group that the slowest warp of the team has
closed: those are one with the oldest that is kept.

Not covered: waits for groups of other pipelines than those of `model.lowering`.
"""

from __future__ import annotations

from .operations import CommitStep, WaitGroupStep
from .rows import AWAITED_BY_TEAM, Bits, Knowledge
from .state import Groups, State

BLOCKED, DONE = 0, 1
_ALL, _READ, _OTHER = "all", "read", "other"
_KINDS = (_ALL, _READ, _OTHER)


def issue(state: State, pipeline: int, work: Bits) -> None:
    """Add work that touches memory; it has been noted."""
    state.add(("open", pipeline), work * state.setup.rows.complete)


def push(state: State, pipeline: int, work: Bits) -> None:
    """Add an operation, as a group of its own where waits tell them apart."""
    if not state.setup.pipelines[pipeline].each_apart:
        issue(state, pipeline, work)
        return
    groups = state.groups.setdefault(pipeline, Groups())
    _make_room(state, pipeline, groups)
    state.clocks["group", pipeline, 0, _ALL] = work * state.setup.rows.complete
    merge_old(state, pipeline)


def work_but(state: State, pipeline: int, pending: int) -> Knowledge:
    """Return what is known when all operations but the newest `pending` are complete."""
    groups = state.groups.get(pipeline)
    known = 0 if pending else state.clocks.get(("open", pipeline), 0)
    for age in range(pending, groups.kept if groups is not None else 0):
        known |= state.clocks.get(("group", pipeline, age, _ALL), 0)
    return known


def done_so_far(state: State, pipeline: int) -> Knowledge:
    """Return what is known when all that was issued so far is complete."""
    known = state.clocks.get(("open", pipeline), 0)
    groups = state.groups.get(pipeline)
    for age in range(groups.kept if groups is not None else 0):
        known |= state.clocks.get(("group", pipeline, age, _ALL), 0)
    return known


def commit(state: State, strand: int, step: CommitStep) -> int:
    pipeline, clocks, rows = step.pipeline, state.clocks, state.setup.rows
    groups = state.groups.setdefault(pipeline, Groups())
    _make_room(state, pipeline, groups)
    work = clocks.pop(("open", pipeline), 0)
    own, reads = state.setup.pipelines[pipeline], state.setup.reads_of[pipeline]
    stamp = clocks[strand] & rows.all
    clocks["group", pipeline, 0, _ALL] = work | stamp
    if own.awaits_reads:
        clocks["group", pipeline, 0, _READ] = work & reads * rows.complete | stamp
    if own.team:
        told = (work & reads) << rows.at[AWAITED_BY_TEAM]
        clocks["group", pipeline, 0, _OTHER] = work & ~(reads * rows.complete) | told | stamp
    for each in own.team or (pipeline,):
        merge_old(state, each)
    return DONE


def _make_room(state: State, pipeline: int, groups: Groups) -> None:
    """Let all groups be one older."""
    clocks = state.clocks
    for age in range(groups.kept, 0, -1):
        for kind in _KINDS:
            known = clocks.pop(("group", pipeline, age - 1, kind), 0)
            if known:
                clocks["group", pipeline, age, kind] = known
    groups.closed += 1
    groups.kept += 1


def merge_old(state: State, pipeline: int) -> None:
    """Make those groups one that no wait tells apart."""
    known = state.groups.get(pipeline)
    if known is None:
        return
    own = state.setup.pipelines[pipeline]
    ahead = 0
    if own.team:
        closed = [state.groups[each].closed if each in state.groups else 0 for each in own.team]
        ahead = known.closed - min(closed)
    most = ahead + own.most_pending + 1
    while known.kept > most:
        known.kept -= 1
        for kind in _KINDS:
            state.add(
                ("group", pipeline, known.kept - 1, kind),
                state.clocks.pop(("group", pipeline, known.kept, kind), 0),
            )


def wait_group(state: State, strand: int, step: WaitGroupStep) -> int:
    own = state.groups.get(step.pipeline)
    closed = own.closed if own is not None else 0
    ages: list[tuple[int, int, str]] = []
    for member, is_own in step.members:
        groups = state.groups.get(member)
        theirs = groups.closed if groups is not None else 0
        is_team = bool(state.setup.pipelines[step.pipeline].team)
        if is_team and theirs < closed:
            return BLOCKED
        kind = _READ if step.read else _ALL if is_own else _OTHER
        first = (theirs - closed if is_team else 0) + step.pending
        ages += [(member, age, kind) for age in range(first, groups.kept if groups is not None else 0)]
    known = state.clocks[strand]
    for member, age, kind in ages:
        known |= state.clocks.get(("group", member, age, kind), 0)
    state.clocks[strand] = known
    return DONE
