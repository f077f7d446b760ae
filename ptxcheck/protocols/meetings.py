"""Counted barriers: named, warp and cluster barriers, generation after generation."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .actions import Rendezvous
from .clock import Clock, executed_before, execution_only
from .outcome import Flaw
from .phases import Actor
from .record import Record

Name = tuple[object, ...]


@dataclass(slots=True)
class Meeting:
    """One counted barrier."""

    needed: int
    arrived: int = 0
    generation: int = 0
    parts: list[Clock] = field(default_factory=list)
    done: list[Clock] = field(default_factory=list)


class Meetings:
    """All counted barriers of a schedule.

    Every schedule forms the same generations, because each arrival happens after the generation before it
    completed (`early arrival`).
    """

    def __init__(self, record: Record) -> None:
        self._record = record
        self.by_name: dict[Name, Meeting] = {}
        self._joined: dict[tuple[int, Name], int] = {}

    def arrive(self, actor: Actor, action: Rendezvous) -> int:
        """Count an arrival; return its generation."""
        meeting = self.by_name.setdefault(action.name, Meeting(action.needed))
        if meeting.parts and meeting.needed != action.needed:
            text = f"{action.needed} threads named, {meeting.needed} by others of the same generation"
            self._problem(Flaw.COUNT_MISMATCH, actor, action, text, happened=True)
        meeting.needed = action.needed
        if meeting.generation and not executed_before(meeting.done[-1], actor.clock):
            text = "nothing orders this arrival after the previous generation"
            self._problem(Flaw.EARLY_ARRIVAL, actor, action, text)
        generation = meeting.generation
        self._joined[actor.strand, action.name] = generation
        stamp = actor.stamp if action.orders else execution_only(actor.stamp, actor.released)
        meeting.parts.append(stamp)
        meeting.arrived += action.threads
        if meeting.arrived >= meeting.needed:
            if meeting.arrived > meeting.needed:
                text = f"{meeting.arrived} threads arrive at a barrier of {meeting.needed}"
                self._problem(Flaw.OVER_ARRIVAL, actor, action, text, happened=True)
            meeting.done.append(np.maximum.reduce(meeting.parts))
            meeting.generation += 1
            meeting.arrived = 0
            meeting.parts = []
        return generation

    def joined(self, strand: int, name: Name) -> int | None:
        """Return the generation that a strand arrived in last."""
        return self._joined.get((strand, name))

    def passed(self, actor: Actor, action: Rendezvous) -> Clock | None:
        """Return what the generation that a strand joined publishes, None while it is not complete."""
        meeting = self.by_name.setdefault(action.name, Meeting(action.needed))
        generation = self._joined.get((actor.strand, action.name))
        if generation is None:
            text = "a wait without an arrival of its own"
            self._problem(Flaw.COUNT_MISMATCH, actor, action, text, happened=True)
            generation = 0
        return meeting.done[generation] if meeting.generation > generation else None

    def _problem(
        self, flaw: Flaw, actor: Actor, action: Rendezvous, detail: str, *, happened: bool = False
    ) -> None:
        generation = self.by_name[action.name].generation
        self._record.add(flaw, actor.strand, action.point, action.name, generation, detail, happened=happened)
