"""Variables have the numbers that the edges of an automaton give them."""

from __future__ import annotations

import pytest

from ptxcheck.ir import Register
from ptxcheck.opcodes.op import Op
from ptxcheck.protocols.automata.environments import Variables
from ptxcheck.protocols.automata.nodes import Arrival, Node, Question, Target
from ptxcheck.protocols.automata.variables import NumbersNeededError, is_of_variables, variable
from ptxcheck.protocols.symex.values import lane_arithmetic as lanes
from ptxcheck.protocols.symex.values.kinds import Kind
from ptxcheck.protocols.symex.values.symbol import Atom, Form, Value, atom
from ptxcheck.protocols.symex.values.trace import Event

STAGE, PARITY = variable(1, Register("stage"), 1), variable(1, Register("parity"), 1)


def _form(name: Atom) -> Form:
    return Form(((name, 1),))


def _next_stage(stages: int) -> Value:
    following = lanes.add(_form(STAGE), 1, 32)
    wraps = lanes.compare(".eq", following, stages, 32, signed_operands=True)
    return lanes.choose(wraps, 0, following, 32)


def _next_parity(stages: int) -> Value:
    following = lanes.add(_form(STAGE), 1, 32)
    wraps = lanes.compare(".eq", following, stages, 32, signed_operands=True)
    return lanes.choose(wraps, lanes.bitwise(Op.XOR, _form(PARITY), 1), _form(PARITY), 32)


def _ring(stages: int, leaves: Form | None = None, stage: Value | None = None) -> list[Node]:
    """Return nodes that go round a ring, and leave it where a predicate holds."""
    entry, body, end = Node(0, 0, 1, (), ()), Node(1, 1, 1, (), ()), Node(2, 2, 1, (), ())
    entry.targets = (Target(1, Arrival.MOVE, ((STAGE, 0), (PARITY, 0))),)
    address = lanes.add(lanes.multiply(_form(STAGE), 8, 32), 1024, 32)
    body.events = (Event(0, 7, 1, {"addr": address, "parity": _form(PARITY)}, 1),)
    following = _next_stage(stages) if stage is None else stage
    parity = _next_parity(stages)
    assert isinstance(following, Form | int)
    assert isinstance(parity, Form | int)
    body.targets = (
        Target(2, Arrival.MOVE),
        Target(1, Arrival.MOVE, ((STAGE, following), (PARITY, parity))),
    )
    truth = atom(Kind.SETP, "free") if leaves is None else leaves
    body.question = Question(9, truth, 1)
    return [entry, body, end]


def test_a_ring_has_its_stages_with_both_parities() -> None:
    made = Variables(_ring(3), 0, 32)
    places = {
        (event.operands["addr"], event.operands["parity"])
        for variant in made.variants(1)
        for event in made.events(1, variant)
    }
    assert places == {(1024 + 8 * stage, parity) for stage in range(3) for parity in range(2)}
    env = made.moved(0, 0, ())
    came = []
    for _ in range(7):
        (event,) = made.events(1, made.variant(1, env))
        came.append((event.operands["addr"], event.operands["parity"]))
        env = made.moved(1, 1, env)
    assert came == [(1024, 0), (1032, 0), (1040, 0), (1024, 1), (1032, 1), (1040, 1), (1024, 0)]
    assert made.moved(1, 0, env) == (), "nobody reads them behind the ring"


def test_a_question_about_variables_has_one_answer() -> None:
    last = lanes.compare(".eq", _form(STAGE), 2, 32, signed_operands=True)
    assert isinstance(last, Form)
    made = Variables(_ring(8, leaves=last), 0, 32)
    env = made.moved(0, 0, ())
    answers = []
    for _ in range(3):
        answers.append(made.truth(1, env))
        env = made.moved(1, 1, env)
    assert answers == [False, False, True]
    stages = {event.operands["addr"] for each in made.variants(1) for event in made.events(1, each)}
    assert stages == {1024, 1032, 1040}, "no stage behind the one with which the ring is left"


def test_numbers_without_end_are_no_variables() -> None:
    with pytest.raises(NumbersNeededError) as raised:
        Variables(_ring(4, stage=lanes.add(_form(STAGE), 1, 32)), 0, 32)
    assert raised.value.names == {STAGE}


def test_negative_numbers_are_no_variables() -> None:
    with pytest.raises(NumbersNeededError):
        Variables(_ring(4, stage=lanes.subtract(_form(STAGE), 1, 32)), 0, 32)


def test_what_nobody_has_given_a_number() -> None:
    nodes = _ring(2)
    nodes[0].targets = (Target(1, Arrival.MOVE, ((STAGE, 0),)),)
    with pytest.raises(NumbersNeededError) as raised:
        Variables(nodes, 0, 32)
    assert raised.value.names == {PARITY}


def test_what_depends_on_something_else_is_not_of_variables() -> None:
    size = atom(Kind.PARAM, "n", 0, 4)
    assert is_of_variables(lanes.add(_form(STAGE), 1, 32))
    assert is_of_variables(7)
    assert not is_of_variables(lanes.add(_form(STAGE), size, 32))
    assert not is_of_variables(size)
    assert not is_of_variables(atom(Kind.LOAD, _form(STAGE), 32))


def test_a_variable_that_is_given_a_negative_number_has_to_be_a_number() -> None:
    with pytest.raises(NumbersNeededError) as raised:
        Variables(_ring(3, stage=0xFFFFFFFF), 0, 32)
    assert raised.value.names == {STAGE}
