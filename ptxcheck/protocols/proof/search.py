"""Where the order argument fails: a search for a short schedule that goes wrong.

Property: a schedule that is found deadlocks, or lets an action count in another phase than the simulated one; when all
schedules were seen and none does, no schedule goes wrong in the barriers in doubt.

Argument: only actions on barriers whose order is in doubt are interleaved. Everything else moves first, as soon as it
can: up to the first action that counts in another phase than in the schedule that was simulated, all that is ordered
by the barriers that are not in doubt happens in that order in every schedule, so these actions commute with all
others.

Not covered: schedules beyond the budget of states. Then some steps are held back, one at a time, which finds errors
and proves nothing. Symbolic bytes get numbers that meet the equations; races are left to `memory`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from ..model.actions import (
    Access,
    Action,
    AsyncArrive,
    Commit,
    Fence,
    Init,
    Protocol,
    Rendezvous,
    SyncObject,
    TensorAccess,
    TensorWait,
    Transfer,
    Wait,
)
from ..model.amounts import amounts_of, with_amounts
from ..model.equations import BOX, system_of
from ..model.object_uses import sync_objects_of
from ..model.outcome import (
    Equation,
    Flaw,
    Location,
    Outcome,
    Problem,
    Step,
)
from ..symex.values.symbol import Form
from .explicit_state import Flight, State, Wrong, WrongError
from .lockstep_lanes import without_late_lanes
from .simulate import simulate
from .transition_system import TransitionSystem

_MOST_LATE = 4
"""Steps that are held back, each in a schedule of its own, where a search ends before all schedules were seen."""
_FREE_BYTES = 16
"""Bytes that a transfer has in the search when nothing fixes them."""
MEMORY_FLAWS = frozenset(
    {
        Flaw.READ_TOO_EARLY, Flaw.OVERWRITE, Flaw.WRITES_COLLIDE, Flaw.MISSING_PROXY_FENCE, Flaw.UNFENCED_COPY,
        Flaw.FENCED_BEHIND_BARRIER, Flaw.FENCED_ON_THE_WAY, Flaw.UNRELEASED_STORE, Flaw.NARROW_ACQUIRE,
        Flaw.ASKED_AFTER_REFUSAL, Flaw.EXIT_WITH_REMOTE_ACCESS, Flaw.BARRIER_OVERWRITTEN, Flaw.OUTSIDE_ALLOCATION,
        Flaw.FREED_AMISS, Flaw.MISALIGNED_COPY, Flaw.SIZE_OF_COPY, Flaw.FOREIGN_SIGNAL, Flaw.COPY_TO_OWN_CTA,
    }
)  # fmt: skip
"""Flaws that do not keep a schedule from running to its end."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search ended with: a schedule that goes wrong, or whether all schedules were seen."""

    wrong: Wrong | None
    schedule: tuple[Step, ...]
    exhausted: bool


def examine(
    protocol: Protocol,
    budget: int = 20_000,
    is_late: Callable[[], bool] = lambda: False,
    *,
    searches: bool = True,
) -> Outcome:
    """Simulate a protocol, and search for a schedule that goes wrong where the order argument fails.

    A problem that remains undemonstrated was not found in `budget` states, or before it was late, or not sought. When
    all schedules were seen and none goes wrong, the order argument was too weak and its problems are gone.
    """
    outcome = without_late_lanes(protocol, simulate(protocol, is_late=is_late), is_late)
    doubtful = [problem for problem in outcome.problems if not problem.demonstrated]
    shown = [problem for problem in outcome.problems if problem.demonstrated]
    ends = all(problem.flaw in MEMORY_FLAWS for problem in shown)
    if not doubtful or not searches:
        return outcome
    numbers = concrete(protocol, outcome.equations)
    if numbers is None:
        return outcome
    in_doubt = frozenset(problem.barrier for problem in doubtful if problem.barrier is not None)
    found = search(numbers, outcome.steps, in_doubt, budget, is_late, only_phases=not ends)
    if ends and found.wrong is None and not found.exhausted:
        found = _with_late_steps(numbers, outcome.steps, doubtful, is_late) or found
    if found.wrong is None:
        return replace(outcome, problems=tuple(shown)) if found.exhausted and ends else outcome
    return replace(outcome, problems=(*shown, *_demonstrated(doubtful, found.wrong, found.schedule)))


