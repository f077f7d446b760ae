"""Legality of a tensor map of which some fields are symbols: always, never, or legal if a condition holds.

A symbol stands for one integer field and knows its range and what it is a multiple of. Each constraint is
folded, every known part replaced by its value, and judged on ranges and congruences; what stays open goes
to `entail.py`, all of it together. What is still open is the condition, printed as a guard in C++ or
Python. Property: `always` and `never` hold for every value of the symbols; a condition is exact, though a
clause of it may be implied by the others.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from ptxcheck.descriptors.constraints import (
    Constraint,
    Layer,
    Platform,
    applicable,
)
from ptxcheck.descriptors.entail import satisfiable, valid
from ptxcheck.descriptors.folding import Fold
from ptxcheck.descriptors.guard import cpp_of, named
from ptxcheck.descriptors.legality import indices, map_scope
from ptxcheck.descriptors.ranges import Symbols, truth
from ptxcheck.descriptors.tensor_map import TensorMap


class Legality(Enum):
    """Whether a constraint holds, or the driver encodes the map, for the values that the symbols can have."""

    ALWAYS = "always"
    NEVER = "never"
    CONDITIONAL = "conditional"


@dataclass(frozen=True, slots=True)
class Clause:
    """What must hold for one constraint, over the symbols alone."""

    constraint: Constraint
    index: int | None
    condition: ast.expr

    @property
    def python(self) -> str:
        """Return the clause as Python."""
        return ast.unparse(self.condition)

    @property
    def cpp(self) -> str:
        """Return the clause as C++ over signed 64-bit integers."""
        return cpp_of(self.condition)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer, with the clauses that decide it: what must hold, or the constraints that never do."""

    legality: Legality
    clauses: tuple[Clause, ...] = ()

    @property
    def python_guard(self) -> str:
        """Return the condition as a Python expression."""
        return " and ".join(f"({text})" for text in dict.fromkeys(c.python for c in self.clauses)) or "True"

    @property
    def cpp_guard(self) -> str:
        """Return the condition as a C++ expression."""
        return " && ".join(f"({text})" for text in dict.fromkeys(c.cpp for c in self.clauses)) or "true"


@dataclass(frozen=True, slots=True)
class Judgement:
    """One constraint on a map with symbols: for which values it holds."""

    legality: Legality
    clause: Clause


def judge(
    tensor_map: TensorMap,
    terms: Mapping[str, ast.expr],
    symbols: Symbols,
    platform: Platform,
    *,
    only_never: bool = False,
) -> tuple[Judgement, ...]:
    """Judge each constraint by itself, with `terms` over `symbols` in the place of fields of `tensor_map`.

    Constraints that always hold are left out, with `only_never` also those that can hold. `NEVER` holds for
    every value of the symbols; `CONDITIONAL` also stands for what was not decided.
    """
    scope = map_scope(tensor_map)
    found: list[Judgement] = []
    for layer in (Layer.DRIVER, Layer.DOCUMENT):
        for constraint in applicable(tensor_map.kind, platform, layer):
            for i in indices(constraint, tensor_map.rank):
                folded = Fold(scope, symbols, i, terms).fold(constraint.expression)
                legality = _legality(folded, symbols, only_never=only_never)
                if legality is not Legality.ALWAYS and not (only_never and legality is Legality.CONDITIONAL):
                    found.append(Judgement(legality, Clause(constraint, i, named(folded, symbols))))
    return tuple(found)


def _legality(folded: ast.expr, symbols: Symbols, *, only_never: bool) -> Legality:
    known = truth(folded, symbols)
    if known is None:
        if satisfiable([folded], symbols) is False:
            return Legality.NEVER
        if only_never:
            return Legality.CONDITIONAL
        return Legality.ALWAYS if valid(folded, symbols) else Legality.CONDITIONAL
    return Legality.ALWAYS if known else Legality.NEVER


def decide(tensor_map: TensorMap, symbols: Symbols, platform: Platform | None = None) -> Verdict:
    """Return whether the driver encodes `tensor_map` with `symbols` in place of their fields."""
    scope = map_scope(tensor_map)
    conditions: list[ast.expr] = []
    clauses: list[Clause] = []
    for constraint in applicable(tensor_map.kind, platform or Platform(), Layer.DRIVER):
        for i in indices(constraint, tensor_map.rank):
            folded = Fold(scope, symbols, i).fold(constraint.expression)
            clause = Clause(constraint, i, named(folded, symbols))
            known = truth(folded, symbols)
            if known is False:
                return Verdict(Legality.NEVER, (clause,))
            if known is None and not valid(folded, symbols):
                conditions.append(folded)
                clauses.append(clause)
    if not clauses:
        return Verdict(Legality.ALWAYS)
    possible = satisfiable(conditions, symbols)
    return Verdict(Legality.NEVER if possible is False else Legality.CONDITIONAL, tuple(clauses))
