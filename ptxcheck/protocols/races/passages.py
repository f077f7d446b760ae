"""Which round of each loop a thread is in, seen from the start of a barrier interval."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Round(Enum):
    """A round of one loop."""

    HELD = "held"
    """The round in which the interval begins: the same for all threads, as the loop meets in each round."""
    FIRST = "first"
    """The first round of a loop that the interval enters."""
    NEXT = "next"
    """The round after the one in `Passage.before`."""
    ANY = "any"
    """Some round; threads need not be in the same."""


@dataclass(frozen=True, slots=True)
class Passage:
    """The round of one loop, and for the next round what held in the round before."""

    round: Round
    before: Context | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """The rounds of the loops, by their index, that a thread is in or has left since the interval began.

    Loops that are not named were left before that.
    """

    passages: tuple[tuple[int, Passage], ...] = ()

    def of(self, loop: int) -> Passage | None:
        return next((passage for index, passage in self.passages if index == loop), None)

    def within(self, loop: int, passage: Passage, dropped: frozenset[int] = frozenset()) -> Context:
        """Return the context with another round of a loop; of the loops inside nothing is known then."""
        kept = tuple(each for each in self.passages if each[0] != loop and each[0] not in dropped)
        return Context(tuple(sorted((*kept, (loop, passage)), key=lambda each: each[0])))
