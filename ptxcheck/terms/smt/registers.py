"""Questions about registers of fixed width, which pairs of accesses ask by the thousand: z3, spoken to directly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..bitvectors import Bits, in_order
from ..refutations import note_registers
from .bit_translation import translated
from .z3_solver import solver_of, units_used


class UndecidedError(Exception):
    """The solver gave up within its limit of effort."""


class BitVectorSolver:
    """Asks whether claims about registers can hold together (QF_BV)."""

    def __init__(self) -> None:
        self._built: dict[Bits, Any] = {}
        self._literals: dict[Bits, Any] = {}
        self._z3, self._context, self._solver = solver_of("QF_BV", self._built, self._literals)
        self.spent = 0
        """Resource units of all questions so far."""
        self._assumed: list[Bits] = []

    def assume(self, claim: Bits) -> None:
        """Add a claim for good."""
        self._assumed.append(claim)
        self._solver.add(self._term(claim))

    def numbers(self, claims: Sequence[Bits], wanted: Sequence[Bits], limit: int) -> dict[Bits, int] | None:
        """Return what some terms are in a model of the claims; None where they cannot hold together.

        Raises UndecidedError where that takes more resource units than the limit.
        """
        self._solver.set("rlimit", limit)
        answer = self._solver.check(*[self._literal(claim) for claim in claims])
        self.spent = units_used(self._solver)
        if answer == self._z3.unsat:
            note_registers((*self._assumed, *claims))
            return None
        if answer != self._z3.sat:
            raise UndecidedError
        model = self._solver.model()
        return {term: self._number(model.eval(self._term(term), model_completion=True)) for term in wanted}

    def _number(self, value: Any) -> int:
        return int(self._z3.is_true(value) if self._z3.is_bool(value) else value.as_long())

    def _literal(self, claim: Bits) -> Any:
        """Return a boolean that implies the claim."""
        literal = self._literals.get(claim)
        if literal is None:
            literal = self._literals[claim] = self._z3.Bool(f"claim!{claim.serial}", ctx=self._context)
            self._solver.add(self._z3.Implies(literal, self._term(claim), ctx=self._context))
        return literal

    def _term(self, term: Bits) -> Any:
        if term not in self._built:
            for each in in_order(term):
                if each not in self._built:
                    parts = [self._built[part] for part in each.parts]
                    self._built[each] = translated(self._z3, self._context, each, parts)
        return self._built[term]
