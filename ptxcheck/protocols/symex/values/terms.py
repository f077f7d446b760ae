"""Symbols of the machine as terms of the solver.

Property: for numbers without wrap-around, a term has the number of the form or atom that it was made for.

Argument: operation by operation; an operation that is not followed is a variable of its own.

Not covered: wrap-around, and how variables of their own are related.

Followed are sums, comparisons, choices, and operations by a constant: shifts, masks of bits side by side, high
products, divisions. Parameters and CTA indices are signed integers without wrap-around, of 64 bits where they are
read as such and else of 32; everything else is a variable of its own, which may differ from what it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from ....terms.integers import (
    Choice,
    Claim,
    Quotient,
    Remainder,
    Sum,
    Term,
    Unsigned,
    Variable,
    variables_of,
)
from .kinds import Kind
from .lane_arithmetic import key_of, signed
from .substitution import LOGIC, PREDICATES, holds_64_bits
from .symbol import Atom, Condition, Form

_LEAST = {
    f"%{name}.{axis}": least
    for name, least in (("clusterid", 0), ("nctaid", 1), ("nclusterid", 1))
    for axis in "xyz"
} | {"%smid": 0, "%nsmid": 1, "%dynamic_smem_size": 0, "%total_smem_size": 0}
"""Least numbers of special registers."""
_LOW, _HIGH = -(1 << 31), (1 << 31) - 1
_MOST_IN_GRID = 65535
"""CTAs of a grid in its second and third dimension."""
_DEEPEST = 300
"""Atoms nested deeper are variables."""
_COMPARISONS = {
    ".eq": ("eq", 0, True), ".ne": ("eq", 0, False), ".lt": ("lt", 0, True), ".ge": ("lt", 0, False),
    ".gt": ("lt", 1, False), ".le": ("lt", 1, True), ".lo": ("lt", 0, True), ".hs": ("lt", 0, False),
    ".hi": ("lt", 1, False), ".ls": ("lt", 1, True),
}  # fmt: skip
"""Each relation of a difference to zero, as a claim: relation, bound, truth."""


class Terms:
    """Terms of the solver for forms and atoms, each made once."""

    def __init__(self) -> None:
        self._atoms: dict[Atom, Term] = {}
        self._forms: dict[Form, Term] = {}
        self._claims: dict[tuple[Condition, bool], Claim] = {}
        self._variables: dict[Variable, Atom] = {}

    def claim(self, condition: Condition, truth: bool) -> Claim:
        """Return the claim that a condition has a truth."""
        found = self._claims.get((condition, truth))
        if found is None:
            found = self._claims[condition, truth] = self._claimed(condition, truth)
        return found

    def of(self, form: Form) -> Term:
        """Return a form as a term."""
        found = self._forms.get(form)
        if found is None:
            terms = tuple((factor, self.of_atom(name)) for name, factor in form.terms)
            found = self._forms[form] = Sum(terms, form.constant)
        return found

    def of_atom(self, name: Atom) -> Term:
        """Return an atom as a term: a variable, unless it is an operation that the solver follows."""
        found = self._atoms.get(name)
        if found is None:
            found = self._atoms[name] = self._operation(name) or self._variable(name)
        return found

    def variables(self, form: Form) -> Iterator[Atom]:
        """Yield the atoms that the solver takes for variables in a form."""
        return self._named(self.of(form))

    def variables_in(self, condition: Condition) -> Iterator[Atom]:
        """Yield the atoms that the solver takes for variables in a condition."""
        return self._named(self.claim(condition, True).term)

    def _named(self, term: Term) -> Iterator[Atom]:
        return (self._variables[variable] for variable in variables_of(term))

    def _variable(self, name: Atom) -> Variable:
        low, high = _between(name)
        variable = Variable(name.digest.hex(), low, high)
        self._variables[variable] = name
        return variable

    def _claimed(self, condition: Condition, truth: bool) -> Claim:
        form = condition.form
        if condition.relation in ("eq", "ne"):
            either = None if condition.bound else self._either(form.terms, form.constant)
            term = either or self.of(form)
            return Claim("eq", term, condition.bound, truth == (condition.relation == "eq"))
        term = self.of(form)
        if condition.relation == "below":
            term = Unsigned(term, _bits_of(form))
        return Claim("lt", term, condition.bound, truth)

    def _either(self, terms: Sequence[tuple[Atom, int]], constant: int) -> Term | None:
        """Return a term that is zero where the bits of two numbers together are, None when a sum is no such bits."""
        if (
            len(terms) != 1
            or constant
            or terms[0][0].inner_kind is not Kind.OR
            or not self._is_followed(terms[0][0])
        ):
            return None
        left, right = map(self._operand, terms[0][0].inner[1:3])
        return Choice(Claim("eq", left, 0), right, Sum((), 1))

    @staticmethod
    def _is_followed(name: Atom) -> bool:
        """Tell whether it is looked into an atom: what it is computed by is one number for all threads."""
        return not name.differs and name.nesting <= _DEEPEST

    def _operation(self, name: Atom) -> Term | None:
        """Return an operation that the solver follows, None for any other."""
        if not self._is_followed(name):
            return None
        kind, *parts = name.inner
        if kind == Kind.SUM:
            return self._operand(name)
        if kind == Kind.SELP:
            condition, chosen, other = map(self._operand, parts)
            return Choice(_holds(condition), chosen, other)
        if kind == Kind.CMP or kind == Kind.BELOW:
            return self._comparison(kind, parts)
        if kind == Kind.NOT and _is_truth(parts[0]):
            return _opposite(self._operand(parts[0]))
        if kind in LOGIC and _is_truth(name):
            return self._logic(str(kind), parts)
        return self._by_constant(str(kind), parts)

    def _comparison(self, kind: object, parts: Sequence[object]) -> Term:
        if kind == Kind.BELOW:
            terms, constant, bound = parts
            assert isinstance(bound, int)
            bits = _bits_of(Form(terms, constant))  # type: ignore[arg-type]
            return _one_if(Claim("lt", Unsigned(self._sum(terms, constant), bits), bound))
        relation, terms, constant, *_ = parts
        name, bound, holds = _COMPARISONS[str(relation)]
        either = self._either(terms, constant) if name == "eq" else None  # type: ignore[arg-type]
        return _one_if(Claim(name, either or self._sum(terms, constant), bound, holds))

    def _logic(self, kind: str, parts: Sequence[object]) -> Term:
        left, right = map(self._operand, parts)
        match kind:
            case Kind.AND:
                return Choice(_holds(left), right, Sum((), 0))
            case Kind.OR:
                return Choice(_holds(left), Sum((), 1), right)
            case _:
                return Choice(_holds(left), _opposite(right), right)

    def _by_constant(self, kind: str, parts: Sequence[object]) -> Term | None:
        arguments, rest = parts[:2], parts[2:]
        constants = [part for part in arguments if isinstance(part, int)]
        symbols = [part for part in arguments if isinstance(part, Atom)]
        if len(constants) != 1 or len(symbols) != 1:
            return None
        number = constants[0]
        width = rest[0] if rest and isinstance(rest[0], int) else 32
        is_last = isinstance(arguments[1], int)
        dividend = _rounded_towards_zero(symbols[0], number) if kind == Kind.SAR and is_last else None
        if dividend is not None:
            return _divided(self._operand(dividend), 1 << number)
        inner = self._operand(symbols[0])
        match kind:
            case Kind.SAR if is_last and 0 <= number < width:
                return Quotient(inner, 1 << number)
            case Kind.SHR if is_last and 0 <= number < width:
                natural = self._natural_product(symbols[0], width)
                return Quotient(natural or Unsigned(inner, width), 1 << number)
            case Kind.MULHI if rest[1]:
                return Quotient(Sum(((int(signed(number, width)), inner),), 0), 1 << width)
            case Kind.MULHI:
                product, half = _high_half(number, inner, width), 1 << width - 1
                wrapped = Sum(((1, product),), -2 * half)
                return product if number <= half else Choice(Claim("lt", product, half), product, wrapped)
            case Kind.DIV | Kind.REM if is_last and 0 < number < 1 << 31:
                dividend = inner if rest[1] else Unsigned(inner, width)
                quotient = _divided(inner, number) if rest[1] else Quotient(dividend, number)
                return quotient if kind == Kind.DIV else Sum(((1, dividend), (-number, quotient)), 0)
            case Kind.AND | Kind.OR:
                return _masked(kind, inner, number, 64 if holds_64_bits(symbols[0]) else 32)
            case _:
                return None

    def _natural_product(self, name: Atom, width: int) -> Term | None:
        """Return the high half of an unsigned product with a number as one without a sign, in as many bits.

        None for another atom.
        """
        match name.inner:
            case (Kind.MULHI, int(number), Atom() as part, int(own), 0) | (
                Kind.MULHI, Atom() as part, int(number), int(own), 0
            ) if own == width:  # fmt: skip
                return _high_half(number, self._operand(part), width)
            case _:
                return None

    def _operand(self, part: object) -> Term:
        if isinstance(part, int):
            return Sum((), _signed(part))
        assert isinstance(part, Atom), part
        if part.inner_kind is Kind.SUM:
            return self._sum(*part.inner[1:])
        return self.of_atom(part)

    def _sum(self, terms: object, constant: object) -> Term:
        parts = tuple((factor, self.of_atom(name)) for name, factor in terms)  # type: ignore[attr-defined]
        return Sum(parts, constant)  # type: ignore[arg-type]


def _high_half(factor: int, other: Term, width: int) -> Term:
    return Quotient(Sum(((factor, Unsigned(other, width)),), 0), 1 << width)


def _rounded_towards_zero(shifted: Atom, bits: int) -> object | None:
    """Return x where `x + (x >> 31 >>> 32 - bits)` is shifted right by `bits`: x divided towards zero, as compilers do.

    Written with divisions alone the solver may need seconds for it.
    """
    if shifted.inner_kind is not Kind.SUM:
        return None
    terms, constant = shifted.inner[1:]
    for bias, factor in terms:  # type: ignore[attr-defined]
        if factor != 1 or bias.inner_kind is not Kind.SHR or bias.inner[2:] != (32 - bits, 32):
            continue
        sign = bias.inner[1]
        if isinstance(sign, Atom) and sign.inner_kind is Kind.SAR and sign.inner[2:] == (31, 32):
            others = tuple(each for each in terms if each[0] != bias)  # type: ignore[attr-defined]
            if others and key_of(Form(others, constant)) == sign.inner[1]:  # type: ignore[arg-type]
                return sign.inner[1]
    return None


def _is_truth(part: object) -> bool:
    """Tell whether an atom is 0 or 1."""
    if not isinstance(part, Atom):
        return False
    kind = part.inner_kind
    if kind in LOGIC:
        return all(_is_truth(each) for each in part.inner[1:])
    return kind in PREDICATES or (kind == Kind.NOT and _is_truth(part.inner[1]))


def _least(name: object) -> int:
    """Return the least number that a variable can be: products of sizes of the grid are no smaller than those."""
    if isinstance(name, Atom) and name.kind is Kind.SPECIAL:
        return _LEAST.get(str(name[1]), _LOW)
    if isinstance(name, Atom) and name.inner_kind is Kind.MUL and name.nesting <= _DEEPEST:
        factors = [_least(part) for part in name.inner[1:3]]
        return prod(factors) if min(factors) >= 0 else _LOW
    return name if isinstance(name, int) else _LOW


def _bits_of(form: Form) -> int:
    """Return the bits of the register that a form is in, as far as its parts tell."""
    return 64 if any(_between(name)[1] > _HIGH for name, _ in form.terms) else 32


def _between(name: Atom) -> tuple[int, int]:
    """Return between which numbers a variable lies: one that is read as a byte or two is no more, signed or not."""
    match name.inner:
        case (Kind.PARAM, _, _, int(size)) if size < 4:
            return -(1 << 8 * size - 1), (1 << 8 * size) - 1
        case (Kind.LOAD | Kind.SHARED | Kind.RECEIVED, _, int(width), *_) if width < 32:
            return -(1 << width - 1), (1 << width) - 1
        case (Kind.POPC | Kind.CLZ, _, int(width)):
            return 0, width
        case _ if holds_64_bits(name):
            return -(1 << 63), (1 << 63) - 1
        case (Kind.SPECIAL, str(register)) if register.endswith((".y", ".z")):
            return _least(name), _MOST_IN_GRID
        case _:
            return _least(name), _HIGH


def _holds(truth: Term) -> Claim:
    return Claim("eq", truth, 0, holds=False)


def _one_if(claim: Claim) -> Term:
    return Choice(claim, Sum((), 1), Sum((), 0))


def _opposite(truth: Term) -> Term:
    return Choice(_holds(truth), Sum((), 0), Sum((), 1))


def _signed(number: int) -> int:
    """Read the bits of a register as numbers in forms are read."""
    if 1 << 31 <= number < 1 << 32:
        return number - (1 << 32)
    return number - (1 << 64) if number >> 63 else number


def _divided(term: Term, divisor: int) -> Term:
    """Divide towards zero."""
    negated = Quotient(Sum(((-1, term),), 0), divisor)
    return Choice(Claim("lt", term, 0), Sum(((-1, negated),), 0), Quotient(term, divisor))


def _masked(kind: str, term: Term, mask: int, bits: int) -> Term | None:
    """Return a term with only some bits that follow each other, without its low bits, or with all of them set."""
    low = mask & (mask + 1) == 0 and mask < 1 << bits
    if kind == Kind.OR:
        return Sum(((1, term), (-1, Remainder(term, mask + 1))), mask) if low else None
    if low:
        return Remainder(term, mask + 1)
    cleared = (1 << bits) - (mask & (1 << bits) - 1)
    if cleared & (cleared - 1) == 0:
        return Sum(((1, term), (-1, Remainder(term, cleared))), 0)
    lowest = mask & -mask
    end = mask + lowest
    if end & (end - 1) or end > 1 << bits:
        return None
    return Sum(((lowest, Quotient(Remainder(term, end), lowest)),), 0)
