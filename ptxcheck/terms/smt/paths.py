"""Questions that the interpreter asks at each branch: can claims hold together, beside a path that only grows?

They are many, so z3 is spoken to directly, what was learned for one question serves the next, and numbers that answered
an earlier one are tried first. What is asked once goes through pySMT (`obligations`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..effort import Effort, Work
from ..integers import (
    Choice,
    Claim,
    Evaluate,
    Numbers,
    Quotient,
    Remainder,
    Sum,
    Term,
    Unsigned,
    Variable,
    evaluator,
    in_order,
    is_true,
    slopes_of,
)
from ..refutations import note_integers
from .z3_solver import answer_of, solver_of, units_used

_EFFORT = 400_000
"""Resource units of z3 for one question: a limit that, unlike time, is the same on every machine."""
_FIRST_EFFORT = 30_000
"""The same for the first time that z3 is asked: nearly all that it has an answer to is answered within it."""
_MODELS = 12
"""Assignments that answered earlier questions and are tried first for the next one."""
_FEW_REPAIRED, _FEW_CHANGES = 1, 4
"""How many of them are changed to answer it, and how often each: nearly all that can be changed are found so."""
_REPAIRED, _CHANGES = 3, 8
"""The same for questions that z3 has no answer to at first."""
_REPAIR_EFFORT = 60_000
"""Operations of terms that may be computed to change one of them."""
_BISECTION = 66
"""Values of a term that a search for a number looks at, at most."""


@dataclass(frozen=True, slots=True)
class _Numbered:
    """A claim with what is looked up again and again: its number among all claims, and how to evaluate it."""

    claim: Claim
    number: int
    evaluate: Evaluate
    variables: tuple[Variable, ...]
    """Each once, in the order of the term."""
    slopes: Mapping[str, int]
    """By how much the term grows with a variable, for those in which it is linear."""
    size: int
    """Operations of the term."""

    def is_true(self, numbers: Numbers) -> bool:
        """Tell whether the claim holds for numbers."""
        return is_true(self.claim, self.evaluate(numbers))


class _Model:
    """Numbers for variables; those that it does not name are the ones closest to zero."""

    def __init__(self, numbers: Numbers, truths: dict[int, bool] | None = None) -> None:
        self.numbers = numbers
        self._truths: dict[int, bool] = {} if truths is None else truths
        self._path: Sequence[_Numbered] = ()
        self._held: int | None = 0
        """How many claims of the path hold, None when one does not."""

    def meets(self, path: Sequence[_Numbered]) -> bool:
        """Tell whether all claims of a path hold, which only grows: those that were looked at are not again."""
        if path is not self._path:
            self._path, self._held = path, 0
        while self._held is not None and self._held < len(path):
            self._held = self._held + 1 if self.holds(path[self._held]) else None
        return self._held is not None

    def met(self, path: Sequence[_Numbered]) -> _Model:
        """Return the model, all claims of a path being known to hold."""
        self._path, self._held = path, len(path)
        return self

    def holds(self, claim: _Numbered) -> bool:
        """Tell whether a claim is true."""
        known = self._truths.get(claim.number)
        if known is None:
            known = self._truths[claim.number] = claim.is_true(self.numbers)
        return known

    def changed(self, variable: Variable, number: int, dependents: Iterable[int]) -> _Model:
        """Return the model with another number for a variable; `dependents` are the numbers of claims about it."""
        truths = self._truths.copy()
        for each in dependents:
            truths.pop(each, None)
        return _Model({**self.numbers, variable.name: number}, truths)

    def nearest(self, claim: _Numbered, variable: Variable) -> Iterator[int]:
        """Yield numbers for a variable that make a false claim true, close to the one it has on either side.

        By bisection, as if the term grew or fell with the variable: the caller looks whether they are right.
        """
        numbers = dict(self.numbers)

        def value(number: int) -> int:
            numbers[variable.name] = number
            return claim.evaluate(numbers)

        start = numbers.get(variable.name, variable.closest_to_zero)
        slope = claim.slopes.get(variable.name)
        if slope:
            found = start + _distance(claim.claim, claim.evaluate(numbers), slope)
            if variable.low <= found <= variable.high and is_true(claim.claim, value(found)):
                yield found
            return
        if claim.claim.relation == "eq" and claim.claim.holds:
            solution = _solution(claim.claim.bound, variable, value)
            if solution is not None:
                yield solution
            return
        for end in (variable.high, variable.low):
            if end == start or not is_true(claim.claim, value(end)):
                continue
            wrong, right = start, end
            while abs(right - wrong) > 1:
                middle = (right + wrong) // 2
                wrong, right = (wrong, middle) if is_true(claim.claim, value(middle)) else (middle, right)
            yield right


def _distance(claim: Claim, value: int, slope: int) -> int:
    """Return the least change of a variable that makes a false claim true, when its term grows by `slope` with it."""
    if claim.relation == "eq":
        return (claim.bound - value) // slope if claim.holds else 1
    missing = claim.bound - 1 - value if claim.holds else claim.bound - value
    return missing // slope if claim.holds == (slope > 0) else -(-missing // slope)


def _solution(bound: int, variable: Variable, value: Callable[[int], int]) -> int | None:
    low, high = variable.low, variable.high
    rises = value(high) >= value(low)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if (value(middle) >= bound) == rises else (middle + 1, high)
    return low if value(low) == bound else None


class PathSolver:
    """Asks whether claims can hold together. What was learned for one question serves the next."""

    def __init__(self, effort: Effort | None = None) -> None:
        """`effort` counts what is asked."""
        self._effort = effort or Effort()
        self._variables: dict[Variable, Any] = {}
        self._terms: dict[Term, Any] = {}
        self._literals: list[Any] = []
        """For each claim, by its number, a boolean that implies it, as z3 is told of it."""
        self._kept: list[Any] = []
        """The same booleans, which else would be freed."""
        self._z3, self._context, self._solver = solver_of("QF_LIA", self._variables, self._terms, self._kept)
        self._numbered: dict[Claim, _Numbered] = {}
        self._same: dict[int, tuple[Claim, _Numbered]] = {}
        """The same by identity, as callers ask with the same claims again and again."""
        self._path: Sequence[Claim] = ()
        self._known_path: list[_Numbered] = []
        self._numbers_of_path: set[int] = set()
        """The path that was given last, and the numbers of its claims."""
        self._contradictions: dict[int, dict[frozenset[int], None]] = {}
        """Numbers of claims that cannot hold together, by the largest of them."""
        self._number_of: dict[int, int] = {}
        """The number of a claim by what z3 names its literal."""
        self._models: list[_Model] = []
        """The latest one first."""
        self._assumed: list[_Numbered] = []
        self._claims: list[_Numbered] = []
        """By their numbers."""
        self._about: dict[str, list[int]] = {}
        """For the name of each variable, the numbers of the claims about it."""

    def assume(self, claim: Claim) -> None:
        """Add a claim for good."""
        self._solver.add(self._claim(claim))
        self._models.clear()
        self._assumed.append(self._known(claim))

    def possible(self, claims: Sequence[Claim], path: Sequence[Claim] = ()) -> bool | None:
        """Tell whether claims can hold together; None when that was not decided within the effort.

        `path` has more claims: a sequence that is given again and again as it grows.
        """
        self._effort.spend(Work.QUESTION)
        if self._is_contradiction(claims, path):
            return False
        if self._find_model(claims, path) is not None:
            return True
        answer = self._check(claims, path, _FIRST_EFFORT)
        if answer == self._z3.unknown:
            if self._find_model(claims, path, thoroughly=True) is not None:
                return True
            answer = self._check(claims, path, _EFFORT)
        if answer == self._z3.unknown:
            return None
        if answer == self._z3.sat:
            self._keep_model(claims, path)
            return True
        return False

    def example(self, claims: Sequence[Claim], term: Term, path: Sequence[Claim] = ()) -> int | None:
        """Return a number that a term may be when the claims and those of a path hold, None when none was found."""
        self._effort.spend(Work.QUESTION)
        if self._is_contradiction(claims, path):
            return None
        model = self._find_model(claims, path)
        if model is not None:
            return evaluator(term)(model.numbers)
        built = self._term(term)
        answer = self._check(claims, path, _FIRST_EFFORT)
        if answer == self._z3.unknown:
            model = self._find_model(claims, path, thoroughly=True)
            if model is not None:
                return evaluator(term)(model.numbers)
            answer = self._check(claims, path, _EFFORT)
        if answer != self._z3.sat:
            return None
        number = self._solver.model().eval(built, model_completion=True)
        self._keep_model(claims, path)
        return int(number.as_long()) if self._z3.is_int_value(number) else None

    def _check(self, claims: Sequence[Claim], path: Sequence[Claim], effort: int) -> Any:
        """Ask z3, and keep which of the claims contradict each other, if they do."""
        self._solver.set("rlimit", effort)
        before = units_used(self._solver)
        asked = (*self._numbered_path(path), *map(self._known, claims))
        answer = answer_of(self._z3, self._solver, [self._literals[each.number] for each in asked])
        self._effort.spend(Work.SOLVING, 1 + (units_used(self._solver) - before) // 1000)
        if answer == self._z3.unsat:
            core = frozenset(self._number_of[each.get_id()] for each in self._solver.unsat_core())
            if core:
                self._contradictions.setdefault(max(core), {})[core] = None
            note_integers(
                each.claim for each in (*self._assumed, *(self._claims[number] for number in sorted(core)))
            )
        return answer

    def _is_contradiction(self, claims: Sequence[Claim], path: Sequence[Claim]) -> bool:
        """Tell whether some of the claims are known to contradict each other."""
        self._numbered_path(path)
        together = self._numbers_of_path | {self._known(claim).number for claim in claims}
        return any(
            core <= together
            for last in together & self._contradictions.keys()
            for core in self._contradictions[last]
        )

    def _find_model(
        self, claims: Sequence[Claim], path: Sequence[Claim] = (), *, thoroughly: bool = False
    ) -> _Model | None:
        """Return an earlier answer that is one to these claims too, as it is or with a number or two changed."""
        asked = [self._known(claim) for claim in claims]
        asked.reverse()
        before = self._numbered_path(path)
        for model in self._models:
            if all(map(model.holds, asked)) and model.meets(before):
                self._models.remove(model)
                self._keep(model)
                return model
        places = {claim.number: place for place, claim in enumerate((*before, *reversed(asked)))}
        models, changes = self._models[:_FEW_REPAIRED] or [_Model({})], _FEW_CHANGES
        if thoroughly:
            models, changes = [*self._models[:_REPAIRED], _Model({})], _CHANGES
        for model in models:
            broken = [claim for claim in asked if not model.holds(claim)]
            if not model.meets(before):
                broken += (claim for claim in reversed(before) if not model.holds(claim))
            repaired = self._repaired(model, broken, places, changes)
            if repaired is not None:
                self._keep(repaired.met(before))
                return repaired
        return None

    def _numbered_path(self, path: Sequence[Claim]) -> Sequence[_Numbered]:
        """Return the claims of a path; the same sequence for the same path."""
        if path is not self._path:
            self._path, self._known_path, self._numbers_of_path = path, [], set()
        fresh = [self._known(path[place]) for place in range(len(self._known_path), len(path))]
        self._known_path += fresh
        self._numbers_of_path.update(claim.number for claim in fresh)
        return self._known_path

    def _repaired(
        self, model: _Model, broken: Sequence[_Numbered], places: Mapping[int, int], changes: int
    ) -> _Model | None:
        """Return a model of the claims that differs in some numbers, None when none is found with so many changes.

        `broken` are those that the model breaks, the last ones first; `places` has the place of each claim by its
        number. Terms of thousands of operations are left to the solver, which needs no numbers to look at them.
        """
        effort = _REPAIR_EFFORT
        for _ in range(changes + 1):
            if not broken:
                return model if all(map(model.holds, self._assumed)) else None
            first = broken[0]
            effort -= first.size * sum(2 if v.name in first.slopes else _BISECTION for v in first.variables)
            if effort < 0:
                return None
            least: list[_Numbered] | None = None
            change: tuple[Variable, int] | None = None
            for variable in first.variables:
                about = [self._claims[each] for each in self._about[variable.name] if each in places]
                concerned = {claim.number for claim in about}
                others = [claim for claim in broken if claim.number not in concerned]
                for number in model.nearest(first, variable):
                    numbers = {**model.numbers, variable.name: number}
                    left = [*others, *(claim for claim in about if not claim.is_true(numbers))]
                    if least is None or len(left) < len(least):
                        least, change = left, (variable, number)
            if least is None or change is None:
                return None
            variable, number = change
            model = model.changed(variable, number, self._about[variable.name])
            broken = sorted(least, key=lambda each: -places[each.number])
        return None

    def _keep_model(self, claims: Sequence[Claim], path: Sequence[Claim]) -> None:
        found = self._solver.model()
        asked = (*self._assumed, *self._numbered_path(path), *map(self._known, claims))
        variables = dict.fromkeys(variable for claim in asked for variable in claim.variables)
        numbers = {
            variable.name: value.as_long()
            for variable in variables
            if (value := found[self._variables[variable]]) is not None
        }
        model = _Model(numbers)
        if all(map(model.holds, asked)):
            self._keep(model)

    def _keep(self, model: _Model) -> None:
        self._models.insert(0, model)
        del self._models[_MODELS:]

    def _known(self, claim: Claim) -> _Numbered:
        """Return a claim with its number among all that were asked about; it has a literal from then on."""
        same = self._same.get(id(claim))
        if same is not None:
            return same[1]
        known = self._numbered.get(claim)
        if known is None:
            known = self._numbered[claim] = self._introduced(claim)
        self._same[id(claim)] = claim, known
        return known

    def _introduced(self, claim: Claim) -> _Numbered:
        number = len(self._literals)
        literal = self._z3.Bool(f"claim!{number}", ctx=self._context)
        self._literals.append(literal.as_ast())
        self._kept.append(literal)
        self._number_of[literal.get_id()] = number
        self._solver.add(self._z3.Implies(literal, self._claim(claim), ctx=self._context))
        parts = in_order(claim.term, {})
        variables = tuple(each for each in parts if isinstance(each, Variable))
        for variable in variables:
            self._about.setdefault(variable.name, []).append(number)
        known = _Numbered(claim, number, evaluator(claim.term), variables, slopes_of(claim.term), len(parts))
        self._claims.append(known)
        return known

    def _claim(self, claim: Claim) -> Any:
        term = self._term(claim.term)
        formula = term < claim.bound if claim.relation == "lt" else term == claim.bound
        return formula if claim.holds else self._z3.Not(formula)

    def _term(self, term: Term) -> Any:
        built = self._terms.get(term)
        if built is None:
            built = self._terms[term] = self._build(term)
        return built

    def _build(self, term: Term) -> Any:
        z3 = self._z3
        match term:
            case Variable():
                variable = z3.Int(term.name, ctx=self._context)
                self._variables[term] = variable
                self._solver.add(variable >= term.low, variable <= term.high)
                return variable
            case Sum():
                total = z3.IntVal(term.constant, ctx=self._context)
                for factor, part in term.terms:
                    total = total + factor * self._term(part)
                return total
            case Quotient():
                return self._term(term.term) / term.divisor
            case Remainder():
                return self._term(term.term) % term.divisor
            case Unsigned():
                inner = self._term(term.term)
                return z3.If(inner < 0, inner + (1 << term.bits), inner)
            case Choice():
                return z3.If(self._claim(term.claim), self._term(term.chosen), self._term(term.other))
