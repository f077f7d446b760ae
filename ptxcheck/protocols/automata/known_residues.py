"""Numbers of the host whose lowest bits are known: what masks keep of them is a number then.

Property: `KnownResidues.stated` gives a value that is the same for all hosts whose numbers have the known residues.

Argument: `x & (2^k - 1)` of a sum of multiples is the sum of the residues modulo 2^k, and `x & ~(2^k - 1)` is what is
left of x without it: exact modulo 2^w. Compilers that unroll a loop and know that its count is not negative clear the
sign with the low bits: that is the same for numbers that are not negative, and 2^31 more for those that are; who asks
says which.

Not covered: rests of divisions by other numbers than powers of two, and numbers that a kernel loads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from ..symex.values.kinds import Kind
from ..symex.values.recurrent_arithmetic import bits_kept
from ..symex.values.substitution import with_pins
from ..symex.values.symbol import FROM_GLOBAL, FROM_SHARED, INEXACT, Atom, Form, Value
from ..symex.values.traversal import walk

LARGEST = 16
"""Largest power of two by which numbers are told apart."""
_WORD_BYTES = 4
_WORD_BITS = 32
_WORD = (1 << _WORD_BITS) - 1
_SIGN = 1 << 31
_OF_HOST = frozenset({Kind.PARAM, Kind.SPECIAL, Kind.SYMBOL})
"""Kinds of what is one number in the whole launch: all that a number of the host is computed from."""
_COMPUTED = frozenset(
    {
        Kind.SUM, Kind.CMP, Kind.BELOW, Kind.COMPARE, Kind.SETP, Kind.NOT, Kind.AND, Kind.OR, Kind.XOR, Kind.SELP,
        Kind.ADD, Kind.SUB, Kind.MUL, Kind.MULHI, Kind.DIV, Kind.REM, Kind.SHL, Kind.SHR, Kind.SAR, Kind.ABS,
        Kind.BFE, Kind.BFI, Kind.BFIND, Kind.BREV, Kind.CLZ, Kind.CVT, Kind.LOP3, Kind.POPC, Kind.PRMT, Kind.SHF,
        Kind.PACK, Kind.PART,
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Residue:
    """What a number is modulo a power of two."""

    modulus: int
    rest: int


@dataclass(frozen=True, slots=True)
class _Mask:
    """A number of which an atom keeps the bits below a power of two, or all others."""

    masked: Form
    size: int
    keeps_low: bool
    clears_sign: bool = False


class KnownResidues:
    """What is known of the lowest bits of numbers, and of which it was asked in vain."""

    def __init__(self, known: Mapping[Atom, Residue] | None = None) -> None:
        self.known = known or {}
        self.asked: dict[Atom, int] = {}
        """Numbers that masks keep bits of that are not known, and modulo what they were to be."""
        self._stated: dict[tuple[Form, frozenset[tuple[Atom, int | Form]]], Value] = {}

    def stated(self, value: Value, threads: int, is_negative: Callable[[Form], bool | None]) -> Value:
        """Return a value with numbers for what masks keep of numbers with a known residue.

        `is_negative` tells of a number whether it is negative as a signed one; None where that is not known.
        """
        if not self.known or not isinstance(value, Form):
            return value
        pins = dict(self._pins(value, is_negative))
        if not pins:
            return value
        key = value, frozenset(pins.items())
        found = self._stated.get(key)
        if found is None:
            found = self._stated[key] = with_pins(value, pins, threads)
        return found

    def of_open_sign(self, value: Form) -> Iterator[Form]:
        """Yield the numbers of which a mask clears the sign, too: what it keeps depends on that."""
        for _, mask in _masks_in(value) if self.known else ():
            if mask.clears_sign and self._low(mask) is not None:
                yield mask.masked

    def _pins(
        self, value: Form, is_negative: Callable[[Form], bool | None]
    ) -> Iterator[tuple[Atom, int | Form]]:
        for name, mask in _masks_in(value):
            low = self._low(mask)
            if low is None:
                continue
            if mask.keeps_low:
                yield name, low
                continue
            negative = is_negative(mask.masked) if mask.clears_sign else False
            if negative is not None:
                constant = mask.masked.constant - low + (_SIGN if negative else 0)
                yield name, Form(mask.masked.terms, constant)

    def _low(self, mask: _Mask) -> int | None:
        """Return the low bits of what is masked, None where a number in it has no known residue."""
        total = mask.masked.constant
        for name, factor in mask.masked.terms:
            residue = self.known.get(name)
            if factor % mask.size == 0:
                continue
            if residue is None or residue.modulus * factor % mask.size:
                return None
            total += factor * residue.rest
        return total % mask.size

    def ask(self, value: Value) -> None:
        """Note of which numbers of the host a value keeps bits that are not known."""
        if not isinstance(value, Form):
            return
        for _, mask in _masks_in(value):
            for name, factor in mask.masked.terms:
                known = self.known.get(name)
                if factor % mask.size and (known is None or known.modulus < mask.size):
                    self.asked[name] = max(self.asked.get(name, 1), mask.size)


@lru_cache(maxsize=1 << 14)
def _masks_in(value: Form) -> tuple[tuple[Atom, _Mask], ...]:
    found: list[tuple[Atom, _Mask]] = []
    for name in walk(value.terms):
        mask = _mask(name)
        if mask is not None and all(
            factor % mask.size == 0 or _is_of_host(each) for each, factor in mask.masked.terms
        ):
            found.append((name, mask))
    return tuple(found)


def _mask(name: Atom) -> _Mask | None:
    """Return what an atom keeps of a number; None where it keeps other bits than the lowest, or all but those."""
    kept = bits_kept(name)
    if kept is None:
        return None
    masked, bits = kept
    if bits & bits + 1 == 0 and 1 < bits + 1 <= LARGEST:
        return _Mask(masked, bits + 1, keeps_low=True)
    if not _is_word(masked):
        return None
    cleared = ~bits & _WORD
    size = (cleared & ~_SIGN) + 1
    if bits <= _WORD and size & size - 1 == 0 and 1 < size <= LARGEST:
        return _Mask(masked, size, keeps_low=False, clears_sign=bool(cleared & _SIGN))
    return None


def _is_word(form: Form) -> bool:
    """Tell whether a number is made of parameters and quotients of 32 bits."""
    return all(
        (name.kind is Kind.PARAM and name[3] == _WORD_BYTES)
        or (name.inner_kind in (Kind.SAR, Kind.SHR) and name.inner[3] == _WORD_BITS)
        for name, _ in form.terms
    )


def _is_of_host(name: Atom) -> bool:
    """Tell whether an atom is one number for the whole launch, which nothing loads."""
    if name.differs or name.origin & (FROM_GLOBAL | FROM_SHARED | INEXACT):
        return False
    return all(each.inner_kind in _OF_HOST or each.inner_kind in _COMPUTED for each in walk(name))
