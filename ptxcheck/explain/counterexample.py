"""Counterexamples for people: who does what to which barrier, in which order, and what is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from ..finding import Counterexample, Explained, Role
from ..finding import Step as Shown
from ..launch import BOUND_NAMES, BlockOrigin
from ..protocols.model.actions import (
    Action,
    Arrive,
    AsyncArrive,
    Barrier,
    Rendezvous,
    Strand,
    Transfer,
)
from ..protocols.model.outcome import Flaw, Problem, Step
from ..protocols.model.sync_objects import ClusterBarrier, NamedBarrier, RegisterBudget
from ..protocols.symex.values.symbol import show_atom
from ..view import KernelView
from .barrier_history import Held, held_after
from .barrier_names import (
    BarrierNames,
    Place,
    barrier_names,
    barriers_of,
    is_about,
)
from .causes import explained
from .first_round import first_round_hint
from .roles import RoleOf, alone, roles_of
from .violations import Cause, Violation, steps_of, stuck_at
from .wording import wording

_ADDRESSES = re.compile(r" \(shared memory 0x[^)]*\)")
"""Numbers that the name of the place says better."""
_STEPS = 6
"""Steps that are shown of a role."""
_ROLES = 4


@dataclass(frozen=True)
class Story:
    """One violation, told."""

    view: KernelView
    violation: Violation

    @property
    def _problem(self) -> Problem:
        return self.violation.problem

    @property
    def _strands(self) -> tuple[Strand, ...]:
        return self.violation.run.protocol.strands

    @cached_property
    def _schedule(self) -> tuple[Step, ...]:
        return steps_of(self.violation.run, self._problem)

    @cached_property
    def _names(self) -> BarrierNames:
        return barrier_names(self.view.function, self.view.module, self.violation.run.protocol)

    @cached_property
    def _roles(self) -> tuple[RoleOf, ...]:
        return roles_of(self.violation.run.protocol)

    @cached_property
    def _orders(self) -> dict[tuple[int, int], int]:
        """The order, from 1, of each action that was done."""
        steps = enumerate(self._schedule, 1)
        return {(step.strand, step.index): order for order, step in steps if not step.completes}

    @cached_property
    def _phases(self) -> dict[tuple[int, int], int | None]:
        return {(s.strand, s.index): s.phase for s in self._schedule if s.phase is not None}

    @cached_property
    def _stuck(self) -> dict[int, int]:
        """Index of the action that each strand cannot do, when none can go on."""
        return stuck_at(self.violation)

    # -- texts

    def message(self) -> str:
        """Return the flaw in one sentence, with the launch where only the code itself suggests it."""
        return self._names.say(self._flaw()) + _suggested_launch(self.violation, self.view)

    def _flaw(self) -> str:
        problem = self._problem
        name, who = self._names.of(problem.barrier), self._role_of(problem.strand).name
        if problem.flaw is not Flaw.DEADLOCK:
            return f"{name}: {_ADDRESSES.sub('', problem.detail)} [{who}]"
        if isinstance(problem.barrier, Barrier):
            missing = (problem.detail.partition(": ")[2] or problem.detail).partition("; ")[0]
            return f"phase {problem.phase} of {name} never completes: {missing}; {who} waits for it"
        return f"{name} never completes: {problem.detail.partition('; ')[0]}; {who} waits for it"

    def explained(self) -> Explained:
        """Return at which points another mistake would explain it."""
        return explained(self.violation)

    def related(self) -> Iterator[tuple[int, str]]:
        """Yield other instructions that have a part in it."""
        for strand, point in self._problem.related:
            yield point, f"{self._role_of(strand).name} {self._doing(strand, point)}"

    def _doing(self, strand: int, point: int) -> str:
        """Return what a strand does at an instruction: what it waits for in vain, or what it did there first."""
        actions = self._strands[strand].actions
        stuck = self._stuck.get(strand)
        if stuck is not None and actions[stuck].point == point:
            return f"{wording(actions[stuck], None, self._names)} for ever"
        at = next((index for index, action in enumerate(actions) if action.point == point), None)
        if at is None:
            return "does this"
        return wording(actions[at], self._phases.get((strand, at)), self._names) or "does this"

    def counterexample(self) -> Counterexample[int]:
        """Return the run, by role."""
        last = self._last_order()
        steps = self._schedule[: last - 1]
        held = held_after(self.violation.run.protocol, steps)
        texts = (self._state(place, held, steps) for place in self._concerned)
        state = tuple(self._names.say(text) for text in texts if text)
        roles = tuple(self._role(role, strand, last) for role, strand in self._cast())
        hint = first_round_hint(self._strands, self._stuck, held, self._names, self._role_of)
        return Counterexample(
            _launch(self.violation),
            self._inputs(),
            tuple(role for role in roles if role.steps),
            last,
            state,
            self._names.say(self._needed() + hint),
        )

    def _inputs(self) -> tuple[str, ...]:
        texts = (f"{show_atom(name)} is {number}" for name, number in self.violation.run.inputs)
        if self.violation.shape.ctas == 1:
            texts = (text.replace("clusterid", "ctaid") for text in texts)
        return tuple(map(self._names.say, texts))

    # -- what matters

    def _last_order(self) -> int:
        """Return the order of the bad step: the one that has the flaw, or that never comes."""
        if self._stuck:
            return len(self._schedule) + 1
        problem = self._problem
        fitting = [
            (order, step)
            for order, step in enumerate(self._schedule, 1)
            if step.strand == problem.strand and self._action(step).point == problem.point
        ]
        exact = [
            order
            for order, step in fitting
            if is_about(self._action(step), problem.barrier) and step.phase in (problem.phase, None)
        ]
        return (exact or [order for order, _ in fitting] or [len(self._schedule)])[0]

    def _action(self, step: Step) -> Action:
        return self._strands[step.strand].actions[step.index]

    @cached_property
    def _concerned(self) -> tuple[Place, ...]:
        """What the problem is about, and the barriers that others are blocked at."""
        found: dict[Place, None] = {}
        if self._problem.barrier is not None:
            found[self._problem.barrier] = None
        for strand, index in self._stuck.items():
            for barrier in barriers_of(self._strands[strand].actions[index]):
                found[barrier] = None
        return tuple(found)[:_ROLES]

    def _cast(self) -> list[tuple[RoleOf, int]]:
        """Return the roles that have a part in it, each with the strand that stands for it, the guilty one first."""
        first = self._problem.strand
        order = [first, *self._stuck, *(strand for strand, _ in self._problem.related)]
        order += range(len(self._strands))
        cast = {self._role_of(first): first}
        others = [strand for strand, _ in self._problem.related if strand != first]
        if others and self._role_of(others[0]) == self._role_of(first):
            protocol = self.violation.run.protocol
            cast = {alone(protocol, strand): strand for strand in (first, others[0])}
        for strand in order[1:]:
            same = any(self._role_of(strand) == self._role_of(known) for known in cast.values())
            if not same and (strand in self._stuck or self._touches(strand)):
                cast[self._role_of(strand)] = strand
        return list(cast.items())[:_ROLES]

    def _touches(self, strand: int) -> bool:
        return any(self._is_concerned(action) for action in self._strands[strand].actions)

    def _is_concerned(self, action: Action) -> bool:
        return any(is_about(action, place) for place in self._concerned)

    def _role_of(self, strand: int) -> RoleOf:
        return next(role for role in self._roles if strand in role.strands)

    # -- one role

    def _role(self, role: RoleOf, strand: int, last: int) -> Role[int]:
        steps = list(self._steps(strand, last))
        stuck = self._stuck.get(strand)
        if stuck is not None:
            action = self._strands[strand].actions[stuck]
            text = f"{wording(action, None, self._names)}{self._round(strand, stuck)}: for ever"
            steps.append(Shown(text, action.point, last))
        return Role(role.name, tuple(steps[-_STEPS:]), max(0, len(steps) - _STEPS))

    def _steps(self, strand: int, last: int) -> Iterator[Shown[int]]:
        for index, action in enumerate(self._strands[strand].actions):
            order = self._orders.get((strand, index))
            if order is None or (
                order > last and self._stuck == {} and not self._completes_it(strand, index)
            ):
                continue
            if self._is_concerned(action):
                text = wording(action, self._phases.get((strand, index)), self._names)
                yield Shown(f"{text}{self._round(strand, index)}", action.point, order)

    def _completes_it(self, strand: int, index: int) -> bool:
        """Tell whether a later step takes part in the phase that is missed."""
        return (
            self._problem.flaw is Flaw.MISSED_PHASE
            and self._phases.get((strand, index)) == self._problem.phase + 1
            and isinstance(self._strands[strand].actions[index], Arrive | AsyncArrive)
        )

    def _round(self, strand: int, index: int) -> str:
        """Return how often a strand has come to an instruction, when it comes there again."""
        actions = self._strands[strand].actions
        times = [i for i, action in enumerate(actions) if action.point == actions[index].point]
        rounds = sorted({self._event(strand, i) for i in times})
        return f" (iteration {rounds.index(self._event(strand, index))})" if len(rounds) > 1 else ""

    def _event(self, strand: int, index: int) -> int:
        events = self._strands[strand].events
        return events[index] if events else index

    # -- state and remedy

    def _state(self, place: Place, held: Mapping[Barrier, Held], steps: Sequence[Step]) -> str:
        match place:
            case Barrier():
                known = held.get(place)
                return f"{self._names.of(place)}: {'not initialised' if known is None else known}"
            case NamedBarrier() | ClusterBarrier():
                return self._meeting(place, steps)
            case _:
                return ""

    def _meeting(self, name: Place, steps: Sequence[Step]) -> str:
        """Return how many threads have come to a counted barrier since it last completed."""
        arrived, needed = 0, 0
        for step in steps:
            action = self._action(step)
            if isinstance(action, Rendezvous) and action.name == name and action.arrives:
                arrived, needed = arrived + action.threads, action.needed
        for strand, index in self._stuck.items():
            action = self._strands[strand].actions[index]
            if isinstance(action, Rendezvous) and action.name == name and action.arrives:
                arrived, needed = arrived + action.threads, action.needed
        if not needed:
            return f"{self._names.of(name)}: no thread has come to it"
        return f"{self._names.of(name)}: {arrived % needed} of {needed} threads have arrived"

    def _needed(self) -> str:
        if self._problem.flaw is not Flaw.DEADLOCK:
            return _REMEDY.get(self._problem.flaw, "")
        name = self._names.of(self._problem.barrier)
        if not isinstance(self._problem.barrier, Barrier):
            return self._needed_threads(name)
        if self.violation.cause is Cause.BYTES:
            return f"the bytes that are expected on {name} must be those that copies onto it bring"
        helpers = list(dict.fromkeys(self._helpers()))
        if helpers:
            return "; ".join(helpers[:2])
        ended = ", ".join(dict.fromkeys(self._ended()))
        if ended:
            return f"one more arrival at {name}; {ended} arrived there before and ended"
        return f"some thread must still arrive at {name}; none does after these steps"

    def _needed_threads(self, name: str) -> str:
        """Return what a counted barrier or a pool of registers lacks."""
        match self._problem.barrier:
            case None | RegisterBudget():
                return ""
            case NamedBarrier() | ClusterBarrier():
                helpers = list(dict.fromkeys(self._helpers()))
                who = ", ".join(dict.fromkeys(self._ended()))
                ended = f"; {who} came there before and ended" if who else ""
                return "; ".join(helpers[:2]) or f"as many threads as are counted must come to {name}{ended}"
            case _:
                return f"all lanes that {name} is for must come to it together"

    def _ended(self) -> Iterator[str]:
        """Yield who has arrived at the barrier before and does nothing more."""
        for index, strand in enumerate(self._strands):
            if index not in self._stuck and any(self._brings(action) for action in strand.actions):
                yield self._role_of(index).name

    def _helpers(self) -> Iterator[str]:
        """Yield who would arrive at the barrier, and what keeps them from it."""
        for strand, index in self._stuck.items():
            later = self._strands[strand].actions[index + 1 :]
            blocked = next(iter(barriers_of(self._strands[strand].actions[index])), None)
            waits_too = blocked == self._problem.barrier  # it has come there itself
            if strand != self._problem.strand and not waits_too and any(map(self._brings, later)):
                who = self._role_of(strand).name
                yield (
                    f"{who} would arrive at {self._names.of(self._problem.barrier)}, but first waits on "
                    f"{self._names.of(blocked)}"
                )

    def _brings(self, action: Action) -> bool:
        adds = isinstance(action, Arrive | AsyncArrive | Transfer | Rendezvous)
        return adds and is_about(action, self._problem.barrier)


_REMEDY = {
    Flaw.EARLY_ARRIVAL: "this arrival must come after a wait for the phase before it, so that it cannot count there",
    Flaw.EARLY_TRANSFER: "this copy must be started after a wait for the phase before it",
    Flaw.LATE_EXPECT: "the bytes must be expected before, or with, the last arrival of the phase",
    Flaw.MISSED_PHASE: "whoever completes the next phase must first know that this wait has passed, for example "
    "through an arrival that comes after it",
    Flaw.LATE_OBSERVER: "this warp must not wait, or whoever completes the next phase must first know that it has",
    Flaw.EARLY_WAIT: "this wait must come after a wait for the phase before it: with two phases open, a parity "
    "means either",
    Flaw.COUNT_MISMATCH: "all threads of one generation must name the same number of threads",
    Flaw.TX_MISMATCH: "the bytes that complete in a phase must be those that are expected in it",
    Flaw.TX_RANGE: "a phase may expect up to 1048575 bytes",
    Flaw.OVER_ARRIVAL: "the initialised count must be the number of arrivals in each phase",
    Flaw.UNINITIALISED: "the barrier must be initialised before, by a thread that this one has synchronised with",
    Flaw.MISALIGNED_COPY: "each copy must start at a multiple of 16 bytes, in every round",
    Flaw.SIZE_OF_COPY: "each copy must move a multiple of 16 bytes",
    Flaw.FOREIGN_SIGNAL: "the mbarrier must be in the shared memory that the copy writes",
    Flaw.COPY_TO_OWN_CTA: "the copy must go to another CTA of the cluster",
    Flaw.ASKED_AFTER_REFUSAL: "nobody may ask again once an answer says no, or may say so",
    Flaw.DOUBLE_INIT: "a barrier is initialised once, by one thread, or invalidated in between",
    Flaw.READ_TOO_EARLY: "this read must come after a wait, or a barrier, that the write comes before",
    Flaw.OVERWRITE: "this write must come after something that every reader does after its read",
    Flaw.AWAITED_BY_ANOTHER_WARP: "this write must come after something that every warp of the warpgroup does "
    "after its own wait",
    Flaw.STORED_BY_ANOTHER_WARP: "this read must come after a barrier that the writing warp comes to after its "
    "proxy fence",
    Flaw.UNRELEASED_STORE: "the write must be released behind it, and this access come behind an acquire of that",
    Flaw.NARROW_ACQUIRE: "the wait must acquire at the scope of the cluster",
    Flaw.WRITES_COLLIDE: "one of the writes must come after something that is done after the other",
    Flaw.MISSING_PROXY_FENCE: "the writing thread must execute a proxy fence after the write, before it synchronises",
    Flaw.FENCED_BEHIND_BARRIER: "the writing thread must execute its proxy fence before the barrier, not behind it",
    Flaw.FENCED_ON_THE_WAY: "the writing thread must execute the proxy fence itself, before it synchronises",
    Flaw.UNFENCED_COPY: "each copying thread must execute a proxy fence when its copies are over, before it arrives",
    Flaw.EXIT_WITH_REMOTE_ACCESS: "some thread of that CTA must know that the access is over before it ends",
    Flaw.UNORDERED_INIT: "this use must come after a barrier that the initialising thread reaches after the "
    "initialisation",
}
"""What would have had to happen."""


def _launch(violation: Violation) -> str:
    """Return the launch of a run, and how often its loops go round."""
    block, cluster = ("×".join(map(str, dim)) for dim in (violation.shape.block, violation.shape.cluster))
    trips = violation.run.trips
    rounds = "once" if trips == 1 else f"{trips} times"
    return f"block {block}, cluster {cluster}; loops whose trip count is open go round {rounds}"


def _suggested_launch(violation: Violation, view: KernelView) -> str:
    """Return for which launch it goes wrong, where no launch is stated."""
    threads = prod(violation.shape.block)
    match violation.block_origin:
        case BlockOrigin.BOUND:
            bound = BOUND_NAMES[view.module.source.is_compiled]
            return f"; if launched with {threads} threads (from {bound})"
        case BlockOrigin.SUGGESTED:
            blocks = " or ".join(map(str, violation.suggested_blocks))
            return f"; if launched with {blocks} threads (nothing states the block, the code suggests this)"
        case _:
            return ""
