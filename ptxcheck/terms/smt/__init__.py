"""The door to solvers: nothing else imports z3, pySMT or a second solver. Imported only where a question needs it.

Terms are integers (variables, sums with integer coefficients, floor division and remainder by a positive number) or
registers of fixed width.

* `Obligations` asks what is asked once: contracts with the host and the legality of descriptors. It speaks pySMT.
* `PathSolver` and `BitVectorSolver` ask what is asked again and again while a kernel is followed. They speak to z3.
* `SecondSolver` is asked again what z3 found to be impossible (`terms.refutations`): cvc5, or Bitwuzla.

Every solver has a context of its own and a limit of effort, in steps: `None` means that it could not tell within it.
"""

from __future__ import annotations

from .obligations import Obligations
from .paths import PathSolver
from .registers import BitVectorSolver, UndecidedError
from .second import MissingSolverError, SecondSolver

__all__ = [
    "BitVectorSolver",
    "MissingSolverError",
    "Obligations",
    "PathSolver",
    "SecondSolver",
    "UndecidedError",
]
