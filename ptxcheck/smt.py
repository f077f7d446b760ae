"""The solver, behind a small door: nothing else imports z3 or pysmt. Imported only where a question needs it.

Terms are integers: variables, sums with integer coefficients, floor division and remainder by a positive number.
Every solver has a context of its own and a limit of effort; `None` means that it could not tell within it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

_EFFORT = 400_000
"""Resource units of z3 for one question: a limit that, unlike time, is the same on every machine."""
_MODELS = 12
"""Assignments that answered earlier questions and are tried first for the next one."""
_REPAIRED = 3
_CHANGES = 8
"""How many of them are changed to answer it, and how often each."""
_REPAIR_EFFORT = 60_000
"""Operations of terms that may be computed to change one of them."""
_BISECTION = 66
"""Values of a term that a search for a number looks at, at most."""


@dataclass(frozen=True, slots=True)
class Variable:
    """An integer from `low` to `high`, both included."""

    name: str
    low: int
    high: int

    @property
    def closest_to_zero(self) -> int:
        """The number that it has where nothing says otherwise."""
        return max(self.low, min(0, self.high))


class _Nested:
    """A term with terms inside, which hashes once."""

    __slots__ = ("_hash",)
    _hash: int

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            fields = tuple(getattr(self, name) for name in type(self).__slots__)
            object.__setattr__(self, "_hash", hash((type(self).__name__, fields)))
            return self._hash


@dataclass(frozen=True, slots=True)
class Sum(_Nested):
    """`constant + Σ coefficient × term`."""

    terms: tuple[tuple[int, Term], ...]
    constant: int
    __hash__ = _Nested.__hash__


@dataclass(frozen=True, slots=True)
class Quotient(_Nested):
    """`⌊term / divisor⌋` for a positive divisor."""

    term: Term
    divisor: int
    __hash__ = _Nested.__hash__


@dataclass(frozen=True, slots=True)
class Remainder(_Nested):
    """`term mod divisor`, from 0 to divisor - 1."""

    term: Term
    divisor: int
    __hash__ = _Nested.__hash__


@dataclass(frozen=True, slots=True)
class Unsigned(_Nested):
    """The pattern of a signed number in a register of 32 or 64 bits, read as unsigned."""

    term: Term
    bits: int = 32
    __hash__ = _Nested.__hash__


@dataclass(frozen=True, slots=True)
class Choice(_Nested):
    """`chosen` where a claim holds, else `other`."""

    claim: Claim
    chosen: Term
    other: Term
    __hash__ = _Nested.__hash__


Term: TypeAlias = Variable | Sum | Quotient | Remainder | Unsigned | Choice


@dataclass(frozen=True, slots=True)
class Claim:
    """`term < bound`, `term == bound` (relation "lt", "eq"), or its negation."""

    relation: str
    term: Term
    bound: int
    holds: bool = True


Numbers: TypeAlias = Mapping[str, int]
Evaluate: TypeAlias = Callable[[Numbers], int]
"""Returns what a term is for numbers of its variables, by their names; one that is not named is the closest to zero."""


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
        return _is_true(self.claim, self.evaluate(numbers))


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
            if variable.low <= found <= variable.high and _is_true(claim.claim, value(found)):
                yield found
            return
        if claim.claim.relation == "eq" and claim.claim.holds:
            solution = _solution(claim.claim.bound, variable, value)
            if solution is not None:
                yield solution
            return
        for end in (variable.high, variable.low):
            if end == start or not _is_true(claim.claim, value(end)):
                continue
            wrong, right = start, end
            while abs(right - wrong) > 1:
                middle = (right + wrong) // 2
                wrong, right = (wrong, middle) if _is_true(claim.claim, value(middle)) else (middle, right)
            yield right


def _distance(claim: Claim, value: int, slope: int) -> int:
    """Return the least change of a variable that makes a false claim true, when its term grows by `slope` with it."""
    if claim.relation == "eq":
        return (claim.bound - value) // slope if claim.holds else 1
    missing = claim.bound - 1 - value if claim.holds else claim.bound - value
    return missing // slope if claim.holds == (slope > 0) else -(-missing // slope)


def _slopes(term: Term) -> dict[str, int]:
    if isinstance(term, Variable):
        return {term.name: 1}
    if not isinstance(term, Sum):
        return {}
    found: dict[str, int] = {}
    inside: set[str] = set()
    for factor, part in term.terms:
        if isinstance(part, Variable):
            found[part.name] = found.get(part.name, 0) + factor
        else:
            inside.update(variable.name for variable in variables_of(part))
    return {name: slope for name, slope in found.items() if slope and name not in inside}


def _solution(bound: int, variable: Variable, value: Callable[[int], int]) -> int | None:
    low, high = variable.low, variable.high
    rises = value(high) >= value(low)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if (value(middle) >= bound) == rises else (middle + 1, high)
    return low if value(low) == bound else None


def _evaluator(term: Term) -> Evaluate:
    """Return how to compute a term: without a walk over it, as the same terms are computed again and again."""
    places: dict[Term, int] = {}
    steps = [_step(each, places) for each in _in_order(term, places)]

    def evaluate(numbers: Numbers) -> int:
        values: list[int] = []
        for step in steps:
            values.append(step(values, numbers))
        return values[-1]

    return evaluate


def _parts(term: Term) -> tuple[Term, ...]:
    """Return the terms that a term is made of."""
    match term:
        case Variable():
            return ()
        case Sum():
            return tuple(part for _, part in term.terms)
        case Quotient() | Remainder() | Unsigned():
            return (term.term,)
        case Choice():
            return term.claim.term, term.chosen, term.other


def _in_order(term: Term, places: dict[Term, int]) -> list[Term]:
    """Return what a term is made of, each part once and before what it is in; `places` gets where each stands."""
    order: list[Term] = []
    waiting: list[tuple[Term, bool]] = [(term, False)]
    while waiting:
        each, is_ready = waiting.pop()
        if each in places:
            continue
        if is_ready:
            places[each] = len(order)
            order.append(each)
        else:
            waiting.append((each, True))
            waiting.extend((part, False) for part in reversed(_parts(each)))
    return order


def _step(term: Term, places: Mapping[Term, int]) -> Callable[[list[int], Numbers], int]:
    """Return how to compute a term from the values of its parts."""
    match term:
        case Variable():
            name, default = term.name, term.closest_to_zero
            return lambda values, numbers: numbers.get(name, default)
        case Sum(terms=((factor, part),), constant=constant):
            place = places[part]
            return lambda values, numbers: constant + factor * values[place]
        case Sum(constant=constant):
            scaled = [(factor, places[part]) for factor, part in term.terms]
            return lambda values, numbers: constant + sum(factor * values[place] for factor, place in scaled)
        case Quotient(divisor=divisor):
            place = places[term.term]
            return lambda values, numbers: values[place] // divisor
        case Remainder(divisor=divisor):
            place = places[term.term]
            return lambda values, numbers: values[place] % divisor
        case Unsigned(bits=bits):
            place, wrap = places[term.term], 1 << bits
            return lambda values, numbers: value + wrap if (value := values[place]) < 0 else value
        case Choice(claim=claim):
            asked, chosen, other = (places[part] for part in _parts(term))
            return lambda values, numbers: values[chosen if _is_true(claim, values[asked]) else other]


def _is_true(claim: Claim, value: int) -> bool:
    return (value < claim.bound if claim.relation == "lt" else value == claim.bound) == claim.holds


def variables_of(term: Term) -> Iterator[Variable]:
    """Yield the variables in a term, each once."""
    return (each for each in _in_order(term, {}) if isinstance(each, Variable))


class PathSolver:
    """Asks whether claims can hold together. What was learned for one question serves the next."""

    def __init__(self) -> None:
        import z3

        self._z3: Any = z3
        self._context: Any = z3.Context()
        self._solver: Any = z3.SolverFor("QF_LIA", ctx=self._context)
        self._solver.set("random_seed", 1)
        self._solver.set("rlimit", _EFFORT)
        self._variables: dict[Variable, Any] = {}
        self._terms: dict[Term, Any] = {}
        self._literals: list[Any] = []
        """For each claim, by its number, a boolean that implies it."""
        self._numbered: dict[Claim, _Numbered] = {}
        self._same: dict[int, tuple[Claim, _Numbered]] = {}
        """The same by identity, as callers ask with the same claims again and again."""
        self._path: Sequence[Claim] = ()
        self._known_path: list[_Numbered] = []
        """The path that was given last."""
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
        if self._find_model(claims, path) is not None:
            return True
        answer = self._solver.check(*[self._literal(claim) for claim in (*path, *claims)])
        if answer == self._z3.unknown:
            return None
        if answer == self._z3.sat:
            self._keep_model((*path, *claims))
            return True
        return False

    def example(self, claims: Sequence[Claim], term: Term, path: Sequence[Claim] = ()) -> int | None:
        """Return a number that a term may be when the claims and those of a path hold, None when none was found."""
        model = self._find_model(claims, path)
        if model is not None:
            return _evaluator(term)(model.numbers)
        built = self._term(term)
        if self._solver.check(*[self._literal(claim) for claim in (*path, *claims)]) != self._z3.sat:
            return None
        number = self._solver.model().eval(built, model_completion=True)
        self._keep_model((*path, *claims))
        return int(number.as_long()) if self._z3.is_int_value(number) else None

    def _find_model(self, claims: Sequence[Claim], path: Sequence[Claim] = ()) -> _Model | None:
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
        for model in (*self._models[:_REPAIRED], _Model({})):
            broken = [claim for claim in asked if not model.holds(claim)]
            if not model.meets(before):
                broken += (claim for claim in reversed(before) if not model.holds(claim))
            repaired = self._repaired(model, broken, places)
            if repaired is not None:
                self._keep(repaired.met(before))
                return repaired
        return None

    def _numbered_path(self, path: Sequence[Claim]) -> Sequence[_Numbered]:
        """Return the claims of a path; the same sequence for the same path."""
        if path is not self._path:
            self._path, self._known_path = path, []
        self._known_path += (self._known(path[number]) for number in range(len(self._known_path), len(path)))
        return self._known_path

    def _repaired(
        self, model: _Model, broken: Sequence[_Numbered], places: Mapping[int, int]
    ) -> _Model | None:
        """Return a model of the claims that differs in some numbers, None when none is found.

        `broken` are those that the model breaks, the last ones first; `places` has the place of each claim by its
        number. Terms of thousands of operations are left to the solver, which needs no numbers to look at them.
        """
        effort = _REPAIR_EFFORT
        for _ in range(_CHANGES + 1):
            if not broken:
                return model if all(map(model.holds, self._assumed)) else None
            first = broken[0]
            effort -= first.size * sum(2 if v.name in first.slopes else _BISECTION for v in first.variables)
            if effort < 0:
                return None
            least: list[_Numbered] | None = None
            following = model
            for variable in first.variables:
                about = [self._claims[each] for each in self._about[variable.name] if each in places]
                numbers = {claim.number for claim in about}
                others = [claim for claim in broken if claim.number not in numbers]
                for number in model.nearest(first, variable):
                    changed = model.changed(variable, number, self._about[variable.name])
                    left = [*others, *(claim for claim in about if not changed.holds(claim))]
                    if least is None or len(left) < len(least):
                        least, following = left, changed
            if least is None:
                return None
            model, broken = following, sorted(least, key=lambda each: -places[each.number])
        return None

    def _keep_model(self, claims: Sequence[Claim]) -> None:
        found = self._solver.model()
        numbers = {
            variable.name: value.as_long()
            for variable, built in self._variables.items()
            if (value := found[built]) is not None
        }
        model = _Model(numbers)
        if all(map(model.holds, self._assumed)) and all(model.holds(self._known(claim)) for claim in claims):
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
        self._literals.append(literal)
        self._solver.add(self._z3.Implies(literal, self._claim(claim), ctx=self._context))
        parts = _in_order(claim.term, {})
        variables = tuple(each for each in parts if isinstance(each, Variable))
        for variable in variables:
            self._about.setdefault(variable.name, []).append(number)
        known = _Numbered(claim, number, _evaluator(claim.term), variables, _slopes(claim.term), len(parts))
        self._claims.append(known)
        return known

    def _literal(self, claim: Claim) -> Any:
        """Return a boolean that implies the claim."""
        return self._literals[self._known(claim).number]

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
