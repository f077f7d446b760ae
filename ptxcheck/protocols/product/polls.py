"""Polls whose answers decide what threads do: of several lanes, and what one waits for.

Property: each poll at some points that several lanes of a warp make together on some path is yielded.

Argument: a poll that finds its phase complete is an event of the threads that make it.

Not covered: whether the phase may still be open there; a poll that always finds it complete is yielded, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ..automata.automaton import Automaton
from ..automata.environments import Env
from ..automata.naming_decider import succeeds
from ..automata.nodes import Node
from ..model.actions import Wait
from ..symex.values.thread_sets import holds_two_lanes
from .order_state import OrderState
from .roles import Role


def polls_of_lanes(automata: Sequence[Automaton], points: Collection[int]) -> Iterator[int]:
    """Yield those of some points at which several lanes of a warp poll together."""
    for automaton in automata if points else ():
        for node in automaton.nodes:
            for event in node.events:
                if event.point in points and holds_two_lanes(event.threads):
                    yield event.point


def finds_its_phase(order: OrderState, strand: int, role: Role, node: Node, env: Env) -> bool:
    """Tell whether a node asks about a poll, for a phase that is over: then it does not fail for ever."""
    if node.question is None or node.question.truth != succeeds(node.question.point):
        return False
    target, _, which = role.step(node.number, env).nexts[0]
    actions = role.step(target, role.variables.moved(node.number, which, env)).actions
    waits = [each for each in actions if isinstance(each, Wait) and each.point == node.question.point]
    return any(order.is_over(strand, each) for each in waits)
