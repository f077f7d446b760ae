"""A second solver, asked again what z3 found to be impossible: cvc5 through pySMT, or Bitwuzla by SMT-LIB text.

Property: `True` means that the second solver, too, found that the claims cannot hold together, by formulas that share
no line with those that z3 had.

Argument: z3 is given its own expressions by `paths` and `registers`, the second solver formulas of pySMT by `formulas`.
Each question is asked of a new solver, with a limit in steps of that solver.

Not covered: faults in the terms themselves, which both are made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ..bitvectors import Bits
from ..integers import Claim
from .formulas import Integers, Registers, TooWideError, Words

_CVC5_EFFORT = 2_000_000
"""Resource units of cvc5 for one question."""
_BITWUZLA_EFFORT = 20_000
"""How often Bitwuzla may ask whether to go on, for one question."""


class MissingSolverError(Exception):
    """A second solver that is not installed; the message says how to get it."""


@dataclass(frozen=True)
class SecondSolver:
    """Confirms that claims cannot hold together; None where it could not tell within its effort."""

    name: str

    def __post_init__(self) -> None:
        """Look whether the solver is there. Raises MissingSolverError."""
        try:
            version(self.name)
        except PackageNotFoundError:
            text = f"{self.name} is not installed: pip install 'ptxcheck[cross-check]'"
            raise MissingSolverError(text) from None

    @property
    def version(self) -> str:
        """Return the version of the package."""
        return version(self.name)

    def refutes(self, claims: Sequence[Claim]) -> bool | None:
        """Tell whether claims about integers cannot hold together."""
        from pysmt.environment import Environment

        environment = Environment()
        if self.name == "cvc5":
            return _by_cvc5(environment, Integers(environment).formulas(claims), Integers.logic)
        try:
            words = Words(environment, claims)
        except TooWideError:
            return None
        return _by_bitwuzla(environment, words.formulas(claims))

    def refutes_registers(self, claims: Sequence[Bits]) -> bool | None:
        """Tell whether claims about registers cannot hold together."""
        from pysmt.environment import Environment

        environment = Environment()
        formulas = Registers(environment).formulas(claims)
        if self.name == "cvc5":
            return _by_cvc5(environment, formulas, Registers.logic)
        return _by_bitwuzla(environment, formulas)


def _by_cvc5(environment: Any, formulas: Sequence[Any], logic: str) -> bool | None:
    from pysmt.exceptions import SolverReturnedUnknownResultError
    from pysmt.logics import get_logic_by_name

    solver = environment.factory.Solver(
        name="cvc5",
        logic=get_logic_by_name(logic),
        incremental=False,
        generate_models=False,
        random_seed=1,
        solver_options={"rlimit-per": _CVC5_EFFORT},
    )
    try:
        for formula in formulas:
            solver.add_assertion(formula)
        return not solver.solve()
    except SolverReturnedUnknownResultError:
        return None
    finally:
        solver.exit()


def _by_bitwuzla(environment: Any, formulas: Sequence[Any]) -> bool | None:
    import bitwuzla

    options = bitwuzla.Options()
    options.set(bitwuzla.Option.SEED, 1)
    parser = bitwuzla.Parser(bitwuzla.TermManager(), options)
    parser.parse(_smtlib(environment, formulas), True, False)
    solver = parser.bitwuzla()
    left = [_BITWUZLA_EFFORT]

    def is_over() -> bool:
        left[0] -= 1
        return left[0] < 0

    solver.configure_terminator(is_over)
    answer = solver.check_sat()
    if answer == bitwuzla.Result.UNKNOWN:
        return None
    return bool(answer == bitwuzla.Result.UNSAT)


def _smtlib(environment: Any, formulas: Sequence[Any]) -> str:
    """Return a script of SMT-LIB that asserts formulas, and does not ask."""
    from io import StringIO

    from pysmt.smtlib import commands
    from pysmt.smtlib.script import SmtLibScript

    script = SmtLibScript()
    script.add(commands.SET_LOGIC, ["QF_BV"])
    whole = environment.formula_manager.And(formulas)
    for symbol in sorted(environment.fvo.get_free_variables(whole), key=lambda each: str(each)):
        script.add(commands.DECLARE_FUN, [symbol])
    for formula in formulas:
        script.add(commands.ASSERT, [formula])
    text = StringIO()
    script.serialize(text, daggify=True)
    return text.getvalue()
