"""Numbers of the host of which residues are known: what masks and divisions leave of them is a number then.

Property: `KnownResidues.stated` gives a value that is the same for all hosts whose numbers have the known residues.

Argument: `x & (2^k - 1)` of a sum of multiples is the sum of the residues modulo 2^k, and `x & ~(2^k - 1)` is what is
left of x without it: exact modulo 2^w. Compilers that unroll a loop and know that its count is not negative clear the
sign with the low bits: that is the same for numbers that are not negative, and 2^31 more for those that are; who asks
says which. Of a quotient q of x by d, which is not negative and does not wrap around, `x - d * q` is the residue of x
modulo d; residues of q modulo m are those of x modulo `d * m`, divided by d. Bits of a shifted sum are bits of the sum,
whatever its sign.

Not covered: numbers that a kernel loads, and rests of numbers that are negative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import gcd, lcm
from typing import TypeAlias

from ...opcodes.op import Op
from ..symex.values import lane_arithmetic as lanes
from ..symex.values.kinds import Kind
from ..symex.values.recurrent_arithmetic import form_of, is_of_words, quotient_of
from ..symex.values.substitution import Division, with_pins
from ..symex.values.symbol import Atom, Form, Value, plus
from ..symex.values.value_ranges import interval_of
from ..symex.values.wraparound import is_never_negative
from .host_numbers import (
    LARGEST,
    SIGN,
    WORD,
    WORD_BYTES,
    Bound,
    bounds_in,
    is_of_host,
    masks_in,
    quotients_in,
    sign_of_quotient,
    signs_in,
)
from .variables import is_of_variables


@dataclass(frozen=True, slots=True)
class Residue:
    """What a number is modulo another one."""

    modulus: int
    rest: int


_WORD_BITS = 32
_MOST_NESTED = 24
"""Of what is computed in more steps no residue tells: rounds compute it from what it was."""
IsNegative: TypeAlias = Callable[[Form], bool | None]
"""Tells of a number whether it is negative as a signed one; None where that is not known."""


class KnownResidues:
    """What is known of the residues of numbers, and of which it was asked in vain."""

    def __init__(
        self, known: Mapping[Atom, Residue] | None = None, told: Mapping[Atom, int] | None = None
    ) -> None:
        """`told`: numbers of which rounds tell the residues (`told_rests`), modulo what."""
        self.known = known or {}
        self.told = told or {}
        self.here: Mapping[Atom, int | Form] = {}
        """What rounds have told, with variables in it."""
        self.least: Mapping[Atom, int] = {}
        """What such numbers are at least."""
        self.behind: frozenset[Atom] = frozenset()
        """Numbers that rounds may have told of."""
        self.unless: dict[Atom, Form] = {}
        """Of which numbers they have told, unless these predicates on variables hold."""
        self.asked: dict[Atom, int] = {}
        """Numbers that masks or divisions leave something of that is not known, and modulo what they were to be."""
        self._asked_before: set[tuple[Form, int]] = set()
        self._stated: dict[tuple[Form, frozenset[tuple[Atom, int | Form | Division]]], Value] = {}

    @property
    def tells(self) -> bool:
        """Tell whether residues are known, or are told somewhere."""
        return bool(self.known or self.told)

    def untold(self, value: Form) -> Atom | None:
        """Return a number that something is left of in a value, if rounds were to tell of it and have not."""
        if not self.told:
            return None
        seen: set[tuple[Form, int]] = set()
        wanted: list[Iterable[tuple[Atom, int]]] = []
        wanted += [self._wanted(mask.masked, mask.size, seen) for _, mask in masks_in(value)]
        wanted += [self._wanted(dividend, divisor, seen) for _, dividend, divisor in quotients_in(value)]
        wanted.append((bound.number, 1) for _, bound in bounds_in(value) if bound.number not in self.here)
        return next((name for each in wanted for name, _ in each if name in self.told), None)

    def stated(self, value: Value, threads: int, is_negative: IsNegative) -> Value:
        """Return a value with numbers for what masks and divisions leave of numbers with a known residue."""
        if not self.tells or not isinstance(value, Form):
            return value
        pins = dict(self._pins(value, is_negative))
        divisions = dict(self._divisions(value, is_negative))
        if not pins and not divisions:
            return value
        key = value, frozenset((*pins.items(), *divisions.items()))
        found = self._stated.get(key)
        if found is None:
            found = self._stated[key] = with_pins(value, pins, threads, divisions)
        return found

    def of_open_sign(self, value: Form) -> Iterator[Form]:
        """Yield the numbers of which a mask clears the sign, too: what it keeps depends on that."""
        for _, mask in masks_in(value) if self.tells else ():
            if mask.clears_sign and self._rest(mask.masked, mask.size, lambda _: False) is not None:
                yield mask.masked

    def of_open_rest(self, value: Form, is_negative: IsNegative) -> Iterator[Form]:
        """Yield the numbers on whose sign it depends what divisions leave: those of the host, or what is divided."""
        for _, dividend, divisor in quotients_in(value) if self.tells else ():
            if self._rest(dividend, divisor, lambda _: False) is None:
                continue
            names = [Form(((name, 1),)) for name, _ in dividend.terms]
            yield from (each for each in names if is_negative(each) is None)
            if self._least(dividend) < 0 and is_negative(dividend) is None:
                yield dividend

    def takes_for_natural(self, value: Value, is_negative: IsNegative) -> bool:
        """Tell whether rests in a value are those of numbers that are taken not to be negative, nor of 32 bits."""
        return any(
            not is_of_words(name) and (self._least(dividend) < 0 or not _fits(dividend, SIGN - 1))
            for name, dividend, divisor in (
                quotients_in(value) if self.tells and isinstance(value, Form) else ()
            )
            if self._rest_of_word(dividend, divisor, is_negative) is not None
        )

    def _pins(self, value: Form, is_negative: IsNegative) -> Iterator[tuple[Atom, int | Form]]:
        for name, mask in masks_in(value):
            low = self._rest(mask.masked, mask.size, is_negative)
            if low is None:
                continue
            if mask.keeps_low:
                yield name, low
            if mask.keeps_low or isinstance(low, Form):
                continue
            negative = is_negative(mask.masked) if mask.clears_sign else False
            if negative is not None:
                constant = mask.masked.constant - low + (SIGN if negative else 0)
                yield name, Form(mask.masked.terms, constant)
        for name, dividend in signs_in(value):
            if is_negative(dividend) is False:
                yield name, 0
        for name, bound in bounds_in(value):
            parts = self._parts_of(bound, is_negative)
            if parts is not None:
                yield name, parts

    def _parts_of(self, bound: Bound, is_negative: IsNegative) -> int | Form | None:
        """Return a comparison as one of the number of the host, and one of the variables; None where that is not known.

        A number that is its residue, or one modulus more, is below a bound that is no larger than the modulus where it
        is its residue.
        """
        known, number = self.known.get(bound.number), Form(((bound.number, 1),))
        total = plus(number, bound.others)
        modulus = self.told.get(bound.number, 0) if known is None else known.modulus
        rest = self.here.get(bound.number) if known is None else known.rest
        if rest is None or modulus < bound.bound or is_negative(number) is not False:
            return None
        if not (isinstance(total, Form) and _fits(total)):
            return None
        of_host = lanes.compare(".lo", number, bound.bound, 32, signed_operands=False)
        others = lanes.compare(".lo", plus(bound.others, rest), bound.bound, 32, signed_operands=False)
        found = lanes.logic(Op.AND, of_host, others)
        return found if isinstance(found, int | Form) else None

    def _divisions(self, value: Form, is_negative: IsNegative) -> Iterator[tuple[Atom, Division]]:
        for name, dividend, divisor in quotients_in(value):
            rest = self._rest_of_word(dividend, divisor, is_negative)
            if rest is not None:
                yield name, Division(dividend, divisor, rest)

    def _rest_of_word(self, form: Form, size: int, is_negative: IsNegative) -> int | Form | None:
        """Return a word of sizes modulo another number, None where that is not known.

        A size with a known residue is at least that. So a word that is less than one, and negative, is one number.
        """
        open_signs = [name for name, _ in form.terms if not _is_natural_choice(name)]
        if any(is_negative(Form(((name, 1),))) is not False for name in open_signs) or not _fits(form):
            return None
        if self._least(form) >= 0 or is_negative(form) is False:
            return self._rest(form, size, is_negative)
        (name, factor), *others = form.terms
        known = self.known.get(name)
        if not is_negative(form) or others or factor != 1 or known is None:
            return None
        is_one = known.rest + known.modulus + form.constant >= 0
        return (known.rest + form.constant & WORD) % size if is_one else None

    def _least(self, form: Form) -> int:
        """Return the least that a sum of multiples of sizes may be."""
        rests = (
            (self.known[name].rest if name in self.known else self.least.get(name, 0), factor)
            for name, factor in form.terms
        )
        return form.constant + sum(rest * factor for rest, factor in rests)

    def too_small(self, form: Form) -> tuple[Atom, int] | None:
        """Return of which number, told by rounds, it has to be known that it is not below another one.

        Then a sum that is divided, of that and variables, is not negative.
        """
        found = [(name, factor) for name, factor in form.terms if name in self.told]
        others = all(factor > 0 for _, factor in form.terms)
        is_one = len(found) == 1 and found[0][1] == 1 and others
        return (found[0][0], -form.constant) if is_one and form.constant < 0 else None

    def _rest(self, form: Form, size: int, is_negative: IsNegative) -> int | Form | None:
        """Return a number modulo another one, None where a number in it has no known residue."""
        total: int | Form = form.constant
        for name, factor in form.terms:
            own = size // gcd(size, factor)
            if own == 1:
                continue
            rest = self._rest_of(name, own, is_negative)
            if rest is None:
                return None
            total = plus(total, rest, factor)
        if isinstance(total, int):
            return total % size
        total = Form(total.terms, total.constant % size)  # what is divided is not negative: nor is this
        found = lanes.remainder(total, size, 32, signed_operands=False) if _fits(total) else None
        return found if isinstance(found, Form) else None

    def _rest_of(self, name: Atom, size: int, is_negative: IsNegative) -> int | Form | None:
        known, quotient = self.known.get(name), quotient_of(name)
        here = self._rest_here(name, size)
        if here is not None:
            return here
        if known is not None and known.modulus % size == 0:
            return known.rest
        if known is not None and known.modulus == _numbers_of(name):
            return known.rest % size
        if is_of_variables(Form(((name, 1),))):
            return Form(((name, 1),))
        shifted = self._rest_of_shifted(name, size, is_negative)
        if shifted is not None:
            return shifted
        signed = sign_of_quotient(name)
        if signed is not None:
            return 0 if is_negative(signed) is False else None
        if quotient is None:
            return None
        dividend, divisor = quotient
        rest = self._rest_of_word(dividend, divisor * size, is_negative)
        if isinstance(rest, int):
            return rest // divisor
        found = None if rest is None else lanes.divide(rest, divisor, 32, signed_operands=False)
        return found if isinstance(found, Form) else None

    def _rest_here(self, name: Atom, size: int) -> int | Form | None:
        """Return what rounds have told of a number modulo another one."""
        rest = self.here.get(name)
        if rest is None or self.told[name] % size:
            return None
        found = lanes.remainder(rest, size, _WORD_BITS, signed_operands=False)
        return found if isinstance(found, int | Form) else None

    def _rest_of_shifted(self, name: Atom, size: int, is_negative: IsNegative) -> int | Form | None:
        """Return the low bits of a sum that was shifted, where its own are known: whatever its sign."""
        found = _shifted(name)
        if found is None or size & size - 1:
            return None
        dividend, bits = found
        rest = self._rest(dividend, size << bits, is_negative)
        shifted = None if rest is None else lanes.shift_right(rest, bits, _WORD_BITS, arithmetic=False)
        return shifted if isinstance(shifted, int | Form) else None

    def _is_known(self, known: Residue | None, name: Atom, size: int) -> bool:
        if self._rest_here(name, size) is not None:
            return True
        if self._rest_of_shifted(name, size, lambda _: False) is not None:
            return True
        return known is not None and (known.modulus % size == 0 or known.modulus == _numbers_of(name))

    def ask(self, value: Value) -> None:
        """Note of which numbers of the host something is left that is not known."""
        if not isinstance(value, Form):
            return
        for _, mask in masks_in(value):
            self._ask(mask.masked, mask.size)
        for _, dividend, divisor in quotients_in(value):
            self._ask(dividend, divisor)

    def _ask(self, form: Form, size: int) -> None:
        for name, own in self._wanted(form, size, self._asked_before):
            known = self.known.get(name)
            wanted = lcm(own, self.asked.get(name, 1) if known is None else known.modulus)
            if wanted <= LARGEST and is_of_host(name) and name.nesting <= _MOST_NESTED:
                self.asked[name] = wanted

    def _wanted(self, form: Form, size: int, seen: set[tuple[Form, int]]) -> Iterator[tuple[Atom, int]]:
        """Yield the numbers whose residues are not known that decide what is left of a form, and modulo what.

        `seen` is what this was asked of before.
        """
        if (form, size) in seen:
            return
        seen.add((form, size))
        for name, factor in form.terms:
            own, quotient = size // gcd(size, factor), quotient_of(name)
            if (
                own == 1
                or own > LARGEST
                or sign_of_quotient(name) is not None
                or self._is_known(self.known.get(name), name, own)
            ):
                continue
            if quotient is not None:
                yield from self._wanted(quotient[0], quotient[1] * own, seen)
                continue
            yield name, min(own, _numbers_of(name))


def combined(asked: Mapping[Atom, int]) -> dict[Atom, int]:
    """Return of which numbers residues are asked, not what others tell: `x >> 2` modulo 2, beside x modulo 4."""
    found = dict(asked)
    for name in sorted(asked, key=lambda each: (-each.nesting, each.digest)):
        shifted = _shifted(name)
        if shifted is None or found[name] & found[name] - 1 or not _is_one_name(shifted[0]):
            continue
        ((part, _),), bits = shifted[0].terms, shifted[1]
        wanted = lcm(found.get(part, 1), found[name] << bits)
        if part in found and wanted <= LARGEST:
            found[part] = wanted
            del found[name]
    return found


def _is_one_name(form: Form) -> bool:
    return len(form.terms) == 1 and form.terms[0][1] == 1 and not form.constant


def _shifted(name: Atom) -> tuple[Form, int] | None:
    """Return what is shifted to the right, and by how many bits; None for other atoms."""
    match name.inner:
        case (Kind.SHR | Kind.SAR, part, int(bits), int(width)) if width == _WORD_BITS and 0 < bits < width:
            dividend = form_of(part)
            return None if dividend is None else (dividend, bits)
        case _:
            return None


def _is_natural_choice(name: Atom) -> bool:
    """Tell whether an atom is one of two numbers that are none of them negative, and no choices themselves."""
    match name.inner:
        case (Kind.SELP, _, one, other):
            return all(map(_is_natural, (one, other)))
        case _:
            return False


def _is_natural(part: object) -> bool:
    form = form_of(part)
    return 0 <= part < SIGN if isinstance(part, int) else form is not None and is_never_negative(form)


def _numbers_of(name: Atom) -> int:
    """Return how many numbers from 0 on an atom may be: one that is less than its modulus is its residue."""
    ends = interval_of(Form(((name, 1),)), 0, 0)
    return LARGEST + 1 if ends is None or ends[0] < 0 else ends[1] + 1


def _fits(form: Form, largest: int = WORD) -> bool:
    """Tell whether a sum of multiples of numbers that are not negative is at most one number, that of a word."""
    if any(factor < 0 or (name.kind is Kind.PARAM and name[3] != WORD_BYTES) for name, factor in form.terms):
        return False
    most = form.constant
    for name, factor in form.terms:
        ends = interval_of(Form(((name, 1),)), 0, 0)
        most += factor * (SIGN - 1 if ends is None else min(ends[1], SIGN - 1))
    return most <= largest
