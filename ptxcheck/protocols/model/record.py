"""The record of one schedule: its steps, and the problems met on the way."""

from __future__ import annotations

from dataclasses import dataclass, field

from .axiom import Axiom
from .outcome import FirstSteps, Flaw, Hang, Location, Problem, Step


@dataclass(slots=True)
class Record:
    """Steps done so far and problems found so far."""

    steps: list[Step] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    strict: list[Problem] = field(default_factory=list)
    _known: set[tuple[object, ...]] = field(default_factory=set)
    """What was noted: flaw, point and name, and what removes it."""
    _so_far: FirstSteps | None = None

    def add(
        self,
        flaw: Flaw,
        strand: int,
        point: int,
        name: Location | None,
        phase: int,
        detail: str,
        *,
        happened: bool = False,
        related: tuple[tuple[int, int], ...] = (),
        axiom: Axiom | None = None,
        hang: Hang | None = None,
    ) -> None:
        """Note a problem, once for each point and name.

        `happened`: this very schedule goes wrong. Otherwise only the argument for all schedules fails here.
        """
        found = self.problems if axiom is None else self.strict
        key = flaw, point, name, axiom
        if key in self._known:
            return
        self._known.add(key)
        schedule = self._steps_so_far() if happened else ()
        found.append(
            Problem(
                flaw,
                strand,
                point,
                name,
                phase,
                detail,
                related,
                happened,
                schedule,
                axiom,
                hang,
                elsewhere=not happened and hang is None,
            )
        )

    def _steps_so_far(self) -> FirstSteps:
        """Return the steps done: the same object until there is another one."""
        if self._so_far is None or len(self._so_far) != len(self.steps):
            self._so_far = FirstSteps(self.steps, len(self.steps))
        return self._so_far