def _demonstrated(doubtful: Sequence[Problem], wrong: Wrong, schedule: tuple[Step, ...]) -> Iterator[Problem]:
    """Yield what the schedule shows, and the problems that it demonstrates: those of the same barrier."""
    yield Problem(
        wrong.flaw, wrong.strand, wrong.point, wrong.name, wrong.phase, wrong.detail, (), True, schedule,
        elsewhere=True,
    )  # fmt: skip
    for problem in doubtful:
        if (problem.flaw, problem.point, problem.barrier) == (wrong.flaw, wrong.point, wrong.name):
            continue
        if problem.barrier == wrong.name:
            yield replace(problem, demonstrated=True, schedule=schedule)
        else:
            yield problem


def search(
    protocol: Protocol,
    steps: Sequence[Step],
    in_doubt: frozenset[Location],
    budget: int,
    is_late: Callable[[], bool] = lambda: False,
    *,
    only_phases: bool = False,
) -> Found:
    """Look at all schedules of the actions on barriers in doubt, depth first.

    `only_phases`: the schedule at hand does not end, so one that does not end either shows nothing new.
    """
    reference = {(s.strand, s.index): s.phase for s in steps if s.phase is not None}
    transitions = TransitionSystem(protocol, reference)
    start = transitions.start()
    origin: dict[State, tuple[State, Step] | None] = {start: None}
    waiting = [start]
    while waiting:
        if len(origin) > budget or is_late():
            return Found(None, (), exhausted=False)
        state = waiting.pop()
        moves = list(_moves(transitions, state, in_doubt))
        if not moves and not only_phases and not transitions.is_done(state):
            return Found(_stuck(transitions, state), _path(origin, state), exhausted=False)
        for move in moves:
            try:
                made = (
                    transitions.complete(state, move)
                    if isinstance(move, Flight)
                    else transitions.step(state, move)
                )
            except WrongError as error:
                last = _last(state, move, error.wrong)
                return Found(error.wrong, (*_path(origin, state), last), exhausted=False)
            if made is not None and made[0] not in origin:
                origin[made[0]] = (state, made[1])
                waiting.append(made[0])
    return Found(None, (), exhausted=True)


def _with_late_steps(
    protocol: Protocol, steps: Sequence[Step], doubtful: Sequence[Problem], is_late: Callable[[], bool]
) -> Found | None:
    """Look at one schedule for each step that others may go on without: all others do as far as they can."""
    reference = {(s.strand, s.index): s.phase for s in steps if s.phase is not None}
    late = dict.fromkeys(
        (*_late_waits(protocol, steps, doubtful), *_late_arrivals(protocol, steps, doubtful))
    )
    for step in islice(late, _MOST_LATE):
        found = _without(TransitionSystem(protocol, reference), step, is_late)
        if found is not None:
            return found
    return None


def _late_waits(protocol: Protocol, steps: Sequence[Step], doubtful: Sequence[Problem]) -> Iterator[Step]:
    """Yield waits that may miss their phase."""
    missed = {(p.strand, p.point, p.phase) for p in doubtful if p.flaw is Flaw.MISSED_PHASE}
    for step in steps:
        if (step.strand, protocol.strands[step.strand].actions[step.index].point, step.phase) in missed:
            yield step


def _late_arrivals(protocol: Protocol, steps: Sequence[Step], doubtful: Sequence[Problem]) -> Iterator[Step]:
    """Yield arrivals of others at a counted barrier, one for each instruction, that an early one may come before."""
    early = {(p.barrier, p.phase - 1): p for p in doubtful if p.flaw is Flaw.EARLY_ARRIVAL}
    seen: set[tuple[Problem, int]] = set()
    for step in steps:
        action = protocol.strands[step.strand].actions[step.index]
        if not isinstance(action, Rendezvous) or step.phase is None:
            continue
        problem = early.get((action.name, step.phase))
        if problem is not None and step.strand != problem.strand and (problem, action.point) not in seen:
            seen.add((problem, action.point))
            yield step


def _without(transitions: TransitionSystem, held: Step, is_late: Callable[[], bool]) -> Found | None:
    """Let all go on without a step, and with it when nothing else moves; None when that ends well."""
    state, schedule = transitions.start(), list[Step]()
    while not is_late():
        made = None
        for move in _eager_moves(transitions, state, held, schedule[-1].strand if schedule else 0):
            try:
                made = (
                    transitions.complete(state, move)
                    if isinstance(move, Flight)
                    else transitions.step(state, move)
                )
            except WrongError as error:
                return Found(error.wrong, (*schedule, _last(state, move, error.wrong)), exhausted=False)
            if made is not None:
                break
        if made is None:
            is_stuck = not transitions.is_done(state)
            stuck = _stuck(transitions, state, held.strand) if is_stuck else None
            return None if stuck is None else Found(stuck, tuple(schedule), exhausted=False)
        state, step = made
        schedule.append(step)
        if not step.completes:
            state, steps = transitions.past_free(state, step.strand)
            schedule += steps
    return None


