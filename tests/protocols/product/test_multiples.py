"""Thresholds on a multiple that cannot wrap around are thresholds on the number itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ptxcheck.protocols.automata.nodes import Node, Question
from ptxcheck.protocols.automata.round_names import ordinal
from ptxcheck.protocols.product.questions import Asked, Below, classified
from ptxcheck.protocols.symex.values.kinds import Kind
from ptxcheck.protocols.symex.values.symbol import Form, atom

HEADER = 7
N = atom(Kind.PARAM, "n", 0, 4).terms[0][0]
RELATIONS = {
    ".lt": lambda x: x < 0, ".le": lambda x: x <= 0, ".gt": lambda x: x > 0, ".ge": lambda x: x >= 0,
    ".eq": lambda x: x == 0, ".ne": lambda x: x != 0,
}  # fmt: skip


def asked(relation: str, factor: int, rate: int, constant: int, shift: int = 6) -> Asked:
    number = atom(Kind.SAR, N, shift, 32).terms[0][0]
    rounds = ordinal(HEADER).terms[0][0]
    terms = [(number, factor), *([(rounds, rate)] if rate else [])]
    form = Form(tuple(sorted(terms, key=lambda term: term[0].digest)), constant)
    truth = atom(Kind.CMP, relation, form.terms, form.constant)
    return classified(Node(0, 0, 1, (HEADER,), (0,), question=Question(0, truth, 1)), 1)


@given(
    st.sampled_from(sorted(RELATIONS)), st.sampled_from([-6, -4, -3, -2, -1, 1, 2, 3, 4, 6]),
    st.integers(-3, 3), st.integers(-40, 40), st.integers(-30, 30), st.integers(0, 9),
)  # fmt: skip
def test_a_multiple_is_below_where_the_number_is(
    relation: str, factor: int, steps: int, constant: int, number: int, rounds: int
) -> None:
    found = asked(relation, factor, factor * steps, constant)
    holds = RELATIONS[relation](factor * number + factor * steps * rounds + constant)
    if isinstance(found, bool):
        assert found == holds
        return
    assert isinstance(found, Below)
    threshold = found.threshold({HEADER: rounds})
    below = number == threshold if found.equal else number < threshold
    assert (below == found.positive) == holds


def test_what_may_wrap_around_or_counts_in_other_steps_is_no_threshold() -> None:
    assert isinstance(asked(".lt", 32, 0, -9), Below)
    assert not isinstance(asked(".lt", 64, 0, -9), Below)
    assert not isinstance(asked(".lt", 2, -1, -9), Below)
    assert not isinstance(asked(".lt", 2, 0, -9, shift=0), Below)
