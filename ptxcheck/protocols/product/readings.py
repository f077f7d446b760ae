"""Directions that some questions read as signed numbers and others as unsigned ones: each reading has its own name.

Property: of two questions on one direction, either both read its numbers alike, or one of them has another direction
now, or its parameters are given as not negative.

Argument: a direction is an integer. Below 2^31 both readings are that integer. From there on they are two, of which
nothing relates the one to the other here: there is more freedom than the kernel has. Equality is about either: where
rounds are counted until a negative number is met, no end is found, as none is for the integer. An unsigned quotient of
a signed one stays a direction of its own. Where each way to a question has an answer that the number is not negative as
a signed one, both readings are one: compilers leave the sign out of a loop that a signed comparison guards.

Not covered: what other threads have found of the sign.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..automata.automaton import Automaton
from ..automata.nodes import Node
from ..symex.values.comparison_marks import Change
from ..symex.values.kinds import Kind
from ..symex.values.readings import Reading, reading_of
from ..symex.values.symbol import Atom, Form
from ..symex.values.traversal import walk
from ..symex.values.wraparound import may_be_negative, sizes_in
from .questions import Asked, Below, Free, Terms

At = tuple[int, int]
"""An automaton, and one of its nodes."""


@dataclass(frozen=True, slots=True)
class Given:
    """What is known of parameters from the start."""

    least: Mapping[Atom, int] = field(default_factory=dict)
    takes_sizes: bool = False
    """Whether those that are read in both ways are taken not to be negative."""
    in_whole_clusters: bool = False
    """Whether CTAs of a cluster are taken to get one answer to what they ask of the host."""


def read_both_ways(
    asked: Mapping[At, Asked], nodes: Mapping[At, Node], naturals: Collection[At] = ()
) -> Mapping[Terms, int]:
    """Return the directions that are read in both ways, and where one of the questions is.

    `naturals`: questions on numbers that are not negative, of which both readings are one.
    """
    read: dict[Terms, tuple[Reading, int]] = {}
    found: dict[Terms, int] = {}
    for at, each in asked.items():
        if (
            at not in naturals
            and isinstance(each, Below)
            and any(may_be_negative(name) for name, _ in each.terms)
        ):
            question = nodes[at].question
            assert question is not None
            reading = _reading(each, question.truth)
            first, point = (
                read.setdefault(each.terms, (reading, question.point)) if reading else (reading, -1)
            )
            if first is not reading:
                found.setdefault(each.terms, point)
    return found


def read_as_naturals(
    automata: Sequence[Automaton], asked: Mapping[At, Asked], both: Collection[Terms]
) -> frozenset[At]:
    """Return the questions on some directions that are asked where these are known not to be negative."""
    found: set[At] = set()
    for number, automaton in enumerate(automata):
        own = {node: each for (other, node), each in asked.items() if other == number}
        for terms in both:
            of_terms = {n: e for n, e in own.items() if isinstance(e, Below) and e.terms == terms}
            reached = _before_it_is_natural(automaton, of_terms)
            found |= {(number, node) for node in of_terms.keys() - reached if _is_alone(of_terms[node])}
    return frozenset(found)


def _before_it_is_natural(automaton: Automaton, asked: Mapping[int, Below]) -> set[int]:
    """Return the nodes that some way leads to with no answer that a direction is not negative as a signed number."""
    found: set[int] = set()
    waiting = [automaton.entry]
    while waiting:
        number = waiting.pop()
        if number in found:
            continue
        found.add(number)
        node = automaton.nodes[number]
        each = asked.get(number)
        natural_if = None if each is None or reads_unsigned(each, node) else _natural_if(each)
        answers = (None,) * len(node.targets) if natural_if is None else (True, False)
        ways = zip(answers, node.targets, strict=True)
        waiting += [
            way.node for answer, way in ways if way.node >= 0 and (answer is None or answer != natural_if)
        ]
    return found


def _natural_if(asked: Below) -> bool | None:
    """Return the answer that tells that a direction is not negative, None where neither does."""
    is_from_zero_on = asked.constant >= 0 and all(slope >= 0 for _, slope in asked.slopes)
    is_exact = is_from_zero_on and not asked.changes
    return not asked.positive if is_exact and not asked.equal and not asked.held else None


def _is_alone(asked: Below) -> bool:
    """Tell whether a direction is one side of a comparison: of a sum, one that rounds alone are compared with."""
    is_sum_of_rounds = all(factor > 0 for _, factor in asked.terms) and all(
        slope > 0 for _, slope in asked.slopes
    )
    return not asked.held and (len(asked.terms) == 1 or (bool(asked.slopes) and is_sum_of_rounds))


def lowered(automata: Sequence[Automaton], asked: Mapping[At, Asked]) -> frozenset[At]:
    """Return the questions before which something is taken away from a number that may be negative there."""
    found = {
        at: each for at, each in asked.items() if isinstance(each, Below) and each.changes & Change.LOWERED
    }
    naturals = read_as_naturals(automata, asked, {each.terms for each in found.values()})
    return frozenset(found.keys() - naturals)


def sizes_of(terms: Terms) -> frozenset[Atom]:
    """Return the parameters for which both readings of a direction are one; none where there are no such."""
    return sizes_in(Form(tuple((name, abs(factor)) for name, factor in terms))) or frozenset()


def read_apart(each: Below, node: Node) -> Below | Free:
    """Return a question on a direction that is read in both ways, with a name for its unsigned reading."""
    if not reads_unsigned(each, node):
        return each
    if each.held:
        return Free()
    return replace(
        each, terms=tuple((Atom((Kind.UNSIGNED, name), name.differs), k) for name, k in each.terms)
    )


def reads_unsigned(each: Below, node: Node) -> bool:
    """Tell whether a question reads its direction as an unsigned number."""
    assert node.question is not None
    return _reading(each, node.question.truth) is Reading.UNSIGNED


def _reading(asked: Below, truth: Form) -> Reading | None:
    """Return how a question reads its direction; None where that makes no difference."""
    if asked.equal:
        return None
    return next((reading for reading in map(reading_of, walk(truth.terms)) if reading is not None), None)


__all__ = [
    "At",
    "Given",
    "lowered",
    "read_apart",
    "read_as_naturals",
    "read_both_ways",
    "reads_unsigned",
    "sizes_of",
]
