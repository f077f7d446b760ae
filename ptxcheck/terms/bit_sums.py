"""Literals, variables and sums of fixed-width integers.

Sums are kept as one sum of multiples of other terms, so that what two addresses have in common cancels.
"""

from __future__ import annotations

from .bitvectors import Bits, Kind
from .bitvectors import signed as signed_number


def least_bit(total: Bits) -> int:
    """Return the largest power of two that divides all multiples of a sum."""
    return min((f & -f) * (p.maybe & -p.maybe) for f, p in zip(total.factors, total.parts, strict=True))


_COMMUTING = frozenset({Kind.PRODUCT, Kind.AND, Kind.OR, Kind.XOR, Kind.EQ})


class Sums:
    """Makes literals, variables and sums, each once."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Bits] = {}
        self.true = self.number(1, 1)
        self.false = self.number(0, 1)

    def number(self, number: int, width: int) -> Bits:
        """Return a literal, wrapped to the width."""
        number &= (1 << width) - 1
        key = (Kind.NUMBER, width, number)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Bits(Kind.NUMBER, width, (), (), number, "", len(self._known))
            found.low = found.high = found.maybe = number
        return found

    def variable(self, name: str, width: int, low: int = 0, high: int | None = None) -> Bits:
        """Return a variable; its bounds are part of it (see `bounds`)."""
        most = (1 << width) - 1 if high is None else high
        if low == most:
            return self.number(low, width)
        key = (Kind.VARIABLE, width, name, low, most)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Bits(Kind.VARIABLE, width, (), (), 0, name, len(self._known))
            found.low, found.high, found.maybe = low, most, (1 << most.bit_length()) - 1
        return found

    def apply(self, name: str, width: int, *parts: Bits) -> Bits:
        """Return an uninterpreted function of terms."""
        return self._made(Kind.APPLY, width, parts, name=name)

    def add(self, a: Bits, b: Bits) -> Bits:
        return self._sum(((1, a), (1, b)), 0, a.width)

    def sub(self, a: Bits, b: Bits) -> Bits:
        return self._sum(((1, a), (-1, b)), 0, a.width)

    def neg(self, a: Bits) -> Bits:
        return self._sum(((-1, a),), 0, a.width)

    def times(self, a: Bits, factor: int) -> Bits:
        return self._sum(((factor, a),), 0, a.width)

    def mul(self, a: Bits, b: Bits) -> Bits:
        if a.constant is not None:
            return self.times(b, a.constant)
        if b.constant is not None:
            return self.times(a, b.constant)
        x, y = sorted((a, b), key=lambda each: each.serial)
        found = self._made(Kind.PRODUCT, a.width, (x, y))
        self._bounded(found, a.low * b.low, a.high * b.high)
        return found

    def _sum(self, terms: tuple[tuple[int, Bits], ...], number: int, width: int) -> Bits:
        mask = (1 << width) - 1
        sums: dict[Bits, int] = {}
        for factor, term in terms:
            if term.kind is Kind.NUMBER:
                number += factor * term.number
            elif term.kind is Kind.SUM:
                number += factor * term.number
                for inner, part in zip(term.factors, term.parts, strict=True):
                    sums[part] = sums.get(part, 0) + factor * inner
            else:
                sums[term] = sums.get(term, 0) + factor
        kept = [(part, factor & mask) for part, factor in sums.items() if factor & mask]
        if len(kept) > 1:
            kept.sort(key=lambda each: each[0].serial)
        number &= mask
        if not kept:
            return self.number(number, width)
        if len(kept) == 1 and kept[0][1] == 1 and number == 0:
            return kept[0][0]
        parts, factors = tuple(part for part, _ in kept), tuple(factor for _, factor in kept)
        key = (Kind.SUM, width, parts, factors, number)
        found = self._known.get(key)
        if found is None:
            found = Bits(Kind.SUM, width, parts, factors, number, "", len(self._known))
            self._known[key] = found
            low = high = signed_number(number, width)
            step = (number & -number) or 1 << width
            for part, factor in kept:
                step = min(step, (factor & -factor) * (part.maybe & -part.maybe))
                if factor > mask >> 1:
                    factor -= mask + 1
                    low, high = low + factor * part.high, high + factor * part.low
                else:
                    low, high = low + factor * part.low, high + factor * part.high
            self._bounded(found, low, high)
            found.maybe &= ~(step - 1)
        return found

    def copied(self, term: Bits, parts: tuple[Bits, ...]) -> Bits:
        """Return a term with other variables, of the same bounds, in place of some of its own."""
        if all(mine is its for mine, its in zip(term.parts, parts, strict=True)):
            return term
        factors = term.factors
        if term.kind is Kind.SUM:
            order = sorted(zip(parts, factors, strict=True), key=lambda each: each[0].serial)
            parts, factors = tuple(part for part, _ in order), tuple(factor for _, factor in order)
            key: tuple[object, ...] = (Kind.SUM, term.width, parts, factors, term.number)
        else:
            if (
                term.kind in _COMMUTING
                and parts[1].kind is not Kind.NUMBER
                and parts[0].serial > parts[1].serial
            ):
                parts = parts[::-1]
            key = (term.kind, term.width, parts, term.number, term.name)
        found = self._known.get(key)
        if found is None:
            found = Bits(term.kind, term.width, parts, factors, term.number, term.name, len(self._known))
            found.low, found.high, found.maybe = term.low, term.high, term.maybe
            self._known[key] = found
        return found

    # ---- parts

    @staticmethod
    def _bounded(term: Bits, low: int, high: int) -> None:
        if low >= 0 and high >> term.width == 0:
            term.low, term.high = max(term.low, low), min(term.high, high)
            term.maybe &= (1 << high.bit_length()) - 1

    def _made(
        self, kind: Kind, width: int, parts: tuple[Bits, ...], *, number: int = 0, name: str = ""
    ) -> Bits:
        key = (kind, width, parts, number, name)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Bits(kind, width, parts, (), number, name, len(self._known))
        return found
