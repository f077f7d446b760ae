"""The effort of a search for repairs: counted work, so that the same file gets the same repairs on every machine.

Property: `SearchEffort.spent` depends on the texts that were judged and the runs that were made, not on the machine,
its load, or how many processes run.

Argument: the verification of a kernel counts its own steps (`terms.effort`); reading a text and asking the rules costs
a fixed amount for each of its instructions. A kernel that a judge has seen before costs nothing, as judges keep what
they found.

Not covered: `ptxas` and the building of candidates, which are not counted; no limit ends them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ..explain.violations import whole_kernel
from ..view import KernelView
from .gate import Judge, Judgement

_OF_AN_INSTRUCTION = 0.0004
"""Seconds, on the machine that effort was fitted on, to read an instruction and to ask all rules about it."""


@dataclass(slots=True)
class SearchEffort:
    """Counts the work of a search, in seconds of the machine that the effort of verification was fitted on."""

    limit: float = math.inf
    spent: float = 0.0
    _seen: dict[int, KernelView] = field(default_factory=dict)
    """Kernels that were judged, by their identity."""

    @property
    def is_over(self) -> bool:
        """Tell whether the limit of the whole search is reached."""
        return self.spent > self.limit

    def counted(self, judge: Judge) -> Judge:
        """Return a judge whose work is counted."""

        def judged(text: str) -> Judgement:
            found = judge(text)
            for view in found.views.values():
                if id(view) not in self._seen:
                    self._seen[id(view)] = view
                    self.spent += _cost(view)
            return found

        return judged


def _cost(view: KernelView) -> float:
    whole = view.get(whole_kernel) if view.has(whole_kernel) else None
    verified = 0.0 if whole is None else whole.result.seconds
    return verified + _OF_AN_INSTRUCTION * len(view.body.instructions)
