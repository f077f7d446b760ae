"""Order of what the strands of a kernel do, in a state that can be copied, compared and joined.

Property: if no step of an exploration fails, then in every schedule of the steps that were performed each wait
observes the same phase, each arrival counts in the same, conflicting accesses of shared memory and of tensor memory
are in order, and nothing reaches into a CTA that has ended.

Argument: the semantics are those of `proof.simulate` and of `order`, with landmarks in place of counts (`rows`): what
is asked there of the last event of its kind is asked here of its landmark. States are joined as `state` says.

Not covered: whether equations of bytes contradict each other (`Facts.contradicting`), lanes that act as one strand
among themselves, and rows of `order.axioms` that look at more of a strand than one action, other than late fences.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Any, TypeAlias

from ..model.actions import Action, Wait
from ..model.outcome import Flaw
from ..order.axioms import COPIES_AT_EXIT
from . import launches, mbarriers, meetings, pipelines, registers, tensor_memory
from .joins import control, covered_by, knowledge, weaken
from .operations import (
    AccessStep,
    ArriveStep,
    CommitStep,
    ExpectStep,
    Failure,
    FenceStep,
    InitStep,
    InvalStep,
    LaterStep,
    MeetStep,
    RegistersStep,
    Step,
    TensorFenceStep,
    TensorStep,
    TensorWaitStep,
    TransferStep,
    UnknownStep,
    Unproved,
    WaitGroupStep,
    WaitStep,
)
from .rows import CROSSED, FENCED, INITIALISED, VISIBLE
from .setup import Setup
from .state import Facts, State
from .touches import fence_late, multiply, touch
from .turns import Turn

BLOCKED, DONE = 0, 1
Result: TypeAlias = int | Failure


def _access(state: State, strand: int, step: AccessStep) -> int:
    if step.refused:
        launches.hear(state, strand, step.point)
    if step.collides:
        raise Unproved(f"{Flaw.WRITES_COLLIDE.value}: threads store different numbers", strand, step.point)
    if step.objects:
        mbarriers.touch_objects(state, strand, step.objects, step.point)
    touch(state, strand, step.kinds)
    return DONE


def _transfer(state: State, strand: int, step: TransferStep) -> int:
    if step.asks:
        launches.ask(state, strand, step.asks, step.point)
    if step.multiplies:
        multiply(state, strand, step.point)
    touch(state, strand, step.kinds)
    if step.objects:
        mbarriers.touch_objects(state, strand, step.objects, step.point)
    if step.pipeline >= 0:
        pipelines.issue(state, step.pipeline, step.written_by_pipeline | step.read_by_pipeline)
    if step.by_barrier:
        state.add(("work", step.completes[-1].barrier), step.by_barrier * state.setup.rows.every)
    for each in step.completes:
        mbarriers.complete_bytes(state, strand, each, step.point)
    return DONE


def _fence(state: State, strand: int, step: FenceStep) -> int:
    setup, rows = state.setup, state.setup.rows
    known = state.clocks[strand]
    if step.acquires:
        seen = state.clocks.get(("acquirable", strand), 0)
        known |= seen & (rows.memory if step.wide else rows.narrow)
    if step.proxy and not step.of_others and (not step.to_others or setup.acquires_proxies):
        visible = rows.of(known, VISIBLE)
        fenced = setup.synchronous_of[strand] | setup.copied_by.get(strand, 0)
        known |= visible << rows.at[CROSSED] | (visible & fenced) << rows.at[FENCED]
        if state.late_fences:
            fence_late(state, strand)
    state.clocks[strand] = known
    released = ("released", strand)
    if step.releases:
        if step.wide:
            state.clocks[released] = state.stamp(strand)
        else:
            far = rows.of_cluster
            state.clocks[released] = known & ~far | state.clocks.get(released, 0) & far
    elif step.inits:
        state.fences_inits |= 1 << strand
        state.add(released, known & rows.all << rows.at[INITIALISED])
    return DONE


def _commit(state: State, strand: int, step: CommitStep) -> int:
    return pipelines.commit(state, strand, step)


def _unknown(state: State, strand: int, step: UnknownStep) -> int:
    raise Unproved(step.reason, strand, step.point)


_PERFORM: dict[type[Step], Callable[[State, int, Any], int]] = {
    InitStep: mbarriers.init,
    InvalStep: mbarriers.inval,
    ArriveStep: mbarriers.arrive,
    ExpectStep: mbarriers.expect,
    LaterStep: mbarriers.arrive_later,
    WaitStep: mbarriers.wait,
    TransferStep: _transfer,
    AccessStep: _access,
    FenceStep: _fence,
    CommitStep: _commit,
    WaitGroupStep: pipelines.wait_group,
    MeetStep: meetings.meet,
    RegistersStep: registers.change,
    TensorStep: tensor_memory.access,
    TensorWaitStep: tensor_memory.wait,
    TensorFenceStep: tensor_memory.fence,
    UnknownStep: _unknown,
}


class OrderState:
    """What strands have done so far, as far as it decides what they may do and whether that is in order."""

    def __init__(self, setup: Setup, state: State | None = None) -> None:
        self.setup = setup
        self._state = state if state is not None else State(setup)
        self._steps = setup.steps

    @property
    def facts(self) -> Facts:
        """What all states of this exploration rest on."""
        return self._state.facts

    def perform(self, strand: int, action: Action) -> Result:
        """Perform an action: DONE, BLOCKED (a rendezvous has arrived, all else is as it was), or why that fails."""
        step = self._step(strand, action)
        try:
            return _PERFORM[type(step)](self._state, strand, step)
        except Unproved as why:
            return why.failure

    def hear(self, strand: int, point: int) -> Failure | None:
        """Let a strand read an answer of which it is open whether there was a launch to cancel."""
        try:
            launches.may_hear(self._state, strand, point)
        except Unproved as why:
            return why.failure
        return None

    def refuse(self, ctas: Collection[int]) -> None:
        """Note CTAs that may have read that there was none."""
        self._state.heard |= frozenset(ctas)

    def polls(self, strand: int, wait: Wait) -> bool:
        """Note a poll whose answer tells nothing; False where it may find another phase than that of a wait."""
        step = self._step(strand, wait)
        if not isinstance(step, WaitStep):
            return False
        try:
            mbarriers.poll(self._state, strand, step)
        except Unproved:
            return False
        return True

    def is_over(self, strand: int, wait: Wait) -> bool:
        """Tell whether the phase is over that a strand would wait for now."""
        step = self._step(strand, wait)
        return isinstance(step, WaitStep) and mbarriers.is_over(self._state, step)

    def _step(self, strand: int, action: Action) -> Step:
        return self._steps[strand].get(id(action)) or self.setup.step(strand, action)

    def end(self, strand: int) -> Failure | None:
        """Let a strand end."""
        try:
            meetings.end(self._state, strand)
        except Unproved as why:
            return why.failure
        return None

    def balanced_by_host(self) -> tuple[int, ...]:
        """Return the mbarriers (by number) whose phases end if the host says that their bytes balance."""
        return mbarriers.balanced_by_host(self._state)

    def awaited(self) -> frozenset[int]:
        """Return the mbarriers (by number) that waits have been stopped by."""
        return frozenset(self._state.awaiting.values())

    def is_awaiting(self, strand: int) -> bool:
        """Tell whether a strand waits for a phase of an mbarrier."""
        return strand in self._state.awaiting

    def to_settle(self) -> tuple[int, ...]:
        """Return which phases the host may end: those that a strand waits for, or all if nobody waits for any."""
        found = self.balanced_by_host()
        awaited = set(self._state.awaiting.values())
        return tuple(each for each in found if each in awaited) or found

    def settle(self, chosen: tuple[int, ...]) -> bool | Failure:
        """Nothing moves: end phases whose symbolic bytes the host balances; False if there are none."""
        try:
            for barrier in chosen:
                mbarriers.end_by_host(self._state, barrier)
        except Unproved as why:
            return why.failure
        return bool(chosen)

    def finish(self) -> Failure | None:
        """All strands have ended: check what is left."""
        state = self._state
        try:
            mbarriers.check_rest(state)
            tensor_memory.check_end(state)
            if state.late_fences:
                raise Unproved(Flaw.MISSING_PROXY_FENCE.value, *min(state.late_fences))
            for cta in sorted({*state.far, *state.copies}):
                known = state.known_in(cta)
                far, visible = state.far.get(cta, 0), self.setup.rows.of(known, VISIBLE)
                if far & ~known or far & self.setup.to_be_visible_at_exit & ~visible:
                    raise Unproved(Flaw.EXIT_WITH_REMOTE_ACCESS.value, 0, -1)
                late = state.copies.get(cta, 0) & ~known
                while late:
                    bit = late & -late
                    late ^= bit
                    state.facts.take(COPIES_AT_EXIT, self.setup.kind_of[bit].point)
        except Unproved as why:
            return why.failure
        return None

    def copy(self) -> OrderState:
        return OrderState(self.setup, self._state.copy())

    def turned(self, turn: Turn) -> OrderState | None:
        """Return what a turn makes of the state; None where it does not move all of it."""
        return OrderState(self.setup, turn.turned(self._state)) if turn.moves_all(self._state) else None

    def control(self) -> Hashable:
        """Return what decides what may happen next, and nothing of who knows what."""
        return control(self._state)

    def knowledge(self) -> Mapping[Hashable, Hashable]:
        """Return who knows what, and of what is asked."""
        return knowledge(self._state)

    def covered_by(self, old: OrderState) -> bool:
        """Tell whether another state with the same control stands for this one."""
        return covered_by(self._state, old._state)

    def weaken(self, old: OrderState) -> None:
        """Stand for another state with the same control as well."""
        weaken(self._state, old._state)


class Stops:
    """Which strands mbarriers have stopped, so that nobody asks again before something has changed."""

    def __init__(self, order: OrderState) -> None:
        self._state = order._state
        self._at: dict[int, tuple[int, int]] = {}
        """For strands, the mbarrier and its parity: until that is another one, they do not go on."""

    def note(self, strand: int) -> None:
        """Note whether a strand that was let go on is stopped."""
        barrier = self._state.awaiting.get(strand)
        word = None if barrier is None else self._state.words.get(barrier)
        if barrier is None or word is None or word.tokens:
            self._at.pop(strand, None)
        else:
            self._at[strand] = barrier, word.parity

    def hold(self, strand: int) -> bool:
        """Tell whether a strand would be stopped again."""
        at = self._at.get(strand)
        word = None if at is None else self._state.words.get(at[0])
        return (
            at is not None
            and word is not None
            and word.parity == at[1]
            and word.is_live
            and not word.is_overwritten
        )
