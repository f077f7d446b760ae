"""Divisions by a number of the host: a high product and a shift, by what it has computed from the divisor.

The three are parameters side by side, as in `cutlass::FastDivmod` (`include/cutlass/fast_math.h`, `find_divisor`). To
choose a multiplier that belongs to no divisor would show a run that no host asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from .doubt import atoms_in, variables_of
from .symbol import Atom, Condition

_WORD = 4
_MASK = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class Divisor:
    """The parameters of one division."""

    divisor: Atom
    multiplier: Atom
    shift: Atom

    def numbers(self, divisor: int) -> dict[Atom, int]:
        """Return the three numbers, as signed ones, for a divisor of at least one."""
        multiplier, shift = _factors(divisor)
        signed = multiplier - (1 << 32) if multiplier >> 31 else multiplier
        return {self.divisor: divisor, self.multiplier: signed, self.shift: shift}

    def fits(self, numbers: Mapping[Atom, int]) -> bool:
        """Tell whether numbers are those of a divisor, of the one that they name if they do."""
        if self.multiplier not in numbers or self.shift not in numbers:
            return False
        multiplier, shift = numbers[self.multiplier] & _MASK, numbers[self.shift] & _MASK
        given = numbers.get(self.divisor)
        if given is not None:
            return given > 0 and _factors(given) == (multiplier, shift)
        if not multiplier or shift > 31:
            return not multiplier and not shift
        guess = (1 << (32 + shift)) // multiplier
        return any(each > 0 and _factors(each) == (multiplier, shift) for each in (guess, guess + 1))


def _factors(divisor: int) -> tuple[int, int]:
    if divisor == 1:
        return 0, 0
    bits = 31 + (divisor - 1).bit_length()
    return ((1 << bits) + divisor - 1) // divisor & _MASK, bits - 32


def divisors_in(path: Iterable[tuple[Condition, bool]]) -> list[Divisor]:
    """Return the divisions of a path that are written like this, each once, in order."""
    atoms = atoms_in(tuple(variables_of(path)))
    return list(dict.fromkeys(divisor for name in atoms for divisor in _divisor(name)))


def _divisor(name: Atom) -> Iterator[Divisor]:
    """Yield the division that an operation is."""
    match name.inner:
        case ("shr", Atom(inner=("mulhi", one, other, 32, 0)), shift, 32):
            last = _place(shift)
            for multiplier in (one, other):
                first = _place(multiplier)
                if first is None or last is None or last != (first[0], first[1] + _WORD):
                    continue
                assert isinstance(multiplier, Atom)
                assert isinstance(shift, Atom)
                yield Divisor(Atom(("param", first[0], first[1] - _WORD, _WORD)), multiplier, shift)


def _place(part: object) -> tuple[str, int] | None:
    """Return which parameter a word is of, and where it stands there."""
    if isinstance(part, Atom) and part[0] == "param" and part[3] == _WORD and isinstance(part[2], int):
        return str(part[1]), part[2]
    return None
