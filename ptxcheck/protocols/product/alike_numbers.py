"""Strands with fewer numbers of their variables: those with which threads do the same are one.

Property: a kernel of the strands that `with_alike_numbers` returns does what the kernel does.

Argument: bisimulation (`alike_rows`), over the edges of automata that some run may take (`feasible_edges`).

Not covered: numbers of several components that are alike together, but not in the sight of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..automata.automaton import Automaton
from .feasible_edges import feasible_edges
from .question_sites import Questions
from .roles import Role


def with_alike_numbers(
    automata: Sequence[Automaton], roles: Sequence[Role], questions: Questions
) -> tuple[Role, ...]:
    """Return strands of which some numbers stand for all that are like them."""
    merged = [
        each.variables.merged(feasible_edges(number, each, questions))
        if each.variables.are_any
        else each.variables
        for number, each in enumerate(automata)
    ]
    return tuple(replace(role, variables=merged[role.automaton]) for role in roles)


__all__ = ["with_alike_numbers"]
