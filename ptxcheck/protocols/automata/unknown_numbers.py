"""Numbers in shared memory, of which nothing is known: what is read is a symbol.

Property: a read gives no number.

Argument: nothing is kept.

Not covered: dispatch by words in shared memory; what is decided by them is free.
"""

from __future__ import annotations

from ...ir import Instruction
from ..symex.interpreter.shared_numbers import SharedNumbers
from ..symex.values.symbol import Lanes, Value
from ..symex.values.trace import ThreadSet


class UnknownNumbers(SharedNumbers):
    """Keeps nothing."""

    def __init__(self) -> None:
        """Know nothing."""

    @property
    def may_park(self) -> bool:
        return False

    @may_park.setter
    def may_park(self, may: bool) -> None:
        """Nobody waits."""

    def pass_barrier(self, threads: ThreadSet) -> None:
        """Know nothing."""

    def end(self, threads: ThreadSet) -> None:
        """Know nothing."""

    def wait(self, threads: ThreadSet) -> None:
        """Know nothing."""

    def keep(self, point: int, address: int, size: int, value: Value, threads: ThreadSet) -> None:
        """Know nothing."""

    def forget(self, point: int, threads: ThreadSet) -> None:
        """Know nothing."""

    def read(
        self, point: int, instruction: Instruction, address: int | Lanes, guard: ThreadSet
    ) -> Value | None:
        return None
