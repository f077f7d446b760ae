"""A protocol through the order state of the product: does it hold, and if that is not shown, why not?"""

from __future__ import annotations

from ptxcheck.protocols.model.actions import Action, Protocol
from ptxcheck.protocols.model.axiom import Axiom
from ptxcheck.protocols.order.late_copies import LateCopies
from ptxcheck.protocols.product.operations import Failure
from ptxcheck.protocols.product.order_state import BLOCKED, OrderState
from ptxcheck.protocols.product.setup import Setup, StrandInfo


def setup_of(protocol: Protocol) -> Setup:
    """Return what is the same in all states of a protocol."""
    infos = [StrandInfo(each.cta, each.warp, each.lanes, each.name) for each in protocol.strands]
    return Setup(
        infos,
        [each.actions for each in protocol.strands],
        cluster_threads=protocol.cluster_threads,
        registers=protocol.registers,
        is_straight=True,
        on_two_sides=_Sides(protocol),
    )


class _Sides:
    """Which actions of lanes of a warp are on two sides of a branch, each time that they come to them."""

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self._events: list[dict[Action, list[int]]] = []
        for strand in protocol.strands:
            found: dict[Action, list[int]] = {}
            for action, event in zip(
                strand.actions, strand.events or [-1] * len(strand.actions), strict=True
            ):
                found.setdefault(action, []).append(event)
            self._events.append(found)

    def __call__(self, one: int, action: Action, other: int, its: Action) -> bool:
        cta = self._protocol.strands[one].cta
        return any(
            self._protocol.partings.are_on_two_sides(cta, first, then)
            for first in self._events[one][action]
            for then in self._events[other][its]
        )


def judge_straight(protocol: Protocol) -> tuple[Failure | None, frozenset[Axiom]]:
    """Perform all actions of a protocol, in one order: None when it holds, with the axioms that were taken."""
    state = OrderState(setup_of(protocol))
    failure = _performed(protocol, state)
    return failure, frozenset(axiom for axiom, _ in state.facts.axioms)


def _performed(protocol: Protocol, state: OrderState) -> Failure | None:
    setup = state.setup
    late = LateCopies(protocol)
    positions = [0] * len(protocol.strands)
    ended: set[int] = set()
    while True:
        failure = _move_all(protocol, state, positions, ended)
        if failure is not None:
            return failure
        balanced = state.balanced_by_host()
        if not balanced:
            break
        names = {setup.barriers[each] for each in balanced}
        awaited = [setup.barriers[each] for each in state.awaited()]
        chosen = late.first_to_end(names, positions, awaited)
        settled = state.settle(tuple(sorted(setup.number_of[each] for each in chosen)))
        if isinstance(settled, Failure):
            return settled
    for strand, (at, own) in enumerate(zip(positions, protocol.strands, strict=True)):
        if at < len(own.actions):
            return Failure("deadlock", strand, own.actions[at].point)
    return state.finish()


def _move_all(protocol: Protocol, state: OrderState, positions: list[int], ended: set[int]) -> Failure | None:
    moved = True
    while moved:
        moved = False
        for index, strand in enumerate(protocol.strands):
            while positions[index] < len(strand.actions):
                action = strand.actions[positions[index]]
                result = state.perform(index, action)
                if isinstance(result, Failure):
                    return result
                if result == BLOCKED:
                    break
                positions[index] += 1
                moved = True
            if positions[index] == len(strand.actions) and index not in ended:
                ended.add(index)
                moved = True
                failure = state.end(index)
                if failure is not None:
                    return failure
    return None
