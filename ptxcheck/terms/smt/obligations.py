"""Questions that are asked once: obligations, contracts with the host, the legality of descriptors. They speak pySMT.

Each question is a formula of its own for a solver of its own, so an answer does not depend on what was asked before.
Behind pySMT is z3, in a context of its own, with a limit of effort in its units.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..effort import Effort, Work
from ..integers import Claim
from ..refutations import note_integers
from .formulas import Integers
from .z3_solver import solver_of, units_used

_EFFORT = 400_000
"""Resource units of z3 for one question."""


class Obligations:
    """Asks whether claims about integers can hold together."""

    def __init__(self, effort: Effort | None = None) -> None:
        """`effort` counts what is asked."""
        self._effort = effort or Effort()
        self._assumed: list[Claim] = []

    def assume(self, claim: Claim) -> None:
        """Add a claim for good."""
        self._assumed.append(claim)

    def possible(self, claims: Sequence[Claim]) -> bool | None:
        """Tell whether claims can hold together; None when that was not decided within the effort."""
        from pysmt.environment import Environment
        from pysmt.exceptions import SolverReturnedUnknownResultError

        self._effort.spend(Work.QUESTION)
        environment, asked = Environment(), (*self._assumed, *claims)
        formulas = Integers(environment).formulas(asked)
        solver, native = _z3(environment)
        native.set("rlimit", _EFFORT)
        try:
            for formula in formulas:
                solver.add_assertion(formula)
            answer = bool(solver.solve())
        except SolverReturnedUnknownResultError:
            return None
        finally:
            self._effort.spend(Work.SOLVING, 1 + units_used(native) // 1000)
            solver.exit()
        if not answer:
            note_integers(asked)
        return answer

    def is_valid(self, claim: Claim) -> bool:
        """Tell whether a claim is known to hold wherever what is assumed does."""
        return self.possible([Claim(claim.relation, claim.term, claim.bound, not claim.holds)]) is False


def _z3(environment: Any) -> tuple[Any, Any]:
    """Return pySMT's z3, but in a context of its own, where all of its kind share one; and the solver inside it."""
    from pysmt.logics import QF_LIA
    from pysmt.solvers.z3 import Z3Converter, Z3Solver

    _, context, native = solver_of("QF_LIA")
    solver = Z3Solver(environment, QF_LIA)
    solver.z3, solver.converter = native, Z3Converter(environment, z3_ctx=context)
    return solver, native
