"""States of an exploration, turned so that one strand stands in the first slot of its ring.

Property: what `Rings.turn` makes of a state, and the state itself, do the same next, up to a turn.

Argument: see `ring_turns`. A strand that stands in a ring says how far all is turned, so that states which differ by a
turn alone come out as one.

Not covered: rings in which nobody stands: such a state stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from ..automata.environments import Env
from .decisions import Decisions, are_of_numbers
from .order_state import OrderState
from .received import Contents, Receiving
from .setup import Setup
from .state import Facts
from .turns import Turn

_BEFORE_TURNS = 16
"""States that are explored before turns of rings are looked for."""


class Standing(Protocol):
    """Where a strand is."""

    node: int
    env: Env
    ended: bool


class Turnable(Protocol):
    """A state of an exploration."""

    decisions: Decisions
    order: OrderState
    received: Contents
    withheld: tuple[int, ...]
    """Mbarriers."""

    @property
    def strands(self) -> Sequence[Standing]: ...


class Rings:
    """The turns of one kernel, and how often each is made."""

    def __init__(self, find: Callable[[], Iterable[Turn]]) -> None:
        """`find` looks for turns: that is done where there are so many states that it is worth it."""
        self._find = find
        self.powers: list[list[Turn]] | None = None
        """Each turn, made once, twice and so on; None before they were looked for."""
        self._has_turned = False

    def turn(self, state: Turnable, seen: int) -> bool:
        """Turn a state in place, where so many have been seen before; tell whether it is another one then."""
        if seen < _BEFORE_TURNS or are_of_numbers(state.decisions):
            return False
        if self.powers is None:
            self.powers = [[turn] for turn in self._find()]
        changed = False
        for powers in self.powers:
            times = _times(powers[0], state.strands)
            changed |= bool(times) and turned(state, _power(powers, times))
        self._has_turned |= changed
        return changed

    def complete(self, facts: Facts, setup: Setup) -> None:
        """Let what was found of bytes in one slot be said of all of them."""
        if not self._has_turned:
            return
        waiting = list(facts.equations.items())
        for (_, expected, completed), equation in waiting:
            for powers in self.powers or ():
                barrier = setup.barriers[powers[0].barriers[setup.number_of[equation.barrier]]]
                key = barrier, expected, completed
                if key not in facts.equations:
                    facts.equations[key] = replace(equation, barrier=barrier)
                    waiting.append((key, facts.equations[key]))


def turned(state: Turnable, turn: Turn) -> bool:
    """Make a turn of a state in place; False where it does not move all of it."""
    envs = _envs(turn, state.strands)
    received = None if envs is None else Receiving.turned(state.received, turn)
    order = None if received is None else state.order.turned(turn)
    if envs is None or received is None or order is None:
        return False
    state.order, state.received = order, received
    state.withheld = tuple(sorted(turn.barriers[number] for number in state.withheld))
    for strand, env in zip(state.strands, envs, strict=True):
        strand.env = env
    return True


def _times(turn: Turn, strands: Sequence[Standing]) -> int:
    """Return how often a turn has to be made until the first strand in the ring has its least numbers."""
    for strand, moves in zip(strands, turn.strands, strict=True):
        here = None if strand.ended else moves.of(strand.node, strand.env)
        if here is None or here == strand.env:
            continue
        least, times, count = strand.env, 0, 1
        while here is not None and here != strand.env:
            if here < least:
                least, times = here, count
            here, count = moves.of(strand.node, here), count + 1
        return times if here is not None else 0
    return 0


def _envs(turn: Turn, strands: Sequence[Standing]) -> list[Env] | None:
    """Return the numbers of all strands behind a turn; None where one of them is not turned."""
    found: list[Env] = []
    for strand, moves in zip(strands, turn.strands, strict=True):
        env = strand.env if strand.ended else moves.of(strand.node, strand.env)
        if env is None:
            return None
        found.append(env)
    return found


def _power(powers: list[Turn], times: int) -> Turn:
    while len(powers) < times:
        powers.append(powers[-1].then(powers[0]))
    return powers[times - 1]


__all__ = ["Rings", "turned"]
