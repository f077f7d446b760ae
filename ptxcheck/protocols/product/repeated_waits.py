"""Polls behind which a strand waits for the same phase if they fail: it does the same whichever way they end.

Property: where `is_waited_for` holds of a poll in a state, both of its answers lead to the same actions in one order.

Argument: what is taken of a poll that succeeds is a wait. If it fails, the strand comes, by what is decided in the
state and with no action on the way, to a wait for the same phase of the same mbarrier, and behind it to a place where
it comes to with no further action if the poll succeeds.

Not covered: strands that act between the poll and the wait: both answers are explored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from ..automata.automaton import Automaton
from ..automata.environments import Env
from ..model.actions import Action, Wait
from .loop_nests import Ordinals, moved
from .roles import Role, Step

_MOST_NODES = 24
"""Nodes without an action that are passed on the way."""


class Place(NamedTuple):
    """Where a strand comes to."""

    node: int
    ordinals: Ordinals
    env: Env


Answer: TypeAlias = Callable[[Place], bool | None]
"""What is decided of the question of a node; None where that is open."""


def is_waited_for(automaton: Automaton, role: Role, polling: Place, answer: Answer) -> bool:
    """Tell whether the two answers to the poll of a node lead to the same actions."""
    walk = _Walk(automaton, role, answer)
    succeeded, failed = walk.behind(polling, 0), walk.behind(polling, 1)
    *others, wait = walk.step(succeeded).actions or (None,)
    if not isinstance(wait, Wait) or list(walk.step(failed).actions) != others:
        return False
    places = list(walk.silent(failed))
    if not places or not _is_alone(walk.step(places[-1]).actions, wait):
        return False
    return not set(walk.silent(succeeded)).isdisjoint(walk.silent(places[-1]))


def _is_alone(actions: Sequence[Action], wait: Wait) -> bool:
    """Tell whether actions are one wait for the same phase as another."""
    return (
        len(actions) == 1 and isinstance(actions[0], Wait) and replace(actions[0], point=wait.point) == wait
    )


def _acts(step: Step) -> bool:
    """Tell whether a strand does something in a node, or is followed no further."""
    node = step.node
    return bool(step.actions or node.stored or node.read or node.received or node.is_cut)


class _Walk(NamedTuple):
    automaton: Automaton
    role: Role
    answer: Answer

    def step(self, place: Place) -> Step:
        return self.role.step(place.node, place.env)

    def behind(self, place: Place, which: int) -> Place:
        """Return where a strand comes to by one of the ways on from a node."""
        node, arrival, number = self.step(place).nexts[which]
        return Place(
            node,
            moved(place.ordinals, self.automaton.nodes[node], arrival),
            self.role.variables.moved(place.node, number, place.env),
        )

    def silent(self, place: Place) -> Iterator[Place]:
        """Yield where a strand comes to from the end of a node, up to the first place at which it acts."""
        for _ in range(_MOST_NODES):
            nexts = self.step(place).nexts
            truth = self.answer(place) if len(nexts) == 2 else True
            if not nexts or truth is None:
                return
            place = self.behind(place, 0 if truth else 1)
            yield place
            if _acts(self.step(place)):
                return


__all__ = ["Place", "is_waited_for"]
