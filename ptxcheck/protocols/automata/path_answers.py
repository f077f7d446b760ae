"""What threads have answered on every way from where they parted to an end.

Property: a predicate that `answered` gives for an end has this truth there, if what it is about is what it was where
the threads parted.

Argument: a forward analysis over the nodes that were built since: an answer holds at a node if it does on every edge
that comes there. Only predicates on what was known where threads parted are looked at: none is asked of another round.

Not covered: which numbers follow from several answers together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from ..symex.values.lane_arithmetic import negate
from ..symex.values.symbol import Form
from .nodes import Node, Target

_Answers: TypeAlias = frozenset[tuple[Form, bool]]


def answered(
    nodes: Sequence[Node], first: int, ends: Collection[Target], wanted: Collection[Form]
) -> list[Mapping[Form, bool]]:
    """Return which of the wanted predicates are known at each end, behind a node that threads began with."""
    answers: dict[int, tuple[_Answers, _Answers]] = {}
    known: dict[int, _Answers] = {first: frozenset()}
    by_end: dict[int, _Answers] = {}
    slots = {id(end) for end in ends}
    waiting = [first]
    while waiting:
        node = nodes[waiting.pop()]
        if node.question is not None and node.number not in answers:
            answers[node.number] = (
                _answer(node.question.truth, True, wanted),
                _answer(node.question.truth, False, wanted),
            )
        for which, target in enumerate(node.targets):
            behind = known[node.number]
            if node.question is not None:
                behind |= answers[node.number][which]
            if target.node < 0:
                if id(target) in slots:
                    by_end[id(target)] = behind
                continue
            before = known.get(target.node)
            now = behind if before is None else before & behind
            if now != before:
                known[target.node] = now
                waiting.append(target.node)
    return [dict(by_end.get(id(end), ())) for end in ends]


def _answer(truth: Form, answer: bool, wanted: Collection[Form]) -> _Answers:
    """Return what an answer tells of the wanted predicates."""
    opposite = negate(truth)
    said = [(truth, answer)] + ([(opposite, not answer)] if isinstance(opposite, Form) else [])
    return frozenset((form, value) for form, value in said if form in wanted)
