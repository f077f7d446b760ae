"""Directions that some questions read as signed numbers and others as unsigned ones: each reading has its own name.

Property: of two questions on one direction, either both read its numbers alike, or one of them has another direction
now, or its parameters are given as not negative.

Argument: a direction is an integer. Below 2^31 both readings are that integer. From there on they are two, of which
nothing relates the one to the other here: there is more freedom than the kernel has. Equality is about either: where
rounds are counted until a negative number is met, no end is found, as none is for the integer. An unsigned quotient of
a signed one stays a direction of its own.

Not covered: what a number that is not negative in its signed reading tells of the unsigned one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..automata.nodes import Node
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


def read_both_ways(asked: Mapping[At, Asked], nodes: Mapping[At, Node]) -> Mapping[Terms, int]:
    """Return the directions that are read in both ways, and where one of the questions is."""
    read: dict[Terms, tuple[Reading, int]] = {}
    found: dict[Terms, int] = {}
    for at, each in asked.items():
        if isinstance(each, Below) and any(may_be_negative(name) for name, _ in each.terms):
            question = nodes[at].question
            assert question is not None
            reading = _reading(each, question.truth)
            first, point = (
                read.setdefault(each.terms, (reading, question.point)) if reading else (reading, -1)
            )
            if first is not reading:
                found.setdefault(each.terms, point)
    return found


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


__all__ = ["At", "Given", "read_apart", "read_both_ways", "reads_unsigned", "sizes_of"]
