"""Divisions by a number of the host: a high product and a shift, by what it has computed from the divisor.

Property: numbers that fit a `Divisor` are those that the host computes from one divisor.

Argument: multiplier and shift follow from the divisor by the formulas of the two libraries.

Not covered: other ways to divide by a number of the host: their parameters are taken to be free.

The numbers are parameters side by side, as in `cutlass::FastDivmod` (`include/cutlass/fast_math.h`, `find_divisor`):
divisor, multiplier, shift; or in `cuda::fast_mod_div` (`cuda/__cmath/fast_modulo_division.h` of CCCL): divisor,
multiplier, what is added to the dividend, shift. To choose a multiplier that belongs to no divisor would show a run
that no host asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from .approximated_terms import atoms_in, variables_of
from .kinds import Kind
from .symbol import Atom, Condition

_WORD = 4
_MASK = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class Divisor:
    """The parameters of one division."""

    divisor: Atom
    multiplier: Atom
    shift: Atom
    added: Atom | None = None
    """What is added to the dividend, if the host says so (`cuda::fast_mod_div`)."""

    def numbers(self, divisor: int) -> dict[Atom, int]:
        """Return the numbers, as signed ones, for a divisor of at least one."""
        multiplier, shift, added = self._factors(divisor)
        signed = multiplier - (1 << 32) if multiplier >> 31 else multiplier
        found = {self.divisor: divisor, self.multiplier: signed, self.shift: shift}
        return found if self.added is None else {**found, self.added: added}

    def fits(self, numbers: Mapping[Atom, int]) -> bool:
        """Tell whether numbers are those of a divisor, of the one that they name if they do."""
        if self.multiplier not in numbers or self.shift not in numbers:
            return False
        multiplier, shift = numbers[self.multiplier] & _MASK, numbers[self.shift] & _MASK
        if shift > 31:
            return False
        given = numbers.get(self.divisor)
        guess = (1 << (32 + shift)) // multiplier if multiplier else 1 << shift
        return any(
            each > 0 and self._are_of(each, multiplier, shift, numbers)
            for each in ((guess, guess + 1) if given is None else (given,))
        )

    def _are_of(self, divisor: int, multiplier: int, shift: int, numbers: Mapping[Atom, int]) -> bool:
        *found, added = self._factors(divisor)
        is_added = self.added is None or numbers.get(self.added, added) == added
        return found == [multiplier, shift] and is_added

    def _factors(self, divisor: int) -> tuple[int, int, int]:
        return (*factors_of(divisor), 0) if self.added is None else _rounded_down(divisor)


def factors_of(divisor: int) -> tuple[int, int]:
    """Return the multiplier and the shift of `cutlass::FastDivmod`."""
    if divisor == 1:
        return 0, 0
    bits = 31 + (divisor - 1).bit_length()
    return ((1 << bits) + divisor - 1) // divisor & _MASK, bits - 32


def _rounded_down(divisor: int) -> tuple[int, int, int]:
    """Return multiplier, shift and what is added of `cuda::fast_mod_div` for numbers without sign."""
    shift = divisor.bit_length() - 1
    if divisor == 1 << shift:
        return 0, shift, 0
    multiplier, rest = divmod(1 << (32 + shift), divisor)
    is_more = rest >= divisor - (1 << shift)
    return multiplier + is_more, shift, int(not is_more)


def divisors_in(path: Iterable[tuple[Condition, bool]]) -> list[Divisor]:
    """Return the divisions of a path that are written like this, each once, in order."""
    atoms = atoms_in(tuple(variables_of(path)))
    return list(dict.fromkeys(divisor for name in atoms for divisor in _divisor(name)))


def _divisor(name: Atom) -> Iterator[Divisor]:
    """Yield the division that an operation is."""
    match name.inner:
        case (Kind.SHR, Atom(inner=(Kind.MULHI, one, other, 32, 0)), shift, 32):
            last = _place(shift)
            for multiplier in (one, other):
                first = _place(multiplier)
                if first is None or last is None or last[0] != first[0]:
                    continue
                assert isinstance(multiplier, Atom)
                assert isinstance(shift, Atom)
                divisor, between = (
                    Atom((Kind.PARAM, first[0], first[1] + step, _WORD)) for step in (-_WORD, _WORD)
                )
                if last[1] == first[1] + _WORD:
                    yield Divisor(divisor, multiplier, shift)
                elif last[1] == first[1] + 2 * _WORD:
                    yield Divisor(divisor, multiplier, shift, between)


def _place(part: object) -> tuple[str, int] | None:
    """Return which parameter a word is of, and where it stands there."""
    if isinstance(part, Atom) and part.kind is Kind.PARAM and part[3] == _WORD and isinstance(part[2], int):
        return str(part[1]), part[2]
    return None
