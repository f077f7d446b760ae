"""Low bits, quotients and rests of numbers that loops count: `M*q + r`, where `r` is known.

Property: each function gives the result of the operation for every number that the form stands for, or None.

Argument: a term whose factor is a multiple of a power of two has no part in the bits below it, and one whose factor
is a multiple of a divisor none in the rest. This is exact modulo 2^w, as a power of two that is kept divides it.

Not covered: quotients of numbers that are negative or wrap around: what counts rounds is taken to be neither, which
`automata` names as an assumption where a decision depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import gcd

from ....opcodes.op import Op
from .kinds import Kind
from .symbol import Atom, Form, plus

COUNTED = frozenset({Kind.ORDINAL, Kind.WIDENED})
_NOT_COMPUTED = frozenset({Kind.LOAD, Kind.SETP, Kind.OPCODE})
"""Kinds of atoms that stand for what rounds of a loop change."""
_LARGEST_DIVISOR = 64
_LARGEST_PERIOD = 512
_SOON = 4
"""A number that rounds change by multiples of so many of its high bits wraps around in few of them."""
_WORD = 32


def counts(form: Form) -> bool:
    """Tell whether rounds of a loop change a number."""
    return any(name.kind in COUNTED for name, _ in form.terms)


def masked(form: Form, mask: int, width: int = 64) -> Form | int | None:
    """Return `form & mask`."""
    size = 1 << mask.bit_length()
    if all(factor % size == 0 for _, factor in form.terms):
        return form.constant & mask
    for bits in (_WORD, width):
        cleared = ~mask & (1 << bits) - 1
        low = cleared + 1
        if mask.bit_length() == bits and cleared & low == 0 and all(f % low == 0 for _, f in form.terms):
            return Form(form.terms, form.constant - (form.constant & cleared))
    return _masked_inside(form, mask)


def _masked_inside(form: Form, mask: int) -> int | None:
    """Return bits of a number that was masked and shifted before, where they are known."""
    if not _is_one_atom(form):
        return None
    name, amount = form.terms[0][0], 0
    kept = bits_kept(name)
    if kept is None and name.inner_kind is Kind.SHR and isinstance(name.inner[2], int):
        amount, dividend = name.inner[2], form_of(name.inner[1])
        kept = None if dividend is None else (dividend, mask << amount)
    if kept is None:
        return None
    found = masked(kept[0], kept[1] & mask << amount)
    return found >> amount if isinstance(found, int) else None


def bits_kept(name: Atom) -> tuple[Form, int] | None:
    """Return the number of which an atom keeps some bits, and the mask; None for others."""
    match name.inner:
        case (Kind.AND, int(mask), part) | (Kind.AND, part, int(mask)):
            form = form_of(part)
            return None if form is None else (form, mask)
        case _:
            return None


def _is_one_atom(form: Form) -> bool:
    return len(form.terms) == 1 and form.terms[0][1] == 1 and not form.constant


def may_be_masked(form: Form, bits: int) -> bool:
    """Tell whether rounds change a number, or it is some bits of one, or the bits keep nothing that is not known."""
    is_low = not bits & bits + 1 and all(factor % (bits + 1) == 0 for _, factor in form.terms)
    return is_low or counts(form) or form.terms[0][0].kind in (Kind.AND, Kind.SHR)


def with_bits(op: Op, form: Form, bits: int) -> Form | int | None:
    """Return `form & bits`, `form | bits` or `form ^ bits`."""
    if op is Op.AND:
        return masked(form, bits)
    size = 1 << bits.bit_length()
    if any(factor % size for _, factor in form.terms):
        return None
    low = form.constant & size - 1
    return Form(form.terms, form.constant - low + (low | bits if op is Op.OR else low ^ bits))


def shifted(form: Form, amount: int, width: int, *, arithmetic: bool) -> Form | int | None:
    """Return `form >> amount`."""
    size = 1 << amount
    if any(abs(factor) >> width - _SOON for _, factor in form.terms):
        return None
    if all(factor % size == 0 for _, factor in form.terms):
        return _divided(form, size)
    if amount == width - 1 and (_is_natural(form) or _is_natural_product(form)):
        return 0
    is_signed = arithmetic and not _is_natural(form)
    divisor = None if is_signed and not _is_natural_product(form) else _divisor_of_product(form, amount)
    return None if divisor is None else quotient(*divisor)


def quotient(form: Form, divisor: int) -> Form | int | None:
    """Return `form / divisor`, for a number that is not negative."""
    if divisor < 1 or not _is_natural(form) or any(factor % divisor for _, factor in form.terms):
        return None
    return _divided(form, divisor)


def rest(form: Form, divisor: int) -> int | None:
    """Return `form % divisor`, for a number that is not negative."""
    if divisor < 1 or not _is_natural(form) or any(factor % divisor for _, factor in form.terms):
        return None
    return form.constant % divisor


def high_product(form: Form, factor: int) -> Form | int | None:
    """Return the high 32 bits of a product with a number that stands for a division by a small one."""
    for divisor in range(3, _LARGEST_DIVISOR):
        if 0 < factor * divisor - (1 << _WORD) <= 2:
            return quotient(form, divisor)
    return None


def period(form: Form) -> int:
    """Return into how many residues what counts rounds is to be split further to make a number known; 1: none help."""
    found = 1
    for name, _ in form.terms:
        found = _least_common(found, _period_of(name)[0])
    return found


def _least_common(one: int, other: int) -> int:
    return one * other // gcd(one, other)


def _divided(form: Form, divisor: int) -> Form:
    terms = tuple((name, factor // divisor) for name, factor in form.terms)
    return Form(terms, form.constant // divisor)


def _is_natural(form: Form) -> bool:
    """Tell whether a number is not negative, as long as nothing that counts rounds wraps around."""
    return form.constant >= 0 and all(f > 0 and name.kind in COUNTED for name, f in form.terms)


def _is_natural_product(form: Form) -> bool:
    """Tell whether a number is the high half of a signed product of two numbers that are not negative."""
    if not _is_one_atom(form):
        return False
    match form.terms[0][0].inner:
        case (Kind.MULHI, part, int(factor), int(width), signed) if signed and 0 < factor < 1 << width - 1:
            number = form_of(part)
            return number is not None and _is_natural(number)
        case _:
            return False


def _divisor_of_product(form: Form, amount: int) -> tuple[Form, int] | None:
    """Return number and divisor of a quotient that is computed by a product and a shift, None for others.

    Signed numbers that are not negative have a bit less.
    """
    if _is_one_atom(form):
        match form.terms[0][0].inner:
            case (Kind.MULHI, part, int(factor), int(width), signed) if not (signed and factor >> width - 1):
                number = form_of(part)
                divisor = _by_multiplier(factor, width + amount, width - 1 if signed else width)
                return None if number is None or divisor is None else (number, divisor)
            case _:
                pass
    return _divided_by_wide_product(form, amount) or _divided_by_halved_sum(form, amount)


def _divided_by_wide_product(form: Form, amount: int) -> tuple[Form, int] | None:
    """Return number and divisor of a quotient that is a product of 64 bits, shifted by 32 or more."""
    for divisor in range(3, _LARGEST_DIVISOR) if amount >= _WORD else ():
        factor = -(-(1 << amount) // divisor)
        is_multiple = form.constant % factor == 0 and all(f % factor == 0 for _, f in form.terms)
        if is_multiple and _by_multiplier(factor, amount) == divisor:
            return _divided(form, factor), divisor
    return None


def _divided_by_halved_sum(form: Form, amount: int) -> tuple[Form, int] | None:
    """Return number and divisor of a quotient by a factor of 33 bits.

    The high half h of the product with its lower 32 bits is taken from the number x, and half of the rest added to it:
    `h + (x - h >> 1)` is `x + h >> 1`, and does not wrap around.
    """
    if len(form.terms) != 2 or form.constant or any(factor != 1 for _, factor in form.terms):
        return None
    for (high, _), (half, _) in (form.terms, form.terms[::-1]):
        match half.inner:
            case (Kind.SHR, part, 1, int(width)) if width == _WORD:
                rest = form_of(part)
                number = None if rest is None else plus(rest, Form(((high, 1),)))
            case _:
                continue
        for divisor in range(3, _LARGEST_DIVISOR):
            factor = -(-(1 << _WORD + 1 + amount) // divisor)
            if _by_multiplier(factor, _WORD + 1 + amount) == divisor:
                product = _high_factor(high, factor - (1 << _WORD))
                if product is not None and product == number:
                    return product, divisor
    return None


def _high_factor(high: Atom, factor: int) -> Form | None:
    """Return the number of whose product with a factor an atom is the high half, None for other atoms."""
    match high.inner:
        case (Kind.MULHI, part, int(other), int(width), signed) if (
            other == factor and width == _WORD and not signed
        ):
            return form_of(part)
        case (Kind.SHR, part, int(bits), int(width)) if bits == _WORD and width > _WORD and factor > 0:
            product = form_of(part)
            if product is None or any(k % factor for k in (product.constant, *(k for _, k in product.terms))):
                return None
            return _divided(product, factor)
        case _:
            return None


def _by_multiplier(factor: int, bits: int, width: int = _WORD) -> int | None:
    """Return what a product with `factor`, shifted by `bits`, divides by: exact for numbers of that width."""
    if factor <= 0:
        return None
    divisor = -(-(1 << bits) // factor)
    error = factor * divisor - (1 << bits)
    return divisor if 0 <= error <= 1 << bits - width else None


def form_of(part: object) -> Form | None:
    """Return the number that an argument of an atom stands for, None for one that is no form."""
    if not isinstance(part, Atom):
        return None
    if part.kind is Kind.SUM:
        return Form(part[1], part[2])  # type: ignore[arg-type]
    return Form(((part, 1),))


def _period_of(part: object) -> tuple[int, bool]:
    """Return the period that the constants of nested masks, shifts and divisions ask for, as factors of each other.

    And whether the number is known with the residues of what counts rounds: a product with a size is not, whatever they
    are. Of what lies in global memory no residue of its address tells, nor does one of an argument of what is not
    computed here.
    """
    if not isinstance(part, Atom) or part.inner_kind in _NOT_COMPUTED:
        return 1, False
    if part.inner_kind in COUNTED:
        return 1, part.inner_kind is Kind.ORDINAL
    return _period_inside(part)


@lru_cache(maxsize=1 << 14)
def _period_inside(part: Atom) -> tuple[int, bool]:
    inner, size = 1, _period_by(part)
    whole = quotient_of(part)
    forms = list(_forms(part)) if whole is None else [whole[0]]
    for form in forms:
        for name, _ in form.terms:
            inner = _least_common(inner, _period_of(name)[0])
    own = _missing(forms, size)
    return inner if own is None else own * inner, own is not None


def _missing(forms: Iterable[Form], size: int) -> int | None:
    """Return by how much a modulus has to grow so that the rests of numbers by `size` are known, None: they never are.

    Where nothing is masked, `size` is 1: then each part of a number is to be known.
    """
    found, is_counted = 1, False
    for form in forms:
        for name, factor in form.terms:
            if _period_of(name)[1]:
                is_counted = True
                found = _least_common(found, size // gcd(size, factor))
            elif factor % size or size == 1:
                return None
    return found if is_counted and found <= _LARGEST_PERIOD else None


def quotient_of(part: Atom) -> tuple[Form, int] | None:
    """Return number and divisor of a quotient by a product and a shift, None for other atoms.

    It is the quotient of a number of 31 bits; `is_of_words` tells whether also of any of 32.
    """
    match part.inner:
        case (Kind.SHR | Kind.SAR, dividend, int(amount), int(width)) if amount < width:
            form = form_of(dividend)
            found = None if form is None else _divisor_of_product(form, amount)
        case (Kind.MULHI, *_):
            found = _divisor_of_product(Form(((part, 1),)), 0)
        case _:
            return None
    return None if found is None or found[1] >= _LARGEST_DIVISOR else found


def is_of_words(quotient: Atom) -> bool:
    """Tell whether a quotient by a product and a shift is that of any unsigned number of 32 bits.

    Of a wide product it is not known whether the number was extended as a signed one.
    """
    form = (
        form_of(quotient.inner[1]) if quotient.inner_kind is Kind.SHR and quotient.inner[3] == _WORD else None
    )
    if form is None:
        return False
    unsigned = [name for name, _ in form.terms if name.inner_kind is Kind.MULHI and not name.inner[4]]
    return len(unsigned) == 1


def _period_by(part: Atom) -> int:
    wide = quotient_of(part)
    if wide is not None:
        return wide[1]
    match part.inner:
        case (Kind.AND | Kind.OR | Kind.XOR, int(mask), _) | (
            Kind.AND | Kind.OR | Kind.XOR,
            _,
            int(mask),
        ) if 0 < mask < 1 << 16:
            return 1 << mask.bit_length()
        case (Kind.AND, int(mask), _) | (Kind.AND, _, int(mask)):
            return _cleared_by(mask)
        case (Kind.SHR | Kind.SAR, _, int(amount), *_) if 0 < amount < 16:
            return 1 << amount
        case (Kind.SHR | Kind.SAR, _, int(amount), *_) if 16 <= amount < 64:
            return 1 << 64  # high bits: known where rounds wrap around to the same number
        case (Kind.DIV | Kind.REM, _, int(divisor), *_) if 1 < divisor < 1 << 12:
            return divisor
        case (Kind.MULHI, _, int(factor), int(width), *_) if factor > 0:
            return next(
                (
                    d
                    for d in range(3, _LARGEST_DIVISOR)
                    for shift in range(6)
                    if 0 < factor * d - (1 << width + shift) <= 2 << shift
                ),
                1,
            )
        case _:
            return 1


def _cleared_by(mask: int) -> int:
    """Return the power of two that a mask keeps the multiples of, 1 for another mask."""
    low = -mask & (1 << (_WORD if mask.bit_length() <= _WORD else 64)) - 1
    return low if low & low - 1 == 0 and 0 < low < 1 << 16 else 1


def _forms(part: Atom) -> Iterator[Form]:
    """Yield the numbers that an atom is computed from, terms that are no atom of their own together."""
    for each in part.inner[1:]:
        if isinstance(each, tuple) and not isinstance(each, Atom):
            yield Form(each)
        else:
            form = form_of(each)
            if form is not None:
                yield form
