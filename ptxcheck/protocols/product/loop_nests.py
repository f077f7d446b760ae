"""How the loops of roles correspond, and what a role may still come to from where it stands.

Property: loops with one class are at the same depth, inside loops with one class, and as many loops in a row come
before them; `Nests.standing` tells whether threads are in a round of a loop, may still come to it, or have it behind
them.

Argument: loops are ordered by the control flow: of two loops in one round of the loop around, one is behind the other
if it can be reached from it without a new round. Ordinals only grow, and start anew with each round of the loop
around.

Not covered: roles whose loops do not correspond (a rest that only one of them has as a loop of its own) share no
decisions in them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from ..automata.automaton import Automaton
from ..automata.nodes import Arrival, Node
from ..symex.values.trace import ThreadSet

Class: TypeAlias = tuple[int, ...]
"""For each loop around, outermost first, and the loop itself: how many loops in a row come before it."""
Ordinals: TypeAlias = tuple[int, ...]


class Standing(Enum):
    """Where threads are, seen from a round of a loop."""

    BEFORE = 0
    INSIDE = 1
    BEHIND = 2


def moved(ordinals: Ordinals, node: Node, arrival: Arrival) -> Ordinals:
    """Return the rounds of the loops around a node, behind an edge to it."""
    depth = len(node.loops)
    if arrival is Arrival.ENTER:
        return (*ordinals[: depth - 1], 0)
    if arrival is Arrival.REPEAT:
        return (*ordinals[: depth - 1], ordinals[depth - 1] + 1)
    return ordinals[:depth]


@dataclass(frozen=True, slots=True)
class Nest:
    """The loops of one automaton."""

    classes: Mapping[int, Class]
    """By header."""
    loops: Sequence[tuple[Class, ...]]
    """Classes of the loops around each node, outermost first."""
    ahead: Mapping[Class, frozenset[int]]
    """Nodes from which a loop may be entered in the present round of the loop around it."""


def nest_of(automaton: Automaton) -> Nest:
    """Return the loops of an automaton by class."""
    entering: dict[int, set[int]] = {}
    for node in automaton.nodes:
        for target in node.targets:
            if target.arrival is Arrival.ENTER:
                header = automaton.nodes[target.node].loops[-1]
                entering.setdefault(header, set()).add(node.number)
    chains = {header: _chain(automaton, header) for header in entering}
    before = {header: _before(automaton, header, chains[header]) for header in entering}
    ranks: dict[int, int] = {}
    inside = {
        header: {node.number for node in automaton.nodes if header in node.loops} for header in entering
    }

    def rank(header: int) -> int:
        if header not in ranks:
            ranks[header] = 0
            earlier = [
                other
                for other in entering
                if other != header and chains[other] == chains[header] and inside[other] & before[header]
            ]
            ranks[header] = 1 + max(map(rank, earlier)) if earlier else 0
        return ranks[header]

    classes = {
        header: (*(rank(outer) for outer in chains[header]), rank(header)) for header in sorted(entering)
    }
    ahead: dict[Class, frozenset[int]] = {}
    for header, nodes in before.items():
        own = classes[header]
        ahead[own] = ahead.get(own, frozenset()) | nodes
    loops = tuple(tuple(classes[header] for header in node.loops) for node in automaton.nodes)
    return Nest(classes, loops, ahead)


def _chain(automaton: Automaton, header: int) -> tuple[int, ...]:
    found: list[int] = []
    while (header := automaton.parents.get(header, -1)) >= 0:
        found.append(header)
    return tuple(reversed(found))


def _before(automaton: Automaton, header: int, chain: Sequence[int]) -> frozenset[int]:
    """Return the nodes from which some thread enters a loop without a new round of the loops around it."""
    behind: dict[int, list[tuple[int, ThreadSet]]] = {}
    found: dict[int, ThreadSet] = {}
    for node in automaton.nodes:
        for target, threads in zip(
            node.targets, node.sides or (node.threads,) * len(node.targets), strict=True
        ):
            arrives = target.arrival in (Arrival.ENTER, Arrival.REPEAT)
            loop = automaton.nodes[target.node].loops[-1] if arrives else -1
            if target.arrival is Arrival.ENTER and loop == header:
                found[node.number] = found.get(node.number, 0) | threads
            elif not arrives or loop not in (*chain, header):
                behind.setdefault(target.node, []).append((node.number, threads))
    waiting = list(found)
    while waiting:
        node_number = waiting.pop()
        for source, threads in behind.get(node_number, ()):
            known = found.get(source, 0)
            now = known | threads & found[node_number]
            if now != known:
                found[source] = now
                waiting.append(source)
    return frozenset(found)


def standing(nest: Nest, node: int, ordinals: Ordinals, loop: Class, outer: Ordinals) -> tuple[Standing, int]:
    """Return where threads are, seen from a loop in the round that `outer` names of those around; and their own round.

    `loop` may be (), for the whole kernel, in which threads are always inside.
    """
    around = nest.loops[node]
    for depth in range(len(loop)):
        wanted = loop[: depth + 1]
        if depth < len(around) and around[depth] == wanted:
            if depth == len(loop) - 1:
                return Standing.INSIDE, ordinals[depth]
            if ordinals[depth] != outer[depth]:
                return (Standing.BEFORE if ordinals[depth] < outer[depth] else Standing.BEHIND), 0
            continue
        is_ahead = node in nest.ahead.get(wanted, ())
        return (Standing.BEFORE if is_ahead else Standing.BEHIND), 0
    return Standing.INSIDE, 0
