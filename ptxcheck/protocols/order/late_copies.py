"""Which phases of symbolic bytes to end where nothing moves: not one for which more copies are still to be started.

Property: of the phases that could end if the host says that their bytes balance, those are ended first that a strand
waits for and that no strand has another copy for.

Argument: an operand may be announced with another one and be copied later, behind a wait for something else. A copy
of a later phase is announced first, so the next thing that a strand does to the mbarrier tells which of them its copy
is.

Not covered: this is a choice of schedule and proves nothing. A wrong choice leaves an equation that no host meets, or
a problem; `phases` checks the phases that come of it like any others.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from ..model.actions import (
    Arrive,
    AsyncArrive,
    Barrier,
    Expect,
    Protocol,
    Transfer,
    Wait,
)

_Uses = tuple[list[int], list[bool]]
"""Numbers of actions on an mbarrier, and which of them are copies."""


class LateCopies:
    """What strands do to mbarriers from where they are."""

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol

    def first_to_end(
        self, symbolic: AbstractSet[Barrier], positions: Sequence[int], awaited: Iterable[Barrier]
    ) -> AbstractSet[Barrier]:
        """Return the mbarriers whose phases end first, of some with symbolic bytes.

        Those that a strand waits for come before others, and of them those that no strand has a copy for.
        """
        asked = symbolic & set(awaited)
        complete = frozenset(each for each in asked if not self._is_copied_to(each, positions))
        return complete or asked or symbolic

    def _is_copied_to(self, barrier: Barrier, positions: Sequence[int]) -> bool:
        """Tell whether the next that some strand does to an mbarrier is a copy."""
        for strand, (numbers, copies) in self._uses.get(barrier, {}).items():
            place = bisect_left(numbers, positions[strand])
            if place < len(numbers) and copies[place]:
                return True
        return False

    @cached_property
    def _uses(self) -> dict[Barrier, dict[int, _Uses]]:
        found: dict[Barrier, dict[int, _Uses]] = {}
        for index, strand in enumerate(self._protocol.strands):
            for number, action in enumerate(strand.actions):
                match action:
                    case Transfer():
                        names = [name for name, _ in action.completes]
                    case Arrive() | AsyncArrive() | Expect() | Wait():
                        names = [action.barrier]
                    case _:
                        continue
                for name in names:
                    numbers, copies = found.setdefault(name, {}).setdefault(index, ([], []))
                    numbers.append(number)
                    copies.append(isinstance(action, Transfer))
        return found


__all__ = ["LateCopies"]
