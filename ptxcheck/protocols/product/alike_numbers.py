"""Strands with fewer numbers of their variables: those with which threads do the same are one.

Property: a kernel of the strands that `with_alike_numbers` returns does what the kernel does.

Argument: bisimulation (`alike_rows`), over the edges of automata that some run may take (`feasible_edges`).

Not covered: numbers of several components that are alike together, but not in the sight of each.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from ..automata.automaton import Automaton
from ..automata.environments import Variables
from ..automata.nodes import Node
from .feasible_edges import feasible_edges
from .question_sites import Questions
from .roles import Role


def with_alike_numbers(
    automata: Sequence[Automaton], roles: Sequence[Role], questions: Questions
) -> tuple[Role, ...]:
    """Return strands of which some numbers stand for all that are like them."""
    feasible = [
        feasible_edges(number, each, questions) if each.variables.are_any else ()
        for number, each in enumerate(automata)
    ]
    known: dict[Hashable, Variables] = {}
    found: list[Role] = []
    for role in roles:
        automaton = automata[role.automaton]
        if not automaton.variables.are_any:
            found.append(role)
            continue
        edges = [
            taken & _side(node, role)
            for node, taken in zip(automaton.nodes, feasible[role.automaton], strict=True)
        ]
        acting = tuple(
            bool(event.threads & role.threads) for node in automaton.nodes for event in node.events
        )
        key = role.automaton, tuple(edges), acting
        if key not in known:
            known[key] = role.variables.merged(edges, role.threads)
        found.append(replace(role, variables=known[key]))
    return tuple(found)


def _side(node: Node, role: Role) -> frozenset[int]:
    """Return the targets of a node that a strand may go to."""
    return frozenset(
        which for which in range(len(node.targets)) if not node.sides or not role.threads & ~node.sides[which]
    )


__all__ = ["with_alike_numbers"]
