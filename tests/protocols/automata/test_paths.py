"""Each run of the machine is a path of the automaton: the same instructions, with the same numbers."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.automata import ways
from ptxcheck.protocols.automata.automaton import Automaton
from ptxcheck.protocols.automata.environments import Env
from ptxcheck.protocols.automata.nodes import Node
from ptxcheck.protocols.automata.variables import is_of_variables
from ptxcheck.protocols.proof.first.deciding import Answers, Question
from ptxcheck.protocols.symex.interpreter.machine import Machine
from ptxcheck.protocols.symex.values.solver import SolverOracle
from ptxcheck.protocols.symex.values.symbol import Decisions
from ptxcheck.protocols.symex.values.trace import Event, Trace

from ..product.kernels import Given, automaton, of_corpus

KERNELS = (
    "cluster/rows_of_four", "groups/cp_async_three_stages", "handover/three_roles_meet", "leaders/mailbox",
    "persistent/first_step_peeled", "persistent/tiles_and_steps", "pingpong/consumers_in_turn",
    "pingpong/order_barriers", "ring/eight_stages", "ring/elected_thread_loads", "ring/five_stages_by_division",
    "ring/one_stage", "ring/six_stages_by_multiplication", "ring/three_stages", "ring/two_passes",
    "roles/rounds_of_two_warps", "waits/turn_of_all",
)  # fmt: skip
_NUMBERS = ("addr", "parity", "barrier", "count", "mbar", "dst")


@pytest.mark.parametrize("with_variables", [False, True])
@pytest.mark.parametrize("rounds", [0, 1, 2, 5, 9])
@pytest.mark.parametrize("name", KERNELS)
def test_runs_are_paths(
    name: str, rounds: int, with_variables: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if with_variables:
        monkeypatch.setattr(ways, "_MOST_NUMBERS", 1)
    kernel = of_corpus(name)
    made = automaton(kernel)
    trace = _run(kernel, rounds)
    for thread in range(0, kernel.shape.threads, 11):
        own = [event for event in trace.events if event.threads >> thread & 1]
        assert _is_path(made, thread, own), (thread, [event.point for event in own])


def test_another_order_is_no_path() -> None:
    kernel = of_corpus("ring/three_stages")
    made, trace = automaton(kernel), _run(kernel, 2)
    own = [event for event in trace.events if event.threads & 1]
    assert _is_path(made, 0, own)
    assert not _is_path(made, 0, [*own[:-2], own[-1], own[-2]])
    assert not _is_path(made, 0, own[:-1])


def _run(kernel: Given, rounds: int) -> Trace:
    """Run a CTA whose loops go round so often."""

    def choose(question: Question) -> bool:
        if question.stays is None:
            return False
        is_over = question.turns[-1] >= rounds if question.turns else rounds == 0
        return question.stays != is_over

    return Machine(
        kernel.program, kernel.layout, kernel.shape, 0, Decisions(SolverOracle()), Answers(choose)
    ).run()


def _is_path(made: Automaton, thread: int, events: list[Event]) -> bool:
    """Tell whether a thread may do just this on some path."""
    start: tuple[int, int, Env] = (made.entry, 0, ())
    waiting, seen = [start], set[tuple[int, int, Env]]()
    while waiting:
        place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        node, at, env = made.nodes[place[0]], place[1], place[2]
        variant = made.variables.variant(node.number, env)
        assert variant in set(made.variables.variants(node.number))
        happening = made.variables.events(node.number, variant)
        own = [event for event in happening if event.threads >> thread & 1]
        if len(own) > len(events) - at or not all(
            _are_alike(one, other, thread) for one, other in zip(own, events[at:], strict=False)
        ):
            continue
        at += len(own)
        if not node.targets and at == len(events):
            return True
        waiting.extend(
            (node.targets[which].node, at, made.variables.moved(node.number, which, env))
            for which in _nexts(made, node, env, thread)
        )
    return False


def _nexts(made: Automaton, node: Node, env: Env, thread: int) -> list[int]:
    """Return the places of the targets that a thread may go to."""
    if node.sides:
        return [which for which, side in enumerate(node.sides) if side >> thread & 1]
    if node.question is not None and is_of_variables(node.question.truth):
        return [0 if made.variables.truth(node.number, env) else 1]
    return list(range(len(node.targets)))


def _are_alike(one: Event, other: Event, thread: int) -> bool:
    if one.point != other.point or (one.access is None) != (other.access is None):
        return False
    for name in _NUMBERS:
        first, second = one.operands.get(name), other.operands.get(name)
        if isinstance(first, int) and isinstance(second, int) and first != second:
            return False
    return True
