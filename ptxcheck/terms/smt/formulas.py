"""Claims as formulas of pySMT, which every solver can be asked by.

Property: a formula has a solution where the claims can hold together, and only there.

Argument: quotients and remainders are not left to what a solver calls division: of `t` by `d` they are the only `q` and
`r` with `t = d*q + r` and `0 <= r < d`, and are stated so. Integers as words (`Words`): every variable is bounded, so
every part of a term is; words are wide enough for each of them, partial sums included, and nothing wraps around.

Not covered: terms whose bounds need more than `MOST_BITS`; `Words` does not make formulas of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..bitvectors import Bits, Kind
from ..bitvectors import in_order as bits_in_order
from ..integers import (
    Choice,
    Claim,
    Quotient,
    Remainder,
    Sum,
    Term,
    Unsigned,
    Variable,
    in_order,
)

MOST_BITS = 512
"""Of a word that stands for an integer."""


class TooWideError(Exception):
    """An integer that needs more bits than words may have."""


class Integers:
    """Formulas of linear integer arithmetic (QF_LIA)."""

    logic = "QF_LIA"

    def __init__(self, environment: Any) -> None:
        self._make = environment.formula_manager
        self._built: dict[Term, Any] = {}
        self._divided: dict[tuple[Term, int], tuple[Any, Any]] = {}
        self._sides: list[Any] = []
        self._names: dict[str, str] = {}
        """Of variables in formulas: theirs are texts of any kind."""

    def formulas(self, claims: Sequence[Claim]) -> list[Any]:
        """Return the claims, and what their variables and divisions are known by."""
        wanted = [self._claim(claim) for claim in claims]
        return [*self._sides, *wanted]

    def _claim(self, claim: Claim) -> Any:
        term, bound = self.term(claim.term), self._number(claim.bound)
        formula = self._less(term, bound) if claim.relation == "lt" else self._make.Equals(term, bound)
        return formula if claim.holds else self._make.Not(formula)

    def term(self, term: Term) -> Any:
        """Return a term, which may be thousands of operations deep."""
        for each in in_order(term, {}):
            if each not in self._built:
                self._built[each] = self._build(each)
        return self._built[term]

    def _build(self, term: Term) -> Any:
        match term:
            case Variable():
                name = self._names.setdefault(term.name, f"v{len(self._names)}")
                return self._bounded(name, term.low, term.high)
            case Sum():
                parts = [self._scaled(factor, self._built[part]) for factor, part in term.terms]
                return self._total([*parts, self._number(term.constant)])
            case Quotient():
                return self._division(term.term, term.divisor)[0]
            case Remainder():
                return self._division(term.term, term.divisor)[1]
            case Unsigned():
                inner = self._built[term.term]
                wrapped = self._total([inner, self._number(1 << term.bits)])
                return self._make.Ite(self._less(inner, self._number(0)), wrapped, inner)
            case Choice():
                return self._make.Ite(
                    self._claim(term.claim), self._built[term.chosen], self._built[term.other]
                )

    def _division(self, term: Term, divisor: int) -> tuple[Any, Any]:
        found = self._divided.get((term, divisor))
        if found is None:
            number, inner = len(self._divided), self._built[term]
            low, high = self._range(term)
            quotient = self._bounded(f"quotient!{number}", low // divisor, high // divisor)
            rest = self._bounded(f"remainder!{number}", 0, divisor - 1)
            whole = self._total([self._scaled(divisor, quotient), rest])
            self._sides.append(self._make.Equals(inner, whole))
            found = self._divided[term, divisor] = quotient, rest
        return found

    def _bounded(self, name: str, low: int, high: int) -> Any:
        variable = self._variable(name)
        self._sides += [
            self._make.Not(self._less(variable, self._number(low))),
            self._make.Not(self._less(self._number(high), variable)),
        ]
        return variable

    # ---- how integers are written

    def _range(self, term: Term) -> tuple[int, int]:
        return ranges_of(term)[term]

    def _variable(self, name: str) -> Any:
        from pysmt.typing import INT

        return self._make.Symbol(name, INT)

    def _number(self, number: int) -> Any:
        return self._make.Int(number)

    def _less(self, left: Any, right: Any) -> Any:
        return self._make.LT(left, right)

    def _scaled(self, factor: int, term: Any) -> Any:
        return term if factor == 1 else self._make.Times(self._make.Int(factor), term)

    def _total(self, parts: list[Any]) -> Any:
        return self._make.Plus(parts)


class Words(Integers):
    """The same as formulas of words that are wide enough (QF_BV), for solvers that know no integers."""

    logic = "QF_BV"

    def __init__(self, environment: Any, claims: Sequence[Claim]) -> None:
        """The width is that of the widest part of the claims. Raises TooWideError."""
        super().__init__(environment)
        self._ranges: dict[Term, tuple[int, int]] = {}
        largest = 1
        for claim in claims:
            largest = max(largest, abs(claim.bound))
            for term, (low, high) in ranges_of(claim.term).items():
                self._ranges[term] = low, high
                largest = max(largest, abs(low), abs(high), _largest_inside(term, self._ranges))
        self._width = largest.bit_length() + 2
        if self._width > MOST_BITS:
            raise TooWideError

    def _range(self, term: Term) -> tuple[int, int]:
        return self._ranges[term]

    def _variable(self, name: str) -> Any:
        from pysmt.typing import BVType

        return self._make.Symbol(name, BVType(self._width))

    def _number(self, number: int) -> Any:
        return self._make.BV(number % (1 << self._width), self._width)

    def _less(self, left: Any, right: Any) -> Any:
        return self._make.BVSLT(left, right)

    def _scaled(self, factor: int, term: Any) -> Any:
        return term if factor == 1 else self._make.BVMul(self._number(factor), term)

    def _total(self, parts: list[Any]) -> Any:
        total = parts[0]
        for part in parts[1:]:
            total = self._make.BVAdd(total, part)
        return total


def ranges_of(term: Term) -> dict[Term, tuple[int, int]]:
    """Return the least and the greatest number that a term, and each part of it, may be by the bounds of variables."""
    found: dict[Term, tuple[int, int]] = {}
    for each in in_order(term, {}):
        match each:
            case Variable():
                found[each] = each.low, each.high
            case Sum():
                ends = [sorted((factor * end) for end in found[part]) for factor, part in each.terms]
                found[each] = (
                    each.constant + sum(low for low, _ in ends),
                    each.constant + sum(high for _, high in ends),
                )
            case Quotient():
                low, high = found[each.term]
                found[each] = low // each.divisor, high // each.divisor
            case Remainder():
                found[each] = 0, each.divisor - 1
            case Unsigned():
                low, high = found[each.term]
                wrapped = [] if low >= 0 else [low + (1 << each.bits), min(high, -1) + (1 << each.bits)]
                plain = [] if high < 0 else [max(low, 0), high]
                found[each] = min(*wrapped, *plain), max(*wrapped, *plain)
            case Choice():
                (low, high), (other_low, other_high) = found[each.chosen], found[each.other]
                found[each] = min(low, other_low), max(high, other_high)
    return found


def _largest_inside(term: Term, ranges: dict[Term, tuple[int, int]]) -> int:
    """Return a bound of what is computed on the way to a term, beside its parts."""
    match term:
        case Sum():
            parts = (abs(factor) * max(map(abs, ranges[part])) for factor, part in term.terms)
            return (
                abs(term.constant)
                + max(map(abs, (factor for factor, _ in term.terms)), default=0)
                + sum(parts)
            )
        case Quotient() | Remainder():
            return 2 * term.divisor + max(map(abs, ranges[term.term]))
        case Unsigned():
            return (1 << term.bits) + max(map(abs, ranges[term.term]))
        case Choice():
            return abs(term.claim.bound)
        case _:
            return 0


class Registers:
    """Formulas of registers (QF_BV)."""

    logic = "QF_BV"

    def __init__(self, environment: Any) -> None:
        self._make = environment.formula_manager
        self._built: dict[Bits, Any] = {}

    def formulas(self, claims: Sequence[Bits]) -> list[Any]:
        """Return the claims, which are terms of width 1."""
        for each in bits_in_order(*claims):
            self._built[each] = self._build(each, [self._built[part] for part in each.parts])
        return [self._built[claim] for claim in claims]

    def _build(self, term: Bits, parts: list[Any]) -> Any:
        from pysmt.typing import BOOL, BVType

        make, width = self._make, term.width
        match term.kind:
            case Kind.NUMBER:
                return make.Bool(bool(term.number)) if width == 1 else make.BV(term.number, width)
            case Kind.VARIABLE | Kind.APPLY if width == 1:
                return make.Symbol(f"v{term.serial}", BOOL)
            case Kind.VARIABLE | Kind.APPLY:
                used = max(term.maybe.bit_length(), 1)
                variable = make.Symbol(f"v{term.serial}", BVType(used))
                return variable if used == width else make.BVZExt(variable, width - used)
            case Kind.SUM:
                total = make.BV(term.number, width)
                for factor, part in zip(term.factors, parts, strict=True):
                    scaled = part if factor == 1 else make.BVMul(make.BV(factor % (1 << width), width), part)
                    total = make.BVAdd(total, scaled)
                return total
            case Kind.EXTRACT:
                found = make.BVExtract(parts[0], term.number, term.number + width - 1)
                return make.EqualsOrIff(found, make.BV(1, 1)) if width == 1 else found
            case Kind.ZEXT | Kind.SEXT:
                return self._extended(term, parts[0])
            case Kind.CHOICE:
                return make.Ite(*parts)
            case Kind.EQ:
                return make.EqualsOrIff(*parts)
            case _:
                return self._operation(term, parts)

    def _extended(self, term: Bits, part: Any) -> Any:
        make, more = self._make, term.width - term.parts[0].width
        if term.parts[0].width == 1:
            part = make.Ite(part, make.BV(1, 1), make.BV(0, 1))
        return make.BVZExt(part, more) if term.kind is Kind.ZEXT else make.BVSExt(part, more)

    def _operation(self, term: Bits, parts: list[Any]) -> Any:
        make = self._make
        if term.width == 1 and term.kind in (Kind.AND, Kind.OR, Kind.XOR):
            both = {Kind.AND: make.And, Kind.OR: make.Or, Kind.XOR: lambda a, b: make.Not(make.Iff(a, b))}
            return both[term.kind](*parts)
        operations = {
            Kind.PRODUCT: make.BVMul, Kind.UDIV: make.BVUDiv, Kind.UREM: make.BVURem, Kind.SDIV: make.BVSDiv,
            Kind.SREM: make.BVSRem, Kind.AND: make.BVAnd, Kind.OR: make.BVOr, Kind.XOR: make.BVXor,
            Kind.SHL: make.BVLShl, Kind.LSHR: make.BVLShr, Kind.ASHR: make.BVAShr, Kind.ULT: make.BVULT,
            Kind.SLT: make.BVSLT,
        }  # fmt: skip
        return operations[term.kind](*parts)
