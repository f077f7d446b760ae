"""Questions of groups: one answer for all of their strands, as long as all hold one number."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.model.mechanisms import MEANINGS
from ptxcheck.protocols.product.decisions import AskedAgainError, Decisions
from ptxcheck.protocols.product.question_sites import Questions
from ptxcheck.protocols.product.questions import Below, Free, OfStrand, Polled
from ptxcheck.protocols.product.readings import Given
from ptxcheck.protocols.product.roles import roles_of
from ptxcheck.terms.effort import Effort

from ..corpus_runs import view_of
from .kernels import automaton, of_corpus


def questions_of(name: str) -> Questions:
    made = automaton(of_corpus(name))
    roles = roles_of(view_of(name).cfg, (made,), MEANINGS, lambda *_: None, (), Effort(6.0))
    return Questions((made,), roles, {}, Given())


def test_who_asks_again_before_the_others_have_the_answer_is_not_followed() -> None:
    questions = questions_of("roles/rounds_of_two_warps.what_the_last_round_left")
    node = next(node for node, asked in questions.asked() if isinstance(asked, Free))
    decisions = Decisions(questions)
    ordinals = (0,) * len(node.loops)
    assert decisions.decide(0, node, ordinals, True)
    assert decisions.answer(0, node, ordinals, 0)
    assert decisions.answer(0, node, ordinals, 0) is None
    with pytest.raises(AskedAgainError):
        decisions.decide(0, node, ordinals, False)
    assert decisions.answer(0, node, ordinals, 1)


def test_behind_a_poll_each_strand_decides_alone() -> None:
    asked = [each for _, each in questions_of("waits/polls_in_each_round").asked()]
    assert any(isinstance(each, Polled) for each in asked)
    assert any(isinstance(each, OfStrand) for each in asked)
    assert not any(isinstance(each, Free) for each in asked)
    assert any(
        isinstance(each, Free)
        for _, each in questions_of("roles/rounds_of_two_warps.what_the_last_round_left").asked()
    )


def test_what_threads_hold_for_a_round_is_one_number_in_that_round_alone() -> None:
    questions = questions_of("waits/turn_of_all")
    node = next(n for n, asked in questions.asked() if isinstance(asked, Below) and asked.held)
    decisions = Decisions(questions)
    assert decisions.decide(0, node, (3,), True)
    assert [decisions.answer(0, node, (3,), strand) for strand in range(3)] == [True] * 3
    assert decisions.answer(0, node, (4,), 0) is None
    assert decisions.decide(0, node, (4,), False)
    assert decisions.answer(0, node, (3,), 0)
    assert not [*decisions.known()], "it is no number that the host passes"


def test_a_count_that_is_loaded_has_thresholds() -> None:
    """The consumer has asked whether there is a first step; the producer asks in its loop."""
    questions = questions_of("persistent/steps_from_a_table")
    held = [(node, asked) for node, asked in questions.asked() if isinstance(asked, Below) and asked.held]
    assert len({asked.terms for _, asked in held}) == 1
    first = next(node for node, asked in held if not asked.slopes)
    others = [node for node, asked in held if asked.slopes]
    decisions = Decisions(questions)
    assert decisions.decide(0, first, (2,), True)
    for node in others:
        assert decisions.answer(0, node, (2, 0), 0) is not None
        assert decisions.answer(0, node, (3, 0), 0) is None
