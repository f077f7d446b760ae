"""A single run of a kernel, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from ...model.actions import Protocol
from ...model.outcome import Outcome
from ...proof.first.all_sizes import Path
from ...proof.first.paths import Plan
from ...symex.values.trace import Trace
from .bystanders import Late


@dataclass(frozen=True, slots=True)
class Attempt:
    """A run: what it was to do, what its CTAs did, and what came of it."""

    plan: Plan
    traces: tuple[Trace, ...]
    protocol: Protocol
    outcome: Outcome
    late: Late | None = None
    """Warps that only wait and may be late, whose waits are left out of the protocol."""

    @property
    def path(self) -> Path:
        """What was decided."""
        return self.traces[-1].path
