"""Where a value keeps a part of numbers of the host: masks, quotients, comparisons, and the conditions of choices.

Property: what `masks_in`, `quotients_in` and `bounds_in` find is computed from numbers of the launch, and variables.

Argument: atoms are looked at by their kinds; what is loaded, or differs between threads, is left out.

Not covered: what is kept of other numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import gcd

from ..symex.values.kinds import Kind
from ..symex.values.recurrent_arithmetic import bits_kept, form_of, quotient_of
from ..symex.values.substitution import LOGIC
from ..symex.values.symbol import FROM_GLOBAL, FROM_SHARED, INEXACT, Atom, Form
from ..symex.values.traversal import walk
from .variables import is_of_variables

LARGEST = 16
"""Largest modulus by which numbers are told apart."""
WORD_BYTES = 4
SIGN = 1 << 31
WORD = (1 << 32) - 1
_WORD_BITS = 32
_OF_HOST = frozenset({Kind.PARAM, Kind.SPECIAL, Kind.SYMBOL})
"""Kinds of what is one number in the whole launch: all that a number of the host is computed from."""
_OF_HOST_OR_VARIABLES = _OF_HOST | {Kind.VARIABLE}
_COMPUTED = frozenset(
    {
        Kind.SUM, Kind.CMP, Kind.BELOW, Kind.COMPARE, Kind.SETP, Kind.NOT, Kind.AND, Kind.OR, Kind.XOR, Kind.SELP,
        Kind.ADD, Kind.SUB, Kind.MUL, Kind.MULHI, Kind.DIV, Kind.REM, Kind.SHL, Kind.SHR, Kind.SAR, Kind.ABS,
        Kind.BFE, Kind.BFI, Kind.BFIND, Kind.BREV, Kind.CLZ, Kind.CVT, Kind.LOP3, Kind.POPC, Kind.PRMT, Kind.SHF,
        Kind.PACK, Kind.PART,
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mask:
    """A number of which an atom keeps the bits below a power of two, or all others."""

    masked: Form
    size: int
    keeps_low: bool
    clears_sign: bool = False


@dataclass(frozen=True, slots=True)
class Bound:
    """That the sum of a number of the host and of variables is below a bound, as unsigned numbers."""

    number: Atom
    others: Form
    bound: int


@lru_cache(maxsize=1 << 14)
def quotients_in(value: Form) -> tuple[tuple[Atom, Form, int], ...]:
    """Return the quotients of numbers of the host, and variables, what is divided, and by what."""
    found: list[tuple[Atom, Form, int]] = []
    for name in walk(value.terms):
        divided = quotient_of(name)
        if divided is not None and _are_known(each for each, _ in divided[0].terms):
            found.append((name, *divided))
    return tuple(found)


@lru_cache(maxsize=1 << 14)
def signs_in(value: Form) -> tuple[tuple[Atom, Form], ...]:
    """Return the signs of quotients in a value, which are added to round towards zero, and what is divided."""
    return tuple((name, form) for name in walk(value.terms) if (form := sign_of_quotient(name)) is not None)


def sign_of_quotient(name: Atom) -> Form | None:
    """Return what is divided by a quotient of which an atom is the sign, None for other atoms.

    The high half of a signed product with a positive factor is negative just where what is multiplied is.
    """
    match name.inner:
        case (Kind.SHR, Atom() as part, int(bits), int(width)) if bits + 1 == width == _WORD_BITS:
            match part.inner:
                case (Kind.SAR, Atom() as product, int(), int()):
                    part = product
                case _:
                    pass
            return _factor_of(part)
        case _:
            return None


def _factor_of(product: Atom) -> Form | None:
    """Return the number that is multiplied by a positive one in the high half of a signed product; None for others."""
    match product.inner:
        case (Kind.MULHI, number, int(factor), int(width), signed) if signed and 0 < factor < 1 << width - 1:
            return form_of(number)
        case _:
            return None


@lru_cache(maxsize=1 << 14)
def masks_in(value: Form) -> tuple[tuple[Atom, Mask], ...]:
    """Return the atoms of a value that keep bits of numbers of the host, and variables."""
    found: list[tuple[Atom, Mask]] = []
    for name in walk(value.terms):
        mask = _mask(name)
        if mask is not None and _are_known(each for each, factor in mask.masked.terms if factor % mask.size):
            found.append((name, mask))
    return tuple(found)


@lru_cache(maxsize=1 << 14)
def bounds_in(value: Form) -> tuple[tuple[Atom, Bound], ...]:
    """Return the comparisons in a value of a number of the host together with variables."""
    return tuple((name, bound) for name in walk(value.terms) if (bound := _bound(name)) is not None)


def _bound(name: Atom) -> Bound | None:
    match name.inner:
        case (Kind.BELOW, tuple(terms), int(constant), int(bound)) if constant >= 0:
            of_host = [each for each in terms if is_of_host(each[0])]
            others = tuple(each for each in terms if each not in of_host)
            is_sum = all(each.kind is Kind.VARIABLE and factor > 0 for each, factor in others)
            if others and is_sum and len(of_host) == 1 and of_host[0][1] == 1:
                return Bound(of_host[0][0], Form(others, constant), bound)
            return None
        case _:
            return None


def host_conditions(value: Form) -> Iterator[Form]:
    """Yield the conditions of choices between numbers in a value that are on numbers of the host alone.

    Of a condition that joins others, those parts.
    """
    for name in walk(value.terms):
        match name.inner:
            case (Kind.SELP, Atom() as condition, one, other) if _is_number(one) and _is_number(other):
                yield from (Form(((each, 1),)) for each in _parts_of_host(condition))
            case _:
                continue


def _is_number(part: object) -> bool:
    """Tell whether a part of an atom is a number, once variables are."""
    form = form_of(part)
    return isinstance(part, int) or (form is not None and is_of_variables(form))


def _parts_of_host(condition: Atom) -> Iterator[Atom]:
    if is_of_host(condition):
        yield condition
    elif condition.inner_kind in (Kind.NOT, *LOGIC):
        for each in condition.inner[1:]:
            if isinstance(each, Atom):
                yield from _parts_of_host(each)


def _mask(name: Atom) -> Mask | None:
    """Return what an atom keeps of a number; None where it keeps other bits than the lowest, or all but those."""
    kept = bits_kept(name)
    if kept is None:
        return None
    masked, bits = kept
    step = gcd(*(factor for _, factor in masked.terms))
    lowest = bits & -bits
    if lowest > 1 and step % lowest == 0:  # the bits below are those of the constant
        masked, bits = Form(masked.terms, masked.constant - masked.constant % lowest), bits | lowest - 1
    if bits & bits + 1 == 0 and 1 < (bits + 1) // gcd(step, bits + 1) <= LARGEST and bits < WORD:
        return Mask(masked, bits + 1, keeps_low=True)
    if not _is_word(masked):
        return None
    cleared = ~bits & WORD
    size = (cleared & ~SIGN) + 1
    if bits <= WORD and size & size - 1 == 0 and 1 < size <= LARGEST:
        return Mask(masked, size, keeps_low=False, clears_sign=bool(cleared & SIGN))
    return None


def _is_word(form: Form) -> bool:
    """Tell whether a number is made of parameters and quotients of 32 bits."""
    return all(
        (name.kind is Kind.PARAM and name[3] == WORD_BYTES)
        or (name.inner_kind in (Kind.SAR, Kind.SHR) and name.inner[3] == _WORD_BITS)
        for name, _ in form.terms
    )


def _are_known(names: Iterator[Atom]) -> bool:
    """Tell whether atoms are numbers of the host, or computed from those and variables."""
    return all(_is_of(name, _OF_HOST_OR_VARIABLES) for name in names)


def is_of_host(name: Atom) -> bool:
    """Tell whether an atom is one number for the whole launch, which nothing loads."""
    return _is_of(name, _OF_HOST)


@lru_cache(maxsize=1 << 16)
def _is_of(name: Atom, kinds: frozenset[Kind]) -> bool:
    if name.differs or name.origin & (FROM_GLOBAL | FROM_SHARED | INEXACT):
        return False
    return all(each.inner_kind in kinds or each.inner_kind in _COMPUTED for each in walk(name))
