"""Equations of bytes between kernel and host: are they consistent, and which sizes do they fix?

Property: equations that `contradicting` returns one of are met by no numbers of their symbols.

Argument: elimination; then boxes, which have bytes, and what bounds symbols whatever they are (`value_ranges`).

Not covered: bounds that several equations together have, and that no row of the reduced form shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from ..symex.values.symbol import Atom, Form, plus
from ..symex.values.value_ranges import interval_of
from .actions import Protocol, Transfer
from .outcome import Equation, Flaw
from .record import Record

BOX = "box_bytes"
"""Kind of the symbol of the bytes of a box."""
_Linear = tuple[dict[Atom, Fraction], Fraction]
"""Coefficients and a constant: their sum is zero."""


class System:
    """Linear equations in reduced form: each pivot in terms of atoms that are free."""

    def __init__(self) -> None:
        self._rows: dict[Atom, _Linear] = {}

    def add(self, form: Form | int) -> bool:
        """Add `form == 0`; False when that contradicts what is known."""
        terms, constant = self._reduce(form)
        if not terms:
            return constant == 0
        pivot = min(terms, key=repr)
        scale = terms.pop(pivot)
        row = ({atom: -k / scale for atom, k in terms.items()}, -constant / scale)
        self._rows = {known: _substitute(each, pivot, row) for known, each in self._rows.items()}
        self._rows[pivot] = row
        return True

    def value(self, form: Form | int) -> int | None:
        """Return the number that a form must have, None when it is not fixed or not a whole number."""
        terms, constant = self._reduce(form)
        return int(constant) if not terms and constant.denominator == 1 else None

    def has_empty_box(self) -> bool:
        """Tell whether a sum of boxes, which have bytes each, must be zero or less."""
        return any(
            _is_empty({**{each: -k for each, k in terms.items()}, pivot: Fraction(1)}, constant)
            for pivot, (terms, constant) in self._rows.items()
        )

    def is_out_of_range(self) -> bool:
        """Tell whether symbols would have to be numbers that they never are: more than their mask leaves, say."""
        return any(
            _misses_zero({**{each: -k for each, k in terms.items()}, pivot: Fraction(1)}, -constant)
            for pivot, (terms, constant) in self._rows.items()
        )

    def _reduce(self, form: Form | int) -> _Linear:
        if isinstance(form, int):
            return {}, Fraction(form)
        linear: _Linear = ({atom: Fraction(k) for atom, k in form.terms}, Fraction(form.constant))
        for atom, _ in form.terms:
            if atom in self._rows:
                linear = _substitute(linear, atom, self._rows[atom])
        return linear


def _substitute(linear: _Linear, atom: Atom, by: _Linear) -> _Linear:
    terms = dict(linear[0])
    factor = terms.pop(atom, None)
    if factor is None:
        return linear
    for each, k in by[0].items():
        total = terms.get(each, Fraction(0)) + factor * k
        if total:
            terms[each] = total
        else:
            terms.pop(each, None)
    return terms, linear[1] + factor * by[1]


def _is_empty(boxes: Mapping[Atom, Fraction], total: Fraction) -> bool:
    """Tell whether all terms of a sum are boxes, and the sum is not more than zero of them."""
    return total <= 0 and all(atom[0] == BOX and factor > 0 for atom, factor in boxes.items())


def _misses_zero(terms: Mapping[Atom, Fraction], constant: Fraction) -> bool:
    """Tell whether a sum is never zero, between which numbers its symbols ever lie."""
    low = high = constant
    for atom, factor in terms.items():
        ends = interval_of(atom, 1, 1)
        if ends is None:
            return False
        first, last = sorted(factor * end for end in ends)
        low, high = low + first, high + last
    return low > 0 or high < 0


def never_zero(form: Form) -> bool:
    """Tell whether a form is zero for no numbers of its symbols, by what bounds each of them."""
    return _misses_zero({atom: Fraction(k) for atom, k in form.terms}, Fraction(form.constant))


def system_of(equations: Iterable[Equation]) -> System:
    """Return the system of all equations; those that contradict earlier ones are left out."""
    system = System()
    for equation in equations:
        system.add(plus(equation.expected, equation.completed, -1))
    return system


def contradicting(equations: Iterable[Equation]) -> Equation | None:
    """Return the first equation that no host can meet together with those before it."""
    system = System()
    for equation in equations:
        is_met = system.add(plus(equation.expected, equation.completed, -1))
        if not is_met or system.has_empty_box() or system.is_out_of_range():
            return equation
    return None


def check_equations(equations: Sequence[Equation], record: Record) -> None:
    """Note equations that no host can meet together."""
    equation = contradicting(equations)
    if equation is not None:
        record.add(
            Flaw.TX_MISMATCH, 0, -1, equation.barrier, -1,
            f"{equation.expected} bytes are expected and {equation.completed} complete, "
            f"which contradicts the bytes of other phases", happened=True,
        )  # fmt: skip


def sizes_by_equations(protocol: Protocol, equations: Sequence[Equation]) -> Mapping[tuple[int, int], int]:
    """Return the bytes of each transfer (strand, number of its action) that the equations fix."""
    system = system_of(equations)
    found: dict[tuple[int, int], int] = {}
    for index, strand in enumerate(protocol.strands):
        for number, action in enumerate(strand.actions):
            if isinstance(action, Transfer) and action.completes and isinstance(action.completes[0][1], Form):
                size = system.value(action.completes[0][1])
                if size is not None and size > 0:
                    found[index, number] = size
    return found
