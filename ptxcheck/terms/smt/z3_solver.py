"""Solvers of z3, made in one place."""

from __future__ import annotations

from collections.abc import MutableMapping, MutableSequence, Sequence
from typing import Any


def solver_of(logic: str, *held: MutableMapping[Any, Any] | MutableSequence[Any]) -> tuple[Any, Any, Any]:
    """Return z3, a context, and a solver in it: the same answers each time, and deaf to Ctrl-C.

    Else z3 takes the signal, answers unknown, and nobody else hears of it. `held`: where the caller keeps expressions.
    """
    import z3

    from .z3_context import Context

    context = Context(*held)
    solver = z3.SolverFor(logic, ctx=context)
    solver.set("random_seed", 1)
    solver.set("ctrl_c", False)
    return z3, context, solver


def answer_of(z3: Any, solver: Any, literals: Sequence[Any]) -> Any:
    """Return what a solver answers where literals hold, which are given as `as_ast` returns them.

    `Solver.check` looks at the sort of each of them first, which takes longer than many an answer.
    """
    assumed = (z3.Ast * len(literals))(*literals)
    return z3.CheckSatResult(
        z3.Z3_solver_check_assumptions(solver.ctx.ref(), solver.solver, len(literals), assumed)
    )


def units_used(solver: Any) -> int:
    """Return the resource units that a solver has used."""
    statistics = solver.statistics()
    names = statistics.keys()
    return int(statistics.get_key_value("rlimit count")) if "rlimit count" in names else 0
