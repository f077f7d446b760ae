"""The effort of one verification: counted work, so that the same file gets the same verdict on every machine.

Property: what `Effort.spent` says depends on the input alone, not on the machine, its load, or how many processes run.

Argument: each kind of work is counted where it is done, and costs a fixed number of units: about microseconds of
processor time on the machine on which `COST` was fitted (`benchmarks/README.md`).

Not covered: work that is not counted. The brake, a limit of processor time behind the effort, ends what that lets run
on, and a verdict that it ended says so. Whoever asks whether the effort is over asks for both.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from enum import Enum, auto

UNITS_PER_SECOND = 1_000_000
LEVELS: Mapping[str, float] = {"low": 2.0, "normal": 10.0, "high": 60.0}
"""Seconds of the effort for one kernel, by name."""
_BRAKE, _LEAST_BRAKE = 1.6, 5.0
"""Processor time after which a verification is ended, so that it takes no more than twice what it is to take: in what
its effort was fitted to take, and in seconds."""
_BETWEEN_LOOKS = 0.02
"""Seconds between two looks at the processor time."""


class Work(Enum):
    """Kinds of work."""

    STEP = auto()
    """An instruction that a group of threads executes."""
    REPLAY = auto()
    """An instruction that one thread executes with numbers, to confirm a race."""
    BLOCK_STEP = auto()
    """An instruction that all threads of a block execute together with numbers, to find a race whatever is loaded."""
    EVENT = auto()
    """An instruction that synchronises or accesses shared memory, lowered to actions."""
    ACTION = auto()
    """An action of a protocol that is simulated, for each strand whose clock it may change."""
    SPAN = auto()
    """Bytes of shared memory in one piece that an access touches: they are compared with those of others."""
    STATE = auto()
    """A state of the explicit search."""
    TRANSITION = auto()
    """An action of a strand in the product of role automata."""
    LOWERING = auto()
    """An instruction of a role automaton that is lowered for threads that act together."""
    LANDMARK = auto()
    """An action of a role that is made ready for the product: what it touches, and the landmarks of it."""
    QUESTION = auto()
    """A question to the solver."""
    SOLVING = auto()
    """A thousand resource units of the solver."""


COST: Mapping[Work, int] = {
    Work.STEP: 7, Work.REPLAY: 3, Work.BLOCK_STEP: 65, Work.EVENT: 170, Work.ACTION: 1, Work.SPAN: 5, Work.STATE: 300,
    Work.TRANSITION: 10, Work.LOWERING: 30, Work.LANDMARK: 30, Work.QUESTION: 400, Work.SOLVING: 800,
}  # fmt: skip
"""Units that each kind of work costs."""


class OutOfEffortError(Exception):
    """Raised where work is paid for and nothing is left."""


class Effort:
    """Counts work against a limit."""

    def __init__(self, seconds: float | None = None) -> None:
        """`seconds`: processor time that the work is to take on the machine of `COST`; None for no limit."""
        self.spent = 0
        self._whole: Effort | None = None
        """The effort that this one is a part of."""
        self.was_braked = False
        """The clock has ended it."""
        self._next_look = 0.0
        self.limit = None if seconds is None else int(seconds * UNITS_PER_SECOND)
        self._begun = time.process_time()
        self._brake = None if seconds is None else self._begun + max(_BRAKE * seconds, _LEAST_BRAKE)

    def part(self, share: float) -> Effort:
        """Return an effort besides this one, of a share of it: the clock ends both."""
        part = Effort(None if self.limit is None else share * self.limit / UNITS_PER_SECOND)
        if part._brake is not None and self._brake is not None:
            now = time.process_time()
            part._brake = min(part._brake, now + share * (self._brake - now))
        return part

    def share_of_rest(self, share: float) -> Effort:
        """Return an effort of a share of what is left of this one, which spends of this one as well."""
        part = Effort()
        if self.limit is not None:
            part.limit = int(share * max(0, self.limit - self.spent))
        part._brake, part._whole = self._brake, self
        return part

    def extend(self, times: float) -> None:
        """Let so many times as much be spent, and the clock wait as much longer."""
        if self.limit is not None:
            self.limit = int(times * self.limit)
        if self._brake is not None:
            self._brake = self._begun + times * (self._brake - self._begun)

    def spend(self, kind: Work, times: int = 1) -> None:
        """Count work."""
        self.spent += COST[kind] * times
        if self._whole is not None:
            self._whole.spend(kind, times)

    def pay(self, kind: Work, times: int = 1) -> None:
        """Count work that is to be done. Raises OutOfEffortError when nothing is left for it."""
        self.spend(kind, times)
        if self.is_over:
            raise OutOfEffortError

    def affords(self, kind: Work) -> int | None:
        """Return how much more work of a kind may be done, at least one piece; None for no limit."""
        return None if self.limit is None else max(1, (self.limit - self.spent) // COST[kind])

    @property
    def is_over(self) -> bool:
        """Tell whether more was spent than the limit, or the clock has ended it."""
        return (self.limit is not None and self.spent > self.limit) or self.is_braked()

    def is_braked(self) -> bool:
        """Tell whether the processor time is over, too; its clock is slow, and not looked at each time."""
        if self._brake is not None and not self.was_braked and time.perf_counter() >= self._next_look:
            self.was_braked = time.process_time() > self._brake
            self._next_look = time.perf_counter() + _BETWEEN_LOOKS
            if self.was_braked and self._whole is not None:
                self._whole.was_braked = True
        return self.was_braked
