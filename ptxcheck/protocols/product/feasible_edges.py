"""Edges of automata that some run may take, as far as answers on numbers of the host tell.

Property: an edge that `feasible_edges` leaves out is taken in no run.

Argument: a forward analysis over the nodes of an automaton: for each number that is one for the whole launch the
interval that the answers on all ways to a node leave (Cousot, Cousot 1977), with what is given of it and its residue.

Not covered: numbers of rounds, of one round of a loop, or of a group of threads; what several numbers have to do with
each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ..automata.automaton import Automaton
from .held_numbers import is_for_all
from .intervals import ANYTHING, Interval
from .question_sites import Questions
from .questions import Below, Terms, round_number

_Known: TypeAlias = Mapping[Terms, Interval]


def feasible_edges(number: int, automaton: Automaton, questions: Questions) -> tuple[frozenset[int], ...]:
    """Return for each node of an automaton the numbers of the targets that a run may go on to."""
    known: dict[int, _Known] = {automaton.entry: {}}
    found: list[set[int]] = [set() for _ in automaton.nodes]
    waiting = [automaton.entry]
    while waiting:
        node = automaton.nodes[waiting.pop()]
        asked = questions.site(number, node.number).asked if node.question is not None else None
        for which, target in enumerate(node.targets):
            behind = known[node.number]
            if isinstance(asked, Below) and _is_of_launch(asked):
                narrowed = _narrowed(questions, asked, behind.get(asked.terms, ANYTHING), answer=which == 0)
                if narrowed.is_empty:
                    continue
                behind = {**behind, asked.terms: narrowed}
            found[node.number].add(which)
            before = known.get(target.node)
            joined = behind if before is None else _joined(before, behind)
            if joined != before:
                known[target.node] = joined
                waiting.append(target.node)
    return tuple(map(frozenset, found))


def _is_of_launch(asked: Below) -> bool:
    return is_for_all(asked) and not asked.slopes and round_number(asked.terms) is None


def _narrowed(questions: Questions, asked: Below, known: Interval, *, answer: bool) -> Interval:
    """Return what is known of a number behind an answer."""
    now = asked.narrowed(known, asked.constant, answer).within(known)
    return questions.tightened(asked.terms, questions.possible(asked.terms, now))


def _joined(one: _Known, other: _Known) -> _Known:
    """Return what is known on both ways."""
    found: dict[Terms, Interval] = {}
    for terms in one.keys() & other.keys():
        a, b = one[terms], other[terms]
        low = None if a.low is None or b.low is None else min(a.low, b.low)
        high = None if a.high is None or b.high is None else max(a.high, b.high)
        if low is not None or high is not None:
            found[terms] = Interval(low, high)
    return found


__all__ = ["feasible_edges"]
