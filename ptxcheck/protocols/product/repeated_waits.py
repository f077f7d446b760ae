"""Polls behind which a strand waits for the same phase if they fail: that they fail speaks for both answers.

Property: where `wait_behind` gives a wait for a poll, whatever goes wrong if the poll succeeds goes wrong if it fails,
or the next wait of the strand for that parity of that mbarrier is for another phase, which the order state looks at.

Argument: what is taken of a poll that succeeds is a wait there and then. From both answers on the strand is followed
side by side: it does the same, and comes to the same questions, but that behind the failed poll it waits for the same
parity of the same mbarrier, later, or never looks at what the poll has found. That this is for the phase that the poll
has looked at, which is the last that may be over there (`mbarriers.poll`), is seen where the strand waits: other phases
may have ended since, or the mbarrier may be a new one (`State.polled`). The phase behind it ends only behind the later
wait, so that a poll that succeeds has found that phase, and no later one, over. So in each run in which the poll
succeeds the strand does all that it does if it fails, in one order, less a wait that cannot stop it, and knows more: a
state of which less is known stands for it (`state`). Who has to know that the wait is over knows of the later one.
Questions are taken both ways, unless what was answered before on the same way decides (`poll_facts`).

Not covered: strands that act otherwise behind the two answers, and those that write, read or receive followed words
on two different ways: both answers are explored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ...terms.effort import Effort, Work
from ..automata.automaton import Automaton
from ..automata.environments import Env
from ..automata.nodes import Arrival, Question
from ..model.actions import Action, Wait
from .decisions import Decisions
from .loop_nests import Ordinals
from .poll_facts import Facts, PollFacts
from .question_sites import Questions, Site
from .questions import OfVariables
from .roles import Role, Step

_MOST_PAIRS = 1_500
_MOST_SILENT = 64
"""Nodes without an action or a question that are passed in a row."""


class _Place(NamedTuple):
    """Where a strand comes to."""

    node: int
    env: Env


class _Pair(NamedTuple):
    """Where a strand comes to by the two answers."""

    succeeded: _Place
    failed: _Place
    owed: Wait | int | None
    """For what it has not waited yet behind the failed poll, or the point of the poll where it has in neither way."""
    facts: Facts
    """What was answered on the way."""


class RepeatedWaits:
    """The polls of some roles that need not be taken to succeed."""

    def __init__(
        self, automata: Sequence[Automaton], roles: Sequence[Role], questions: Questions, effort: Effort
    ) -> None:
        facts = [PollFacts(each, number, questions) for number, each in enumerate(automata)]
        self._walks = [
            _Walk(automata[role.automaton], role, questions, facts[role.automaton], effort) for role in roles
        ]

    def wait_behind(
        self, strand: int, node: int, env: Env, ordinals: Ordinals, known: Decisions
    ) -> Wait | None:
        """Return the wait that a poll of a strand is if it succeeds, where its failure speaks for both answers."""
        return self._walks[strand].wait_behind(_Place(node, env), ordinals, known)


def _is_again(actions: Sequence[Action], wait: Wait) -> bool:
    """Tell whether actions are one wait for the same phase as another."""
    return (
        len(actions) == 1 and isinstance(actions[0], Wait) and replace(actions[0], point=wait.point) == wait
    )


def _is_of_parity(action: Action, wait: Wait) -> bool:
    """Tell whether an action is a wait for the same parity as another, whatever it sees behind it."""
    return isinstance(action, Wait) and (action.barrier, action.parity) == (wait.barrier, wait.parity)


def _is_followed(step: Step) -> bool:
    """Tell whether words or values are followed through a node, or it is the last one that is followed."""
    node = step.node
    return bool(node.stored or node.read or node.received or node.is_last)


class _Walk:
    """One strand, followed from both answers to its polls."""

    def __init__(
        self, automaton: Automaton, role: Role, questions: Questions, facts: PollFacts, effort: Effort
    ) -> None:
        self._effort = effort
        self._automaton = automaton
        self._role = role
        self._questions = questions
        self._facts = facts
        self._known: dict[tuple[_Place, Facts], Wait | None] = {}
        self._found: dict[_Place, list[tuple[Facts, Wait]]] = {}
        """For polls that were found to be repeated: what has to be known, and the wait."""
        self._alike: dict[_Pair, frozenset[int]] = {}
        """Pairs from which a strand does the same for ever, and the directions that this rests on."""
        self._unlike: set[_Pair] = set()
        self._used: set[int] = set()
        """The directions that have decided something on the present walk."""

    def wait_behind(self, polling: _Place, ordinals: Ordinals, known: Decisions) -> Wait | None:
        facts = self._facts.at(self._automaton.nodes[polling.node], ordinals, known)
        for needed, wait in self._found.get(polling, ()):
            if self._facts.implies(facts, needed):
                return wait
        key = polling, facts
        if key not in self._known:
            self._known[key] = repeated = self._walk(polling, facts)
            if repeated is not None:
                needed = tuple(each for each in facts if each[0] in self._used)
                self._found.setdefault(polling, []).append((needed, repeated))
        return self._known[key]

    def _walk(self, polling: _Place, facts: Facts) -> Wait | None:
        """Follow a strand from both answers to a poll; return the wait that it is if it succeeds."""
        self._used = set()
        question = self._automaton.nodes[polling.node].question
        assert question is not None
        arrivals, first = zip(*(self._behind(polling, which) for which in (0, 1)), strict=True)
        if arrivals != (Arrival.KEEP, Arrival.KEEP):
            return None
        waiting, waits = [_Pair(first[0], first[1], question.point, facts)], set[Wait]()
        seen = {*waiting}
        while waiting:
            pair = waiting.pop()
            self._effort.spend(Work.TRANSITION)
            if pair.succeeded == pair.failed and not isinstance(pair.owed, int):
                continue
            onward = None if pair in self._unlike else self._together(pair)
            if onward is None or len(seen) > _MOST_PAIRS:
                self._unlike.add(pair)
                return None
            waits.update(each.owed for each in onward if isinstance(each.owed, Wait))
            for each in onward:
                if each in self._alike:
                    self._used |= self._alike[each]
                elif each not in seen:
                    seen.add(each)
                    waiting.append(each)
        if len(waits) != 1:
            return None
        known = [
            each for each in seen if not isinstance(each.owed, int)
        ]  # what the others wait for is found anew
        self._alike.update(dict.fromkeys(known, frozenset(self._used)))
        return waits.pop()

    def _together(self, pair: _Pair) -> list[_Pair] | None:
        """Return where a strand comes to from two places at which it does the same; None where it does not."""
        one, other = self._step(pair.succeeded), self._step(pair.failed)
        if isinstance(pair.owed, Wait) and _is_again(other.actions, pair.owed) and len(other.nexts) == 1:
            if _is_followed(other) or other.nexts[0][1] is not Arrival.MOVE:
                return None
            behind = self._silent(self._behind(pair.failed, 0)[1])
            is_there = behind is not None and self._loops(behind) == self._loops(pair.succeeded)
            return [_Pair(pair.succeeded, behind, None, pair.facts)] if behind and is_there else None
        own = one.actions
        if isinstance(pair.owed, int):
            waits = (each for each in own if isinstance(each, Wait) and each.point == pair.owed)
            polls = list(dict.fromkeys(waits))  # lanes that act together may do so by several events
            own = tuple(each for each in own if each not in polls)
            if len(polls) > 1 or any(each.parity is None for each in polls):
                return None
            pair = pair._replace(owed=polls[0]) if polls else pair
        if isinstance(pair.owed, Wait) and any(_is_of_parity(each, pair.owed) for each in own):
            return None
        if own != other.actions or self._loops(pair.succeeded) != self._loops(pair.failed):
            return None
        if one.number != other.number and (_is_followed(one) or _is_followed(other)):
            return None
        return self._onward(pair)

    def _onward(self, pair: _Pair) -> list[_Pair] | None:
        """Return where a strand comes to next from two places that ask the same; None where they do not."""
        ways = self._ways(pair.succeeded, pair.facts), self._ways(pair.failed, pair.facts)
        if len(ways[0]) != len(ways[1]):
            return None
        if len(ways[0]) == 2 and self._asked(pair.succeeded) != self._asked(pair.failed):
            return None
        found: list[_Pair] = []
        for own, its in zip(*ways, strict=True):
            one, other = self._behind(pair.succeeded, own), self._behind(pair.failed, its)
            if one[0] is not other[0] or self._loops(one[1]) != self._loops(other[1]):
                return None
            facts = pair.facts
            if len(ways[0]) == 2:
                facts = self._facts.noted(facts, self._site(pair.succeeded), own == 0)
            facts = self._facts.moved_on(facts, self._loops(one[1]), one[0])
            places = self._silent(one[1]), self._silent(other[1])
            if places[0] is None or places[1] is None:
                return None
            found.append(_Pair(places[0], places[1], pair.owed, facts))
        return found

    def _loops(self, place: _Place) -> tuple[int, ...]:
        return self._automaton.nodes[place.node].loops

    def _site(self, place: _Place) -> Site:
        return self._questions.site(self._role.automaton, place.node)

    def _asked(self, place: _Place) -> tuple[Question | None, Site]:
        """Return what is asked in a node, by whom, and for which loop."""
        return self._automaton.nodes[place.node].question, self._site(place)

    def _step(self, place: _Place) -> Step:
        return self._role.step(place.node, place.env)

    def _ways(self, place: _Place, facts: Facts = ()) -> Sequence[int]:
        """Return by which ways a strand may go on from a node: both of what nothing decides."""
        nexts = self._step(place).nexts
        if len(nexts) < 2:
            return range(len(nexts))
        site = self._site(place)
        truth: bool | None
        if isinstance(site.asked, OfVariables):
            truth = self._role.variables.truth(place.node, place.env)
        else:
            truth = self._facts.decided(facts, site, self._used)
        return (0, 1) if truth is None else (0 if truth else 1,)

    def _behind(self, place: _Place, which: int) -> tuple[Arrival, _Place]:
        """Return where a strand comes to by one of the ways on from a node, and what that does to its rounds."""
        node, arrival, number = self._step(place).nexts[which]
        return arrival, _Place(node, self._role.variables.moved(place.node, number, place.env))

    def _silent(self, place: _Place) -> _Place | None:
        """Return the next place at which a strand does or asks something, or enters or repeats a loop, or ends.

        None where that is far.
        """
        for _ in range(_MOST_SILENT):
            step, ways = self._step(place), self._ways(place)
            if step.actions or _is_followed(step) or len(ways) != 1:
                return place
            arrival, behind = self._behind(place, ways[0])
            if arrival in (Arrival.ENTER, Arrival.REPEAT) or self._loops(behind) != self._loops(place):
                return place
            place = behind
        return None


__all__ = ["RepeatedWaits"]
