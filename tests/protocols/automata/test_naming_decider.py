"""Predicates by name: what an unsigned comparison takes for granted is noted, however it was answered."""

from __future__ import annotations

from ptxcheck.protocols.automata.naming_decider import NamingDecider
from ptxcheck.protocols.symex.values.kinds import Kind
from ptxcheck.protocols.symex.values.lane_arithmetic import compare
from ptxcheck.protocols.symex.values.symbol import Atom, Form, atom

SIZE = atom(Kind.PARAM, "size", 0, 4)
ONE_THREAD = 1
POINT = 7


def below(bound: int, *, signed: bool) -> Form:
    found = compare(".lt" if signed else ".lo", SIZE, bound, 32, signed_operands=signed)
    assert isinstance(found, Form)
    return found


def test_a_signed_answer_serves_an_unsigned_question_of_a_size_that_is_noted() -> None:
    sizes: dict[Atom, int] = {}
    decider = NamingDecider(32, sizes)
    decider.answers = {below(5, signed=True): True}
    assert decider.known(below(5, signed=False), ONE_THREAD, POINT) == ONE_THREAD
    assert sizes == {SIZE.terms[0][0]: POINT}


def test_without_sizes_the_sign_has_to_be_answered() -> None:
    decider = NamingDecider(32)
    decider.answers = {below(5, signed=True): True}
    assert decider.known(below(5, signed=False), ONE_THREAD, POINT) is None
    decider.answers[below(0, signed=True)] = False
    assert decider.known(below(5, signed=False), ONE_THREAD, POINT) == ONE_THREAD
    decider.answers[below(0, signed=True)] = True
    assert decider.known(below(5, signed=False), ONE_THREAD, POINT) == 0
