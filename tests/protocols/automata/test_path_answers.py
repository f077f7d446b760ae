"""An answer is known where threads come in several ways only if each of the ways has given it."""

from __future__ import annotations

from ptxcheck.protocols.automata.nodes import Node, Question, Target
from ptxcheck.protocols.automata.path_answers import answered
from ptxcheck.protocols.symex.values.kinds import Kind
from ptxcheck.protocols.symex.values.lane_arithmetic import compare, negate
from ptxcheck.protocols.symex.values.symbol import Form, atom

SIZE = atom(Kind.PARAM, "n", 0, 4)
_last = compare(".eq", SIZE, 3, 32, signed_operands=True)
assert isinstance(_last, Form)
LAST = _last


def _nodes(*targets: tuple[int, ...], asks: dict[int, Form]) -> list[Node]:
    """Return nodes with these targets, of which some ask."""
    nodes = [Node(number, number, 1, (), ()) for number in range(len(targets))]
    for node, own in zip(nodes, targets, strict=True):
        node.targets = tuple(Target(each) for each in own)
        if node.number in asks:
            node.question = Question(9, asks[node.number], 1)
    return nodes


def test_each_side_knows_its_answer() -> None:
    nodes = _nodes((1, 2), (-1,), (-1,), asks={0: LAST})
    ends = [*nodes[1].targets, *nodes[2].targets]
    assert answered(nodes, 0, ends, {LAST}) == [{LAST: True}, {LAST: False}]
    assert answered(nodes, 0, ends, ()) == [{}, {}]


def test_what_only_one_way_has_answered_is_not_known() -> None:
    other = atom(Kind.SETP, "other")
    nodes = _nodes((1, 2), (3, 3), (3,), (-1,), asks={0: other, 1: LAST})
    assert answered(nodes, 0, nodes[3].targets, {LAST}) == [{}]


def test_a_further_round_takes_answers_back() -> None:
    nodes = _nodes((1,), (2, -1), (1,), asks={1: LAST})
    assert answered(nodes, 0, nodes[1].targets[1:], {LAST}) == [{LAST: False}]
    free = atom(Kind.SETP, "free")
    nodes = _nodes((1, 2), (2,), (-1, 0), asks={0: LAST, 2: free})
    assert answered(nodes, 0, nodes[2].targets[:1], {LAST}) == [{}]


def test_who_says_no_to_the_opposite_knows_it() -> None:
    opposite = negate(LAST)
    assert isinstance(opposite, Form)
    nodes = _nodes((-1, -1), asks={0: opposite})
    assert answered(nodes, 0, nodes[0].targets, {LAST}) == [{LAST: False}, {LAST: True}]
