"""Runs of a kernel for one size that show a finding: what still shows it there is no repair, and that is soon seen.

Verification of a whole kernel decides branches for all sizes; a run for one size takes a tenth of that. There is
nothing to be shown for every count where the count is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ..ir import Function
from ..launch import GivenValue, Launch
from ..protocols.model.outcome import Flaw
from ..protocols.proof.evidence import Verification
from ..protocols.verify import verify
from ..view import KernelView

_SECONDS = 0.5
_LEAST_SECONDS, _TIMES = 0.1, 8
"""A patched kernel whose run takes longer, and so many times as long as before, is taken not to end."""
_SIZES = (3, 12, 4, 1, 2, 5, 7, 0, 33)
"""Sizes at which a finding may show."""
_WORD = 4
_NUMBERS = frozenset({".u32", ".s32", ".b32"})


@dataclass(slots=True)
class Runs:
    """Runs of one kernel in which the host passes given 32-bit numbers, each made once."""

    view: KernelView
    seconds: float = _SECONDS
    """Effort for one run (see `terms.effort`)."""
    _known: dict[tuple[int, int | None], Verification | None] = field(default_factory=dict)

    @property
    def _takes_numbers(self) -> bool:
        return bool(list(_given(self.view.function, self.view.launch, 0, None)))

    @property
    def spent(self) -> float:
        """Return the effort of all runs so far."""
        return sum(found.seconds for found in self._known.values() if found is not None)

    def of(self, size: int, rest: int | None = None) -> Verification | None:
        """Return the run with `size` as first number and `rest` for each further one; None when it fails.

        Without `rest` the further numbers are multiples of the first, so that ends lie behind starts. Where the host
        passes no number there is one run.
        """
        if not self._takes_numbers:
            size, rest = 0, None
        if (size, rest) not in self._known:
            self._known[size, rest] = self._run(size, rest)
        return self._known[size, rest]

    @property
    def effort(self) -> float:
        """Return the effort that all runs together took, in seconds of verification."""
        return sum(result.seconds for result in self._known.values() if result is not None)

    def _run(self, size: int, rest: int | None) -> Verification | None:
        view = self.view
        given = (*view.launch.given, *_given(view.function, view.launch, size, rest))
        try:
            launch = replace(view.launch, given=given)
            return verify(
                view.cfg,
                view.function,
                view.module,
                launch,
                seconds=self.seconds,
                for_every_count=False,
            )
        except Exception:  # the verifier's own failures are part of the judgement of the kernel
            return None


def _given(function: Function, launch: Launch, size: int, rest: int | None) -> Iterator[GivenValue]:
    known = {value.offset for value in launch.given}
    numbers = [
        (offset, parameter.name)
        for offset, length, parameter in function.parameter_places
        if length == _WORD and parameter.type in _NUMBERS and offset not in known
    ]
    for rank, (offset, name) in enumerate(numbers, 1):
        value = rank * size if rest is None or rank == 1 else rest
        yield GivenValue(name, value, offset, _WORD)


@dataclass(frozen=True, slots=True)
class Trial:
    """A size at which a kernel shows a flaw, and at how many places."""

    flaw: Flaw
    size: int
    places: int
    seconds: float
    """Effort that the run took."""

    @property
    def patience(self) -> float:
        """Return the effort that a run of a patched kernel may take."""
        return min(_SECONDS, max(_LEAST_SECONDS, _TIMES * self.seconds))

    def still_shows(self, runs: Runs) -> bool:
        """Tell whether a patched kernel shows the flaw at as many places as before, for that size, or does not end."""
        result = runs.of(self.size)
        return result is not None and (not result.runs or _places(result, self.flaw) >= self.places)


def trial_of(runs: Runs, flaw: Flaw) -> Trial | None:
    """Return the first size at which a kernel shows a flaw, None when it does at none."""
    for size in _SIZES:
        result = runs.of(size)
        places = 0 if result is None else _places(result, flaw)
        if result is not None and places:
            return Trial(flaw, size, places, result.seconds)
    return None


def _places(result: Verification, flaw: Flaw) -> int:
    """Return at how many places a flaw is surely shown; deadlocks are one thing, whoever waits."""
    points = {
        problem.point
        for run in (*result.failures, *result.strict)
        for problem in run.problems
        if problem.flaw is flaw and problem.demonstrated
    }
    return min(len(points), 1) if flaw is Flaw.DEADLOCK else len(points)
