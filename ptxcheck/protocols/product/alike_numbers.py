"""Strands with fewer numbers of their variables: those with which threads do the same are one.

Property: a kernel of the strands that `with_alike_numbers` returns does what the kernel does.

Argument: bisimulation (`alike_rows`), over the edges of automata that some run may take (`feasible_edges`).

Not covered: numbers of several components that are alike together, but not in the sight of each.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from ...terms.effort import Effort, Work
from ..automata.automaton import Automaton
from ..automata.environments import Variables
from ..automata.likeness import sights_of
from .feasible_edges import feasible_edges
from .question_sites import Questions
from .roles import Role


def with_alike_numbers(
    automata: Sequence[Automaton], roles: Sequence[Role], questions: Questions, effort: Effort
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
        sights = sights_of(automaton.nodes, automaton.entry, role.threads, feasible[role.automaton])
        key = role.automaton, sights
        if key not in known:
            merged = known[key] = role.variables.merged(sights)
            effort.spend(Work.TRANSITION, merged.places)
        found.append(replace(role, variables=known[key]))
    return tuple(found)


__all__ = ["with_alike_numbers"]
