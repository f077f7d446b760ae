"""What is asked of a run besides its decisions.

Property: a run with the same options, decisions and answers records the same trace.

Argument: the machine has no other input; `is_late` can only end a run.

Not covered: that a run with one choice of `elect.sync` tells of the others; callers make both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ....terms.effort import Effort
from ..values.trace import Peek
from .host import Host
from .observation import Observation

Took = Callable[[int, bool, bool], None]
"""Told of each side that threads took: point, does its guard hold, is it a branch on what the host or memory gives."""
UNLIMITED = 1 << 62


@dataclass(frozen=True, slots=True)
class Options:
    """Limits of a run, and who is told of what."""

    budget: int = 400_000
    """Most instructions of groups of threads."""
    effort: Effort = field(default_factory=Effort)
    """Counts the steps."""
    is_late: Callable[[], bool] = lambda: False
    """Tells whether there is effort for no more."""
    took: Took = lambda *_: None
    peek_fails: Callable[[Peek], bool] = lambda _: False
    """Tells whether a poll that is not repeated fails."""
    counts_tries: bool = True
    """Whether a poll that has failed fails again, up to some tries, where nothing comes in between."""
    names_ceilings: bool = False
    """Whether a quotient that is rounded up is one number, and no choice is asked about for it."""
    observation: Observation | None = None
    elects_last: bool = False
    """`elect.sync` chooses the highest lane that takes part, not the lowest."""
    host: Host | None = None
    """Passes numbers for parameters, and what is in global memory."""
