"""Bitwise operations and shifts of fixed-width integers."""

from __future__ import annotations

from .bit_sums import Sums
from .bitvectors import Bits, Kind
from .bitvectors import signed as signed_number


class BitOperations(Sums):
    """Makes terms of bitwise operations and shifts, each once."""

    def and_(self, a: Bits, b: Bits) -> Bits:
        if b.constant is None:
            a, b = (b, a) if a.constant is not None else (a, b)
        mask = b.constant
        if mask is not None:
            if a.constant is not None:
                return self.number(a.constant & mask, a.width)
            if mask & a.maybe == 0:
                return self.number(0, a.width)
            if a.maybe & ~mask == 0:
                return a
            if a.kind is Kind.AND and a.parts[1].constant is not None:
                return self.and_(a.parts[0], self.number(mask & a.parts[1].constant, a.width))
            inner = self._without_high_terms(a, mask)
            if inner is not a:
                return self.and_(inner, b)
        if a is b:
            return a
        if a.width == 1 and self._is_opposite(a, b):
            return self.false
        if mask is None:
            a, b = sorted((a, b), key=lambda each: each.serial)
        found = self._made(Kind.AND, a.width, (a, b))
        found.maybe = a.maybe & b.maybe
        found.high = min(a.high, b.high, found.maybe)
        return found

    def _without_high_terms(self, a: Bits, mask: int) -> Bits:
        """Return a sum without the terms that cannot reach the bits of a mask."""
        if a.kind is not Kind.SUM:
            return a
        beyond = 1 << mask.bit_length()
        kept = [
            (factor, part) for factor, part in zip(a.factors, a.parts, strict=True)
            if factor * (part.maybe & -part.maybe) % beyond
        ]  # fmt: skip
        if len(kept) == len(a.parts) and a.number < beyond:
            return a
        return self._sum(tuple(kept), a.number % beyond, a.width)

    def or_(self, a: Bits, b: Bits) -> Bits:
        if a.constant is not None and b.constant is not None:
            return self.number(a.constant | b.constant, a.width)
        for x, y in ((a, b), (b, a)):
            if x.constant == 0:
                return y
            if x.constant == (1 << a.width) - 1:
                return x
        if a is b:
            return a
        if a.width == 1 and self._is_opposite(a, b):
            return self.true
        if a.width > 1 and a.maybe & b.maybe == 0:
            return self.add(a, b)
        if a.width == 1:
            joined = self._joined(a, b)
            if joined is not None:
                return joined
        a, b = sorted((a, b), key=lambda each: each.serial)
        found = self._made(Kind.OR, a.width, (a, b))
        found.maybe = a.maybe | b.maybe
        found.low, found.high = max(a.low, b.low), found.maybe
        return found

    def _joined(self, a: Bits, b: Bits) -> Bits | None:
        """Return what two truths are together where one makes a part of the other needless."""
        for x, y in ((a, b), (b, a)):
            if y.kind is Kind.AND:
                for part, other in (y.parts, y.parts[::-1]):
                    if part is x:
                        return x
                    if self._is_opposite(x, part):
                        return self.or_(x, other)
                    if x.kind is Kind.AND and part in x.parts:
                        left = x.parts[1 - x.parts.index(part)]
                        return self.and_(part, self.or_(left, other))
        return None

    def xor(self, a: Bits, b: Bits) -> Bits:
        if a.constant is not None and b.constant is not None:
            return self.number(a.constant ^ b.constant, a.width)
        for x, y in ((a, b), (b, a)):
            if x.constant == 0:
                return y
            if x.constant == 1 and a.width == 1 and y.kind is Kind.XOR and y.parts[1] is self.true:
                return y.parts[0]
        if a is b:
            return self.number(0, a.width)
        if a.width > 1:
            for x, y in ((a, b), (b, a)):
                if x.constant == (1 << a.width) - 1:
                    return self._sum(((-1, y),), -1, a.width)
            if a.maybe & b.maybe == 0:
                return self.add(a, b)
        if b.constant is None:
            a, b = (b, a) if a.constant is not None else sorted((a, b), key=lambda each: each.serial)
        found = self._made(Kind.XOR, a.width, (a, b))
        found.maybe = a.maybe | b.maybe
        found.high = found.maybe
        return found

    def not_(self, a: Bits) -> Bits:
        return self.xor(a, self.number(-1, a.width))

    def _is_opposite(self, a: Bits, b: Bits) -> bool:
        return any(
            x.kind is Kind.XOR and x.parts[0] is y and x.parts[1] is self.true for x, y in ((a, b), (b, a))
        )

    def shl(self, a: Bits, amount: Bits) -> Bits:
        by = amount.constant
        if by is not None:
            return self.times(a, 1 << by) if by < a.width else self.number(0, a.width)
        return self._made(Kind.SHL, a.width, (a, amount))

    def lshr(self, a: Bits, amount: Bits) -> Bits:
        by = amount.constant
        if by is None:
            found = self._made(Kind.LSHR, a.width, (a, amount))
            found.high = found.maybe = (1 << (a.high >> min(amount.low, a.width)).bit_length()) - 1
            return found
        if by == 0:
            return a
        if by >= a.width or a.high >> by == 0:
            return self.number(0, a.width)
        if a.constant is not None:
            return self.number(a.constant >> by, a.width)
        exact = self._divided(a, 1 << by)
        if exact is not None:
            return exact
        found = self._made(Kind.LSHR, a.width, (a, amount))
        found.low, found.high, found.maybe = a.low >> by, a.high >> by, a.maybe >> by
        return found

    def _divided(self, a: Bits, divisor: int) -> Bits | None:
        """Return a sum that does not wrap divided by what divides its factors."""
        if a.kind is not Kind.SUM or not self._is_exact(a) or any(f % divisor for f in a.factors):
            return None
        terms = tuple((f // divisor, p) for f, p in zip(a.factors, a.parts, strict=True))
        return self._sum(terms, a.number // divisor, a.width)

    @staticmethod
    def _is_exact(a: Bits) -> bool:
        """Tell whether a sum of unsigned multiples does not wrap around."""
        return a.number + sum(f * p.high for f, p in zip(a.factors, a.parts, strict=True)) < 1 << a.width

    def ashr(self, a: Bits, amount: Bits) -> Bits:
        if a.high >> (a.width - 1) == 0:
            return self.lshr(a, amount)
        by = amount.constant
        if a.constant is not None and by is not None:
            return self.number(signed_number(a.constant, a.width) >> min(by, a.width - 1), a.width)
        return a if by == 0 else self._made(Kind.ASHR, a.width, (a, amount))
