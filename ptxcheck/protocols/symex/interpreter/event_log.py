"""What one CTA has recorded so far: its events, and which symbols its accesses read.

Property: the events of a thread are in program order, each once; an access that is made again, as its read had to wait,
is recorded once.

Argument: events are appended as groups of threads execute; `forget_access` drops what was recorded since the access
began.

Not covered: the order of events of different threads, which says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..values.symbol import Atom, Form, Value
from ..values.trace import Access, Event, Peek, Side, ThreadSet
from .decider import Decider
from .observation import Observation


class EventLog:
    """The events of one CTA in one run."""

    def __init__(self, decider: Decider, observation: Observation | None) -> None:
        self._decider = decider
        self._observation = observation
        self.events: list[Event] = []
        self.loaded: dict[int, tuple[Atom, ...]] = {}
        """For accesses by the number of their event: the symbols of what they read."""
        self.turns: dict[int, int] = {}
        """For accesses of rings: the turn whose number was taken to be read."""
        self.peeks: dict[int, Peek] = {}
        """For polls that are not repeated, and that succeeded."""
        self.side: Side | None = None
        """The side of a branch that the threads are on which run now."""
        self.number = -1
        """What events are numbered by that are told apart by place alone; -1: they are counted."""
        self._start_of_access = 0

    def append(
        self,
        point: int,
        guard: ThreadSet,
        operands: Mapping[str, Value],
        threads: ThreadSet,
        access: Access | None = None,
    ) -> int:
        """Record an event; return its number."""
        index = len(self.events) if self.number < 0 else self.number
        certain = access is not None or not self._decider.speculative
        self.events.append(Event(index, point, guard, operands, threads, access, certain, self.side))
        if self._observation is not None:
            self._observation.recorded(self._decider.turns)
        return index

    def begin_access(self, at: int = -1) -> None:
        """Remember what was recorded before an access, which may be made again; -1: all so far."""
        self._start_of_access = len(self.events) if at < 0 else at

    def forget_access(self) -> None:
        """Drop the access of a read that is made again."""
        start = self._start_of_access
        for index in range(start, len(self.events)):
            self.turns.pop(index, None)
            self.loaded.pop(index, None)
        del self.events[start:]
        if self._observation is not None:
            del self._observation.rounds[start:]

    def access_of(self, point: int, guard: ThreadSet) -> Event | None:
        """Return the access that some threads have just recorded, None when it was another one, or of other threads."""
        last = self.events[-1] if self.events else None
        return last if last is not None and last.point == point and last.threads == guard else None

    def note_loaded(self, value: Value, point: int, guard: ThreadSet) -> None:
        """Note which access reads a symbol: the last one that was recorded, if it is the one of the load."""
        last = self.access_of(point, guard)
        if last is None or not isinstance(value, Form):
            return
        self.loaded[last.index] = (*self.loaded.get(last.index, ()), *(name for name, _ in value.terms))
