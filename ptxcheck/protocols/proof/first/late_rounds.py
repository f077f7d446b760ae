"""Whether the rounds of a long run repeat: only then does it say something of a kernel that hosts launch.

Property: `repeats` is False where some instruction names new places, barriers or counts in the second half of what
threads execute of it, round by round.

Argument: a ring names the same places again and again. A loop that goes on through an array has as many rounds as the
array has room for, which the host knows and the kernel does not say: what goes wrong behind its end is no mistake.

Not covered: arrays that a loop goes through by one step in many rounds.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...symex.values.symbol import Value
from ...symex.values.trace import Event, ThreadSet, Trace

_NAMING = ("dst", "addr", "src", "mbar", "barrier", "threads", "count")
"""Operands that say what is synchronised or accessed."""
_MOST_NEW = 8
"""Further numbers, in the second half, of what stays the same but for a mistake."""


def repeats(traces: Iterable[Trace]) -> bool:
    """Tell whether no instruction goes on to new places in the second half of a run."""
    found: dict[tuple[int, int, ThreadSet, str], list[object]] = {}
    for trace in traces:
        for event in trace.events:
            for name, value in _named(event):
                number = value.tobytes() if isinstance(value, np.ndarray) else value
                found.setdefault((trace.rank, event.point, event.threads, name), []).append(number)
    return all(_repeat(numbers) for numbers in found.values())


def _named(event: Event) -> Iterable[tuple[str, Value]]:
    if event.access is not None and event.access.address is not None:
        yield "access", event.access.address
    for name in _NAMING:
        value = event.operands.get(name)
        if isinstance(value, int | np.ndarray):
            yield name, value


def _repeat(numbers: list[object]) -> bool:
    half = len(numbers) // 2
    return len(set(numbers[half:]) - set(numbers[:half])) <= _MOST_NEW