def _eager_moves(
    transitions: TransitionSystem, state: State, held: Step, first: int
) -> Iterator[int | Flight]:
    """Yield all moves, those of one strand first, and a step that is held back last."""
    is_held = state.at[held.strand] == held.index
    yield from (flight for flight in state.flights if transitions.may_complete(state, flight))
    for strand in (*range(first, len(state.at)), *range(first)):
        if transitions.next_action(state, strand) is not None and not (is_held and strand == held.strand):
            yield strand
    if is_held:
        yield held.strand


def _last(state: State, move: int | Flight, wrong: Wrong) -> Step:
    if isinstance(move, Flight):
        return Step(move.strand, move.number, wrong.phase, completes=True)
    return Step(move, state.at[move], wrong.phase, completes=False)


def _moves(
    transitions: TransitionSystem, state: State, in_doubt: frozenset[Location]
) -> Iterator[int | Flight]:
    """Yield the moves to try: one that commutes with all others when there is one, else all that are possible."""
    open_moves: list[int | Flight] = []
    for flight in state.flights:
        if not transitions.may_complete(state, flight):
            continue
        if not any(name in in_doubt for name in sync_objects_of(transitions.issued(flight))):
            yield flight
            return
        open_moves.append(flight)
    for strand in range(len(state.at)):
        action = transitions.next_action(state, strand)
        if action is None:
            continue
        names = (*_touched_now(action), *transitions.ended_by(state, strand))
        commutes = not any(name in in_doubt for name in names) or all(
            transitions.is_private(state, strand, name) for name in names
        )
        try:
            possible = transitions.step(state, strand) is not None
        except WrongError:
            possible, commutes = True, False
        if possible and commutes:
            yield strand
            return
        if possible:
            open_moves.append(strand)
    yield from open_moves


def _touched_now(action: Action) -> tuple[SyncObject, ...]:
    """Return the barriers that an action touches at once: an issue touches none."""
    match action:
        case Transfer() | Access() | Fence() | Commit() | Init() | TensorAccess() | TensorWait():
            return ()
        case AsyncArrive():
            return (action.barrier,) if action.increments else ()
        case _:
            return sync_objects_of(action)


def _stuck(transitions: TransitionSystem, state: State, first: int = 0) -> Wrong:
    """Return that a strand is blocked, the first one if it is."""
    for strand in (first, *range(len(state.at))):
        action = transitions.next_action(state, strand)
        if action is None:
            continue
        names = sync_objects_of(action)
        phase = -1
        if isinstance(action, Wait):
            held = transitions.held(state, action.barrier)
            phase = -1 if held is None else held.phase
            text = f"waits for ever in this schedule: phase {phase} does not complete"
        else:
            text = "is blocked for ever in this schedule"
        return Wrong(Flaw.DEADLOCK, strand, action.point, names[0] if names else None, phase, text)
    raise AssertionError("nothing is stuck")


def _path(origin: dict[State, tuple[State, Step] | None], state: State) -> tuple[Step, ...]:
    found: list[Step] = []
    came = origin[state]
    while came is not None:
        found.append(came[1])
        came = origin[came[0]]
    return tuple(reversed(found))


def concrete(protocol: Protocol, equations: Sequence[Equation]) -> Protocol | None:
    """Return the protocol with numbers for symbolic bytes that meet all equations, None when none are found."""
    system = system_of(equations)
    amounts = list(amounts_of(protocol))
    if all(isinstance(amount, int) for amount in amounts):
        return protocol
    atoms = (atom for amount in amounts if isinstance(amount, Form) for atom, _ in amount.terms)
    # What is expected is a sum of boxes: a size of the host that comes first might leave less than nothing for them.
    for atom in sorted(dict.fromkeys(atoms), key=lambda atom: atom[0] != BOX):
        if system.value(Form(((atom, 1),))) is None:
            system.add(Form(((atom, 1),), -_FREE_BYTES))
    if any((system.value(amount) or 0) < 0 for amount in amounts):
        return None
    return with_amounts(protocol, lambda _, amount: system.value(amount) or 0)
