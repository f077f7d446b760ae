"""What a run shows beside its events: registers at the heads of loops, comparisons, and in which round events are.

Property: what is noted is what threads held and compared in the run, in the round that they were in.

Argument: the machine notes it where it happens, and drops what it makes again.

Not covered: code whose sides are both run though threads take one of them: nothing is noted there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ....ir import Register
from ..values.symbol import Form, Value
from ..values.trace import ThreadSet

Turns: TypeAlias = Mapping[int, int]
"""How often each loop around a place, by its header, has started anew."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One execution of `setp` by threads that act together."""

    point: int
    threads: ThreadSet
    turns: Turns
    left: Value
    right: Value


@dataclass(slots=True)
class Observation:
    """What one CTA shows in one run. The machine fills it; without one it notes nothing."""

    carried: Mapping[int, tuple[Register, ...]]
    """Registers to note at the header of each loop."""
    heads: dict[tuple[int, ThreadSet], dict[int, tuple[Value | None, ...]]] = field(default_factory=dict)
    """By header and threads, for each round: the registers, None where threads hold different symbols."""
    _entered: dict[int, ThreadSet] = field(default_factory=dict)
    entered_again: set[int] = field(default_factory=set)
    """Headers of loops that some threads have entered more than once."""
    comparisons: list[Comparison] = field(default_factory=list)
    rounds: list[Turns] = field(default_factory=list)
    """For each event, the rounds that its threads are in."""
    used: set[Form] = field(default_factory=set)
    """Symbols that operands of events depended on, before decisions made them numbers."""

    def at_head(self, header: int, turns: Turns, threads: ThreadSet, values: Iterable[Value | None]) -> None:
        """Note the carried registers of threads that start a round."""
        rounds = self.heads.setdefault((header, threads), {})
        turn = turns.get(header, 0)
        if not turn:
            if self._entered.get(header, 0) & threads:
                self.entered_again.add(header)
            self._entered[header] = self._entered.get(header, 0) | threads
        rounds[turn] = tuple(values)

    def compared(self, point: int, threads: ThreadSet, turns: Turns, left: Value, right: Value) -> None:
        """Note a comparison."""
        self.comparisons.append(Comparison(point, threads, dict(turns), left, right))

    def recorded(self, turns: Turns) -> None:
        """Note the round of the next event."""
        self.rounds.append(dict(turns))

    def use(self, value: Value) -> None:
        """Note what an operand depended on."""
        if isinstance(value, Form):
            self.used.add(value)


def most_rounds(observations: Iterable[Observation]) -> int:
    """Return the most rounds of a loop in which something is synchronised."""
    turns = (turn for seen in observations for rounds in seen.rounds for turn in rounds.values())
    return 1 + max(turns, default=-1)
