"""The product of role automata, explored under one lazy schedule: for every count and every answer.

Property: where `explore` ends without a failure, every run of the kernel, in every schedule, keeps what `OrderState`
checks, and ends.

Argument: roles go on by themselves until they are stopped by a barrier or by a question that nobody has answered;
then one question is answered both ways. States with equal control are one state, that stands for all that was joined
in it (`state`): it is gone on from until nothing new comes. As control is compared relative to the rounds that roles
are in (`decisions`), loops close. That one schedule speaks for all is checked on the way, by what actors have to
know.

A poll that is not repeated either finds its phase complete, which is a wait, or tells nothing. Where nothing moves and
such a wait is left, no run has that answer.

Not covered: what a `Failure` says: it is no violation, but a place at which this does not show that all is well.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from ...terms.effort import Effort, Work
from ..automata.automaton import Automaton
from ..automata.environments import Env
from ..automata.known_residues import Residue
from ..automata.nodes import Node
from ..model.outcome import Flaw
from ..symex.values.symbol import Atom
from .alike_numbers import with_alike_numbers
from .coming_copies import ComingCopies
from .decisions import AskedAgainError, Decisions, Questions
from .loop_nests import Ordinals, moved
from .operations import OTHER_PHASE, Failure
from .order_state import BLOCKED, OrderState, Stops
from .polls import finds_its_phase
from .questions import OfReceived, OfStrand, OfVariables, Polled
from .readings import Given
from .received import Contents, Receiving
from .received_uses import Look, Put, Take
from .repeated_waits import RepeatedWaits
from .ring_turns import RingTurns
from .roles import Role, Step
from .rows import Bits
from .setup import Setup
from .sizes import empty_sizes, sizes_of
from .turned_states import Rings
from .visited_states import ENDED, IMPOSSIBLE, VisitedStates
from .word_contents import Byte, Found, WordUses, text_of

_MOST_STATES = 1_500
_MOST_VISITS = 4_000
_MOST_AHEAD = 64
"""Rounds of its outermost loop that a strand may be ahead of another one that waits in such a loop."""
_STRANDS_OF_STATE = 8
"""Strands of a state that costs as much as one of the explicit search: states of clusters have more."""
_MOST_SILENT = 100_000
_NOT_FOR_EVER = -3
"""Where a poll has found nothing though its phase is over: it does not do so for ever."""
_TOO_MUCH = "states take more than their share of the effort"
_TOO_MANY = "more states than are explored"
_WAITS = "threads wait for ever"
_LEFT_BEHIND = "threads wait while others make more rounds than are followed"
_NO_END = "threads may go on for ever"
_AGAIN = "threads decide again before all of their group have decided"
_APART = "warps that do the same answer by themselves"


@dataclass(frozen=True, slots=True)
class Explored:
    """What an exploration has shown."""

    failure: Failure | None
    states: int
    visits: int
    steps: int
    order: OrderState
    sizes: Mapping[Atom, int]
    """Parameters with which threads come to the failure, as far as decisions say; they may be others in truth."""
    empty: frozenset[Atom]
    """Parameters that are not above zero there."""
    words: tuple[Found, ...] = ()
    """Words that warps read and that nobody expected: the exploration ends there."""


@dataclass(slots=True)
class _Strand:
    """Where a strand is."""

    node: int
    index: int = 0
    ordinals: Ordinals = ()
    ended: bool = False
    answers: int = 0
    """How many answers it has had: who has had fewest is answered next, so that nobody runs ahead."""
    polled: bool | None = None
    """What its next poll finds, or another question that it alone asks."""
    env: Env = ()
    """Numbers of the variables that are live at its node."""

    def copy(self) -> _Strand:
        return _Strand(self.node, self.index, self.ordinals, self.ended, self.answers, self.polled, self.env)


@dataclass(slots=True)
class _State:
    """Where all strands are, what was decided, what is known of accesses, and what words hold."""

    strands: list[_Strand]
    decisions: Decisions
    order: OrderState
    words: Mapping[Byte, int] = field(default_factory=dict)
    received: Contents = field(default_factory=Contents)
    parent: Hashable = None
    """The state that was visited before."""
    withheld: tuple[int, ...] = ()
    """Mbarriers whose phases could end, and that a strand may still copy to which waits for no phase."""

    def copy(self) -> _State:
        strands = [each.copy() for each in self.strands]
        return _State(
            strands, self.decisions.copy(), self.order.copy(), self.words, self.received, self.parent
        )

    def control(self, standing_at: Sequence[tuple[int, Node, Ordinals] | None]) -> Hashable:
        """Return what decides what may happen next; `standing_at` says where strands are, None for the end."""
        indices = tuple((each.index, each.env) for each in self.strands)
        return (
            self.decisions.normal(standing_at), indices, self.order.control(), text_of(self.words),
            self.received.text,
        )  # fmt: skip


class _UnknownWordsError(Exception):
    def __init__(self, found: Sequence[Found]) -> None:
        super().__init__("words that are not known")
        self.found = found


class _AskBothError(Exception):
    def __init__(self, point: int) -> None:
        super().__init__("a poll speaks for its failure alone")
        self.point = point


class _StuckError(Exception):
    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


def _to_settle(
    state: _State, asking: Collection[int], roles: Sequence[Role], copies: ComingCopies
) -> tuple[int, ...]:
    """Return the mbarriers whose phases end now if the host says so: not those that more copies may come for.

    Phases that nothing else is left to happen before end all the same: see `Exploration._come`.
    """
    found = state.order.to_settle()
    coming: Bits = 0
    for number, strand in enumerate(state.strands) if found and asking else ():
        if number in asking or not (strand.ended or state.order.is_awaiting(number)):
            step = roles[number].step(strand.node, strand.env)
            coming |= copies.to(number, step, strand.index)
    state.withheld = tuple(each for each in found if coming >> each & 1)
    return tuple(each for each in found if not coming >> each & 1)


def _check_left_behind(roles: Sequence[Role], strands: Sequence[_Strand], asking: int) -> None:
    """Check that a strand that asks is not far ahead of one that waits. Raises _StuckError."""
    ordinals = strands[asking].ordinals
    for number, strand in enumerate(strands if ordinals else ()):
        if strand.ordinals and not strand.ended and ordinals[0] - strand.ordinals[0] > _MOST_AHEAD:
            step = roles[number].step(strand.node, strand.env)
            if strand.index < len(step.actions):
                raise _StuckError(Failure(_LEFT_BEHIND, number, step.actions[strand.index].point))


def _goes_on(node: Node, number: int) -> bool:
    """Tell whether a strand is followed behind a node. Raises _StuckError where it would have to be."""
    if node.not_followed is not None:
        raise _StuckError(Failure(node.not_followed.reason, number, node.not_followed.point))
    return not node.is_last


def _is_at(points: Collection[int], role: Role, strand: _Strand) -> bool:
    """Tell whether a strand waits at one of some points: a poll that was taken to find its phase complete."""
    actions = role.step(strand.node, strand.env).actions
    return strand.index < len(actions) and actions[strand.index].point in points


class Exploration:
    """The states of one kernel."""

    def __init__(
        self,
        automata: Sequence[Automaton],
        roles: Sequence[Role],
        setup: Setup,
        effort: Effort,
        residues: Mapping[Atom, Residue] | None = None,
        given: Given | None = None,
        words: WordUses | None = None,
        receiving: Receiving | None = None,
    ) -> None:
        self._words = words
        self._receiving = receiving
        self._automata = automata
        self.questions = Questions(automata, roles, residues or {}, given or Given())
        roles = self._roles = with_alike_numbers(automata, roles, self.questions, effort)
        self._repeated = RepeatedWaits(automata, roles, self.questions, effort)
        self._effort = effort
        self._coming = ComingCopies(roles, setup.number_of)
        self._visited = VisitedStates[tuple[_State, int]]()
        self._setup = setup
        self._polls = {
            node.question.point
            for node, asked in self.questions.asked()
            if isinstance(asked, Polled) and node.question is not None
        }
        self._rings = Rings(
            lambda: RingTurns(automata, roles, setup, self.questions, receiving, effort).find()
        )
        self._both: set[int] = set()
        """Points of polls of which both answers are explored."""
        self.visits = 0
        self.steps = 0

    def run(self) -> Explored:
        """Explore all states, or up to words that nobody expected."""
        while True:
            try:
                return self._explore()
            except _AskBothError as error:
                self._both.add(error.point)
                self.visits = 0
                self._visited.clear()

    def _explore(self) -> Explored:
        order = OrderState(self._setup)
        start = [_Strand(self._automata[role.automaton].entry) for role in self._roles]
        failure: Failure | None = None
        words: tuple[Found, ...] = ()
        state = _State(start, Decisions(self.questions), order)
        coming = [state]
        try:
            while True:
                while coming:
                    state = coming.pop()
                    coming.extend(self._come(state))
                if (following := self._visited.next()) is None:
                    break
                state = following[0]
                coming = self._go_on(*following)
            failure = None if self._visited.all_end else Failure(_NO_END, 0, -1)
        except _StuckError as stuck:
            failure = stuck.failure
        except _UnknownWordsError as error:
            words = tuple(error.found)
        self._rings.complete(order.facts, self._setup)
        decided, sizes, empty = state.decisions, dict[Atom, int](), frozenset[Atom]()
        if failure is not None:
            sizes = sizes_of(decided.known(), decided.answers(), self.questions.congruences, self._effort)
            empty = empty_sizes(decided.known(), self.questions.congruences)
        return Explored(failure, len(self._visited), self.visits, self.steps, order, sizes, empty, words)

    def _come(self, state: _State) -> list[_State]:
        """Go on from a state until a question has to be answered, and let that wait, once for all who come there.

        Returns what goes on before that.
        """
        asking = self._run(state)
        self._effort.spend(Work.STATE, max(1, len(self._roles) // _STRANDS_OF_STATE))
        if asking < 0:
            self._visited.note_way(asking, state.parent)
            return []
        strands = state.strands
        standing_at = [self._standing_at(role, each) for role, each in zip(self._roles, strands, strict=True)]
        self._forget_received(state)
        if self._words is None and self._rings.turn(state, len(self._visited)):
            self._forget_received(state)
        order, control = state.order, state.control(standing_at)
        self._visited.note_way(control, state.parent)
        state.parent = control
        if not self._visited.add(control, order):
            return [state] if self._settle(state, state.withheld) else []
        if len(self._visited) > _MOST_STATES or self._effort.is_over:
            reason = _TOO_MUCH if self._effort.is_over else _TOO_MANY
            raise _StuckError(Failure(reason, asking, -1))
        _check_left_behind(self._roles, strands, asking)
        self._visited.wait(control, (state, asking))
        return []

    def _go_on(self, state: _State, asking: int) -> list[_State]:
        """Return the states behind the answers to a question."""
        self.visits += 1
        if self.visits > _MOST_VISITS:
            raise _StuckError(Failure(_TOO_MANY, asking, -1))
        role, strand, order = self._roles[asking], state.strands[asking], state.order
        node = self._node(role, strand)
        found: list[_State] = []
        for truth in (False, True):
            then = state.copy()
            if not truth and finds_its_phase(order, asking, role, node, strand.env):
                then.parent = _NOT_FOR_EVER
            if self._decide(then, asking, role, node, truth):
                found.append(then)
        return found

    def _decide(self, state: _State, number: int, role: Role, node: Node, truth: bool) -> bool:
        """Answer the question of a strand; False where no run can have that answer."""
        asked = self.questions.site(role.automaton, node.number).asked
        if isinstance(asked, OfReceived) and self._receiving is not None:
            state.received = self._receiving.decide(number, asked.truth, truth, state.received)
            return True
        if isinstance(asked, Polled | OfStrand):
            if role.info.copies > 1:
                raise _StuckError(Failure(_APART, number, -1))
            state.strands[number].polled = truth
            return True
        strand = state.strands[number]
        try:
            return state.decisions.decide(role.automaton, node, strand.ordinals, truth, strand.env)
        except AskedAgainError:
            raise _StuckError(Failure(_AGAIN, number, -1)) from None

    def _answer(self, state: _State, number: int, role: Role, node: Node) -> bool | None:
        asked = self.questions.site(role.automaton, node.number).asked
        if isinstance(asked, OfReceived) and self._receiving is not None:
            return self._receiving.answer(number, asked.truth, state.received)
        strand = state.strands[number]
        if isinstance(asked, Polled | OfStrand):
            found, strand.polled = strand.polled, None
            if found is None and isinstance(asked, Polled) and self._speaks_for_both(state, number, strand):
                return False
            return found
        if isinstance(asked, OfVariables):
            return role.variables.truth(node.number, strand.env)
        known = state.decisions.answer(role.automaton, node, strand.ordinals, number, strand.env)
        if known is None and role.variables.are_any and not role.variables.is_choice(node.number, strand.env):
            return False
        return known

    def _standing_at(self, role: Role, strand: _Strand) -> tuple[int, Node, Ordinals] | None:
        return None if strand.ended else (role.automaton, self._node(role, strand), strand.ordinals)

    def _node(self, role: Role, strand: _Strand) -> Node:
        return self._automata[role.automaton].nodes[strand.node]

    def _run(self, state: _State) -> int:
        """Let all strands go on as far as they come; return one that asks, else `ENDED` or `IMPOSSIBLE`."""
        strands, order = state.strands, state.order
        asking: set[int] = set()
        stops = Stops(order)
        while True:
            moved = True
            while moved:
                moved = False
                for number, strand in enumerate(strands):
                    if not (strand.ended or number in asking or stops.hold(number)):
                        before = self.steps
                        if self._advance(number, strand, state):
                            asking.add(number)
                        moved |= self.steps != before
                        stops.note(number)
            if not self._settle(state, _to_settle(state, asking, self._roles, self._coming)):
                break
        self._tell_words(state)
        if asking:
            return min(asking, key=lambda number: (strands[number].answers, number))
        left = [number for number, strand in enumerate(strands) if not strand.ended]
        if any(_is_at(self._polls, self._roles[number], strands[number]) for number in left):
            return IMPOSSIBLE  # no run comes here: a poll cannot find a phase complete that never is
        if left:
            stuck = strands[left[0]]
            point = self._roles[left[0]].step(stuck.node, stuck.env).actions[stuck.index].point
            raise _StuckError(Failure(_WAITS, left[0], point))
        failure = order.finish()
        if failure is not None:
            raise _StuckError(failure)
        return ENDED

    def _settle(self, state: _State, barriers: tuple[int, ...]) -> bool:
        """End phases as the host says; tell whether there are any."""
        settled = state.order.settle(barriers)
        if isinstance(settled, Failure):
            raise _StuckError(settled)
        return settled

    def _speaks_for_both(self, state: _State, number: int, strand: _Strand) -> bool:
        """Tell whether a strand that polls for a phase waits for it, or looks no more, if the poll fails."""
        wait = self._repeated.wait_behind(number, strand.node, strand.env, strand.ordinals, state.decisions)
        return wait is not None and wait.point not in self._both and state.order.polls(number, wait)

    def _tell_words(self, state: _State) -> None:
        """Tell what those have read that are followed no further."""
        if self._words is None:
            return
        found: list[Found] = []
        for number, (role, strand) in enumerate(zip(self._roles, state.strands, strict=True)):
            step = role.step(strand.node, strand.env)
            if not step.node.is_cut or strand.index < len(step.actions):
                continue
            told = self._words.found(number, step, state.words)
            if told is None:
                raise _StuckError(Failure("a word that decides what threads do is not known", number, -1))
            found.append(told)
        if found:
            raise _UnknownWordsError(found)

    def _perform_words(self, number: int, step: Step, strand: _Strand, state: _State) -> None:
        if self._words is None:
            return
        words = self._words.perform(number, step, strand.index, state.words)
        if words is None:
            text = "a word that decides what threads do depends on what is decided"
            raise _StuckError(Failure(text, number, step.actions[strand.index].point))
        state.words = words

    def _receive(self, number: int, step: Step, strand: _Strand, state: _State) -> None:
        """Follow values that an action writes or receives."""
        if self._receiving is None:
            return
        before = state.received
        state.received, use = self._receiving.perform(
            number, step.number, strand.index, strand.ordinals, strand.env, before
        )
        cta, point = self._roles[number].info.cta, step.actions[strand.index].point
        failure = None
        if isinstance(use, Put) and use.is_answer and before.may_have_refused(cta):
            failure = Failure(Flaw.ASKED_AFTER_REFUSAL.value, number, point)
        elif isinstance(use, Look | Take) and self._receiving.is_open(number, use, state.received):
            failure = state.order.hear(number, point)
        if failure is not None:
            raise _StuckError(failure)

    def _forget_received(self, state: _State) -> None:
        if self._receiving is None:
            return
        standing = [
            None if each.ended else (self._node(role, each), each.ordinals)
            for role, each in zip(self._roles, state.strands, strict=True)
        ]
        state.received, refused = self._receiving.normal(state.received, standing)
        state.order.refuse(refused)

    def _advance(self, number: int, strand: _Strand, state: _State) -> bool:
        """Let a strand go on until it is stopped; tell whether by a question."""
        role, order = self._roles[number], state.order
        silent = 0
        while True:
            step = role.step(strand.node, strand.env)
            actions = step.actions
            while strand.index < len(actions):
                result = order.perform(number, actions[strand.index])
                if result is BLOCKED:
                    return False
                if isinstance(result, Failure):
                    raise _AskBothError(result.point) if result.reason == OTHER_PHASE else _StuckError(result)
                self._perform_words(number, step, strand, state)
                self._receive(number, step, strand, state)
                strand.index += 1
                self.steps += 1
                silent = 0
            self._effort.spend(Work.TRANSITION, len(actions))
            if self._effort.is_over:
                raise _StuckError(Failure(_TOO_MUCH, number, -1))
            silent += 1
            if silent > _MOST_SILENT:
                raise _StuckError(Failure("a loop that does nothing does not end", number, -1))
            if not _goes_on(step.node, number):
                return False
            if not step.nexts:
                strand.ended = True
                self.steps += 1
                failure = order.end(number)
                if failure is not None:
                    raise _StuckError(failure)
                return False
            target, arrival, which = step.nexts[0]
            if len(step.nexts) == 2:
                truth = self._answer(state, number, role, step.node)
                if truth is None:
                    return True
                target, arrival, which = step.nexts[0 if truth else 1]
                strand.answers += 1
                self.steps += 1
            strand.env = role.variables.moved(strand.node, which, strand.env)
            strand.ordinals = moved(strand.ordinals, self._automata[role.automaton].nodes[target], arrival)
            strand.node, strand.index = target, 0
