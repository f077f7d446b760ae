"""From the runs for some sizes to all of them.

Property: `AllSizes.prove` returns a reason only when the kernel was run for every size up to a bound, each run was
judged, and every run for a larger size is one of these with rounds put in that change nothing (`periods`, `pumping`).
It is for kernels whose decisions are all on one size, such as how many tiles there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ....ir import Register
from ...model.actions import Protocol
from ...symex.interpreter.observation import Observation
from ...symex.slice.sliced_program import Program
from ...symex.values.comparison_marks import Change
from ...symex.values.comparisons import changes_between
from ...symex.values.symbol import Atom, Condition, show_atom
from ...symex.values.trace import Shape
from .deciding import Question
from .lockstep import carried_registers
from .paths import Plan, Rounds
from .periods import Family, Period, SizedRun
from .pumping import Schedule, repeats, schedule_of
from .shifted import Sizes, reads_signed

_LEAST, _GREATEST = -(1 << 31), (1 << 31) - 1
_MOST_RUNS = 160
_COMPARISONS_OF_AN_ACTION = 32
"""Comparisons of two runs that cost as much as an action of a run, which takes as long as 8 to 30 of them."""
_MOST_DECISIONS = 500
Path = Sequence[tuple[Condition, bool]]


@dataclass(slots=True)
class SizePlan(Plan):
    """Decisions of the run for one number of a size."""

    size: Atom = field(kw_only=True)
    number: int = field(kw_only=True)

    def choose(self, question: Question) -> bool:
        """Decide an open predicate by the number. Raises OtherDecisionError."""
        terms = question.condition.form.terms
        if len(terms) != 1 or terms[0][0] != self.size or len(self.made) >= _MOST_DECISIONS:
            raise OtherDecisionError
        value = terms[0][1] * self.number + question.condition.form.constant
        truth = question.condition.holds(value)
        self.made.append(((question.point, truth == question.positive), True))
        self.answers.append((question.condition, truth))
        return truth == question.positive


class OtherDecisionError(Exception):
    """A decision was not on the size, or there were too many."""


Execute = Callable[[SizePlan, tuple[Observation, ...]], tuple[Path, Protocol]]
"""Makes a run, notes what it shows, and judges it; returns its decisions and its protocol."""


def size_of(paths: Iterable[Path]) -> Atom | None:
    """Return the one symbol that all decisions of some runs are on, None when there are several or none."""
    found = {name for path in paths for condition, _ in path for name, _ in condition.form.terms}
    return next(iter(found)) if len(found) == 1 else None


class AllSizes:
    """The runs of a kernel for one size after the other."""

    def __init__(
        self,
        program: Program,
        size: Atom,
        shape: Shape,
        execute: Execute,
        is_spent: Callable[[], bool],
        effort: int,
        least: int = 0,
    ) -> None:
        """`least` is the first number from 0 on that the host may pass."""
        self._program = program
        self._size = size
        self._shape = shape
        self._execute = execute
        self._is_spent = is_spent
        self._least = least
        self._left = effort
        """Actions of runs that may still be made."""
        self._family = Family(program, size, shape.threads)
        self._runs: list[SizedRun] = []
        self._may_wrap = False
        """Whether a number is compared that wraps around for some sizes, of which the runs tell nothing."""
        self._reads_signed = False
        """Whether the number is compared as a signed one, be it where an earlier answer decides."""
        self._schedules: dict[Sizes, Schedule] = {}

    def prove(self) -> str | None:
        """Return why what the runs show holds for all sizes, None when that is not known."""
        try:
            reason = self._prove()
        except OtherDecisionError:
            return None
        return None if self._may_wrap else reason

    def _prove(self) -> str | None:
        below = self._run(self._least)
        while not self._is_unsigned and below.sizes.low is not None and below.sizes.low > _LEAST:
            if self._is_over():
                return None
            below = self._run(below.sizes.low - 1)
        self._runs.sort(key=lambda run: run.sizes.high if run.sizes.high is not None else _GREATEST)
        period: Period | None = None
        first = 0
        while not self._is_over():
            last = self._runs[-1]
            if last.sizes.high is None or last.sizes.high >= _GREATEST:
                return (
                    f"every number of {show_atom(self._size)} was run" if self._starts_low_enough() else None
                )
            self._run(last.sizes.high + 1)
            if period is None:
                period, first = self._find_period()
                continue
            smaller = self._at_distance(period.size)
            found = None if smaller is None else self._period_of(smaller, self._runs[-1])
            if smaller is None or found is None or found.rounds != period.rounds:
                period = None
                continue
            if self._covers_a_period(first, period):
                return self._reason(period, first) if self._starts_low_enough() else None
        return None

    @property
    def _is_unsigned(self) -> bool:
        """Tell whether negative numbers are, for all that the runs ask, large ones."""
        return not self._reads_signed

    def _starts_low_enough(self) -> bool:
        low = self._runs[0].sizes.low
        return self._is_unsigned or low is None or low <= _LEAST

    def _is_over(self) -> bool:
        return self._may_wrap or self._left <= 0 or len(self._runs) >= _MOST_RUNS or self._is_spent()

    def _run(self, number: int) -> SizedRun:
        observations = tuple(Observation(self._carried) for _ in range(self._shape.ctas))
        path, protocol = self._execute(SizePlan(Rounds(1), size=self._size, number=number), observations)
        self._reads_signed |= any(condition.relation == "lt" for condition, _ in path) or any(
            reads_signed(self._program.cfg.instructions[seen.point], seen, self._size)
            for observation in observations
            for seen in observation.comparisons
        )
        sizes = Sizes()
        for condition, truth in path:
            if len(condition.form.terms) != 1 or condition.form.terms[0][0] != self._size:
                raise OtherDecisionError
            sizes = sizes.cut(condition, truth, number)
        for seen in (seen for each in observations for seen in each.comparisons):
            changes = changes_between(seen.left, seen.right)
            is_natural = sizes.low is not None and sizes.low >= 0
            self._may_wrap |= bool(changes & Change.RAISED or (changes and not is_natural))
        self._left -= sum(len(strand.actions) for strand in protocol.strands)
        run = SizedRun(sizes, protocol, observations)
        self._runs.append(run)
        return run

    @cached_property
    def _carried(self) -> Mapping[int, tuple[Register, ...]]:
        return carried_registers(self._program)

    def _find_period(self) -> tuple[Period | None, int]:
        """Return the smallest period between the newest run and an earlier one, and the number of that one."""
        newest = self._runs[-1]
        for index in range(len(self._runs) - 2, -1, -1):
            period = self._period_of(self._runs[index], newest)
            if period is not None:
                return period, index
        return None, 0

    def _period_of(self, smaller: SizedRun, larger: SizedRun) -> Period | None:
        compared = sum(len(seen.comparisons) for seen in larger.observations)
        self._left -= 1 + compared // _COMPARISONS_OF_AN_ACTION
        period = self._family.period_between(smaller, larger)
        if period is None:
            return None
        pair = (smaller, self._schedule(smaller)), (larger, self._schedule(larger))
        return period if repeats(*pair, period, self._headers(period)) else None

    def _schedule(self, run: SizedRun) -> Schedule:
        found = self._schedules.get(run.sizes)
        if found is None:
            found = self._schedules[run.sizes] = schedule_of(run.protocol)
        return found

    def _headers(self, period: Period) -> dict[int, int]:
        cfg = self._program.cfg
        return {
            point: header
            for _, header in period.rounds
            for block in self._program.loops.headers[header]
            for point in cfg.blocks[block].points
        }

    def _at_distance(self, size: int) -> SizedRun | None:
        wanted = self._runs[-1].sizes.moved(-size)
        return next((run for run in self._runs if run.sizes == wanted), None)

    def _covers_a_period(self, first: int, period: Period) -> bool:
        start, last = self._runs[first].sizes.low, self._runs[-1].sizes.high
        assert start is not None
        assert last is not None
        return last - start + 1 >= 2 * period.size

    def _reason(self, period: Period, first: int) -> str:
        name = show_atom(self._size)
        last = self._runs[-1].sizes.high
        rounds = max(period.rounds.values())
        return (
            f"run for every {name} up to {last}; from {self._runs[first].sizes.low} on, {period.size} more add "
            f"{rounds} round{'s' if rounds > 1 else ''} of the loops that leave everything as it was"
        )
