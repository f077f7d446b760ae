"""All operations of fixed-width integers.

Property: an operation of `Pool` gives a term whose number is, for all numbers of its variables, what the SMT-LIB
operation of that name gives (`FixedSizeBitVectors`), modulo 2^width. Equal terms of one pool are one object.
"""

from __future__ import annotations

from .bit_operations import BitOperations
from .bit_sums import least_bit
from .bitvectors import Bits, Kind
from .bitvectors import signed as signed_number


class Pool(BitOperations):
    """Makes terms, each once."""

    # ---- widths

    def extract(self, a: Bits, low: int, width: int) -> Bits:
        if low == 0 and width == a.width:
            return a
        if low:
            return self.extract(self.lshr(a, self.number(low, a.width)), 0, width)
        if a.constant is not None:
            return self.number(a.constant, width)
        if width == 1:
            return self.not_(self.eq(self.and_(a, self.number(1, a.width)), self.number(0, a.width)))
        match a.kind:
            case Kind.ZEXT | Kind.SEXT:
                inner = a.parts[0]
                if inner.width == width:
                    return inner
                return (
                    self.extract(inner, 0, width) if inner.width > width else self._wide(a.kind, inner, width)
                )
            case Kind.EXTRACT:
                return self.extract(a.parts[0], 0, width)
            case Kind.SUM:
                terms = zip(a.factors, a.parts, strict=True)
                return self._sum(tuple((f, self.extract(p, 0, width)) for f, p in terms), a.number, width)
            case Kind.CHOICE:
                test, chosen, other = a.parts
                return self.choice(test, self.extract(chosen, 0, width), self.extract(other, 0, width))
            case _:
                found = self._made(Kind.EXTRACT, width, (a,))
                mask = (1 << width) - 1
                found.maybe = a.maybe & mask
                if a.high <= mask:
                    found.low, found.high = a.low, a.high
                return found

    def zext(self, a: Bits, width: int) -> Bits:
        return a if width == a.width else self._wide(Kind.ZEXT, a, width)

    def sext(self, a: Bits, width: int) -> Bits:
        return a if width == a.width else self._wide(Kind.SEXT, a, width)

    def _wide(self, kind: Kind, a: Bits, width: int) -> Bits:
        if kind is Kind.SEXT and a.high >> (a.width - 1) == 0:
            kind = Kind.ZEXT
        if a.constant is not None:
            return self.number(a.constant if kind is Kind.ZEXT else signed_number(a.constant, a.width), width)
        if a.width == 1:
            return self.choice(a, self.number(1 if kind is Kind.ZEXT else -1, width), self.number(0, width))
        if a.kind is kind:
            return self._wide(kind, a.parts[0], width)
        if kind is Kind.ZEXT and a.kind is Kind.SUM and self._is_exact(a):
            terms = zip(a.factors, a.parts, strict=True)
            return self._sum(tuple((f, self.zext(p, width)) for f, p in terms), a.number, width)
        if a.kind is Kind.SUM and self._fits(a):
            factors = (signed_number(factor, a.width) for factor in a.factors)
            wide = tuple((f, self.zext(p, width)) for f, p in zip(factors, a.parts, strict=True))
            return self._sum(wide, signed_number(a.number, a.width), width)
        found = self._made(kind, width, (a,))
        if kind is Kind.ZEXT:
            found.low, found.high, found.maybe = a.low, a.high, a.maybe
        else:
            found.maybe &= ~((a.maybe & -a.maybe) - 1)
        return found

    @staticmethod
    def _fits(a: Bits) -> bool:
        """Tell whether a sum of signed multiples of unsigned parts is never negative and does not wrap."""
        low = high = signed_number(a.number, a.width)
        for factor, part in zip(a.factors, a.parts, strict=True):
            signed = signed_number(factor, a.width)
            low += signed * (part.low if signed > 0 else part.high)
            high += signed * (part.high if signed > 0 else part.low)
        return low >= 0 and high >> (a.width - 1) == 0

    # ---- division

    def divide(self, a: Bits, b: Bits, *, signed: bool, rest: bool) -> Bits:
        """Return the quotient or rest; by zero as SMT-LIB has it."""
        x, y = a.constant, b.constant
        if signed and a.high >> (a.width - 1) == 0 and b.high >> (b.width - 1) == 0:
            signed = False
        if x is not None and y:
            if signed:
                n, d = signed_number(x, a.width), signed_number(y, a.width)
                left = abs(n) % abs(d) * (1 if n >= 0 else -1)
                return self.number(left if rest else (n - left) // d, a.width)
            return self.number(x % y if rest else x // y, a.width)
        if y is not None and not signed:
            if y & (y - 1) == 0 and y:
                shift = self.number(y.bit_length() - 1, a.width)
                return self.and_(a, self.number(y - 1, a.width)) if rest else self.lshr(a, shift)
            if y > a.high:
                return a if rest else self.number(0, a.width)
        kinds = {
            (False, False): Kind.UDIV,
            (False, True): Kind.UREM,
            (True, False): Kind.SDIV,
            (True, True): Kind.SREM,
        }
        found = self._made(kinds[signed, rest], a.width, (a, b))
        if y and not signed:
            self._bounded(found, 0, min(y - 1, a.high) if rest else a.high // y)
        return found

    # ---- truth

    def bounds(self, variable: Bits) -> Bits:
        """Return the claim that a variable is within its bounds."""
        low, high = self.number(variable.low, variable.width), self.number(variable.high, variable.width)
        return self.both(self.ule(low, variable, decide=False), self.ule(variable, high, decide=False))

    def both(self, a: Bits, b: Bits) -> Bits:
        return self.and_(a, b)

    def either(self, a: Bits, b: Bits) -> Bits:
        return self.or_(a, b)

    def choice(self, test: Bits, chosen: Bits, other: Bits) -> Bits:
        if test.constant is not None:
            return chosen if test.constant else other
        if chosen is other:
            return chosen
        if chosen.width == 1:
            return self.either(self.both(test, chosen), self.both(self.not_(test), other))
        if test.kind is Kind.XOR and test.parts[1] is self.true:
            return self.choice(test.parts[0], other, chosen)
        found = self._made(Kind.CHOICE, chosen.width, (test, chosen, other))
        found.low, found.high = min(chosen.low, other.low), max(chosen.high, other.high)
        found.maybe = chosen.maybe | other.maybe
        return found

    def eq(self, a: Bits, b: Bits) -> Bits:
        if a is b:
            return self.true
        if a.low > b.high or b.low > a.high:
            return self.false
        if a.width == 1:
            return self.not_(self.xor(a, b))
        difference = self.sub(a, b)
        if difference.constant is not None:
            return self.number(int(difference.constant == 0), 1)
        step = least_bit(difference) if difference.kind is Kind.SUM else 0
        if difference.low > 0 or (step and difference.number % step):
            return self.false
        if b.constant is None:
            a, b = (b, a) if a.constant is not None else sorted((a, b), key=lambda each: each.serial)
        return self._made(Kind.EQ, 1, (a, b))

    def ult(self, a: Bits, b: Bits, *, decide: bool = True) -> Bits:
        if decide:
            if a.high < b.low:
                return self.true
            if a.low >= b.high:
                return self.false
        return self._made(Kind.ULT, 1, (a, b))

    def ule(self, a: Bits, b: Bits, *, decide: bool = True) -> Bits:
        return self.not_(self.ult(b, a, decide=decide))

    def slt(self, a: Bits, b: Bits) -> Bits:
        half = 1 << (a.width - 1)
        if a.high < half and b.high < half:
            return self.ult(a, b)
        if a.constant is not None and b.constant is not None:
            return self.number(
                int(signed_number(a.constant, a.width) < signed_number(b.constant, a.width)), 1
            )
        return self._made(Kind.SLT, 1, (a, b))
