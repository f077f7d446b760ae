"""Polls of several lanes whose answers decide what these do.

Property: each poll at some points that several lanes of a warp make together on some path is yielded.

Argument: a poll that finds its phase complete is an event of the threads that make it.

Not covered: whether the phase may still be open there; a poll that always finds it complete is yielded, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ..automata.automaton import Automaton
from ..symex.values.thread_sets import holds_two_lanes


def polls_of_lanes(automata: Sequence[Automaton], points: Collection[int]) -> Iterator[int]:
    """Yield those of some points at which several lanes of a warp poll together."""
    for automaton in automata if points else ():
        for node in automaton.nodes:
            for event in node.events:
                if event.point in points and holds_two_lanes(event.threads):
                    yield event.point
