"""Questions about the registers of one kernel: by trying numbers where they are few, else to one solver for all.

The solver is made when the first question needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ...terms.bit_pool import Pool
from ...terms.bitvectors import Bits, Numbers, variables_of
from ...terms.effort import Effort, Work
from ...terms.enumeration import Never, enumerated
from ...terms.refutations import note_registers
from ...terms.smt import BitVectorSolver, UndecidedError
from ...terms.weakening import Weakening

_UNITS = 1_000
"""Resource units that are counted as one piece of work."""
_MOST = 1_500_000
"""Resource units of the solver for one question: as nearly all answers take less than a hundredth of it."""
_MOST_OF_HARD = _MOST // 10
"""The same where numbers are multiplied or divided: runs with numbers show sooner whether threads meet then."""


class _Solver:
    """A solver, and the variables whose bounds it knows."""

    def __init__(self, pool: Pool, effort: Effort) -> None:
        self._pool = pool
        self._effort = effort
        self._bounded: set[Bits] = set()
        self._solver = BitVectorSolver()

    def numbers(self, asked: Sequence[Bits], also: Sequence[Bits], most: int = _MOST) -> Numbers | None:
        """Return the numbers of the variables in claims, and of other terms; None where they cannot hold together.

        Raises UndecidedError where the effort ends before.
        """
        variables = variables_of(*asked)
        for variable in variables:
            if variable not in self._bounded:
                self._bounded.add(variable)
                if (variable.low, variable.high) != (0, variable.maybe):
                    self._solver.assume(self._pool.bounds(variable))
        before = self._solver.spent
        try:
            return self._solver.numbers(asked, (*variables, *also), self._within(most))
        finally:
            self._effort.spend(Work.SOLVING, 1 + (self._solver.spent - before) // _UNITS)

    def _within(self, most: int) -> int:
        """Return the resource units for the next question."""
        left = self._effort.affords(Work.SOLVING)
        return most if left is None else min(most, left * _UNITS)


class Questions:
    """Asks whether claims can hold together, variables being within their bounds."""

    def __init__(self, pool: Pool, effort: Effort) -> None:
        self._pool = pool
        self._effort = effort
        self._weakening = Weakening(pool)

    @cached_property
    def _solver(self) -> _Solver:
        return _Solver(self._pool, self._effort)

    @cached_property
    def _solver_of_weak_claims(self) -> _Solver:
        """One that never sees what is hard: what a solver has seen slows all later questions."""
        return _Solver(self._pool, self._effort)

    def numbers(self, claims: Sequence[Bits], also: Sequence[Bits] = ()) -> Numbers | None:
        """Return the numbers of the variables in claims, and of other terms; None where they cannot hold together.

        Raises UndecidedError where the effort ends before.
        """
        asked = [claim for claim in claims if claim is not self._pool.true]
        if any(claim is self._pool.false for claim in asked):
            return None
        self._effort.spend(Work.QUESTION)
        if self._effort.is_over:
            raise UndecidedError
        tried = enumerated(asked, also)
        if tried is Never.NEVER:
            note_registers((*map(self._pool.bounds, variables_of(*asked)), *asked))
            return None
        if tried is not None:
            return tried
        weakened = self._weakening.of(asked)
        if weakened == tuple(asked):
            return self._solver.numbers(asked, also)
        return None if self._never(weakened) else self._solver.numbers(asked, also, _MOST_OF_HARD)

    def _never(self, weakened: Sequence[Bits]) -> bool:
        """Tell whether weakened claims cannot hold together."""
        try:
            return self._solver_of_weak_claims.numbers(weakened, ()) is None
        except UndecidedError:
            return False


__all__ = ["Questions", "UndecidedError"]
