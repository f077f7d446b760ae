"""Approximations that a run rests on, each noted once at each place.

Property: what was noted first of a kind at a point stays, in the order in which it came up.

Argument: `Assumptions` keeps a dictionary by kind and point (and text, where that names sizes), and never
replaces an entry.

Not covered: whether a run needs what it notes: rather too much than too little.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from ....verdict import AssumptionKind
from .symbol import Condition, Form
from .trace import Assumption, AssumptionKey

Assume = Callable[[AssumptionKind, str, int], None]
"""Told of each approximation that a verdict rests on: kind, text and point."""

READ_ALIKE = "all roles read the same values from shared memory, in the same order"
"""What is taken for granted where a number from shared memory says what threads do, or how many bytes are counted."""

IN_WHOLE_CLUSTERS = "work comes in whole clusters: the CTAs of a cluster take the same way"


class Range(Enum):
    """The least number of 32 bits of a type, and the first one behind the largest."""

    SIGNED = -(1 << 31), 1 << 31
    UNSIGNED = 0, 1 << 32

    @property
    def least(self) -> int:
        return self.value[0]

    @property
    def end(self) -> int:
        return self.value[1]


def unwritten_text(register: str) -> str:
    """Return why a run proves nothing that depends on a register without a value."""
    return f"depends on {register}, which some thread has not written"


class Assumptions:
    """The approximations of one CTA in one run."""

    def __init__(self) -> None:
        self._found: dict[AssumptionKey, Assumption] = {}
        self._fits: dict[tuple[Condition, bool], None] = {}

    def note(self, kind: AssumptionKind, text: str, point: int) -> None:
        """Note an approximation that a verdict rests on."""
        found = Assumption(kind, text, point)
        self._found.setdefault(found.key, found)

    def note_fits(self, value: Form, types: Range) -> None:
        """Note a number that stands for a register only where it is in a range."""
        self._fits[Condition("lt", value, types.least), False] = None
        self._fits[Condition("lt", value, types.end), True] = None

    @property
    def fits(self) -> tuple[tuple[Condition, bool], ...]:
        """What must hold of numbers for the run to be one of the machine, in order."""
        return tuple(self._fits)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._found)

    def forget_since(self, count: int) -> None:
        """Forget all but the first that were noted."""
        for key in list(self._found)[count:]:
            del self._found[key]

    @property
    def all(self) -> tuple[Assumption, ...]:
        """What was noted, in order."""
        return tuple(self._found.values())
