"""Questions about numbers of the host whose residues rounds tell: what is asked where a residue is needed.

Property: `ToldNumbers.question` gives a predicate whose answer brings threads closer to the residue of a number, or a
reason why it stays unknown.

Argument: where rounds may have told a number (`told_rests`), it is asked whether they have, which variables answer.
Else the number was not counted to: of a size it is asked whether it is one of the first few numbers. A size that is
below a number which is no larger than the modulus is its residue: where that is larger, no run has that answer. Of a
negative number none of that is true.

Not covered: larger numbers to which no loop has counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..symex.values.lane_arithmetic import compare, condition_of
from ..symex.values.symbol import Atom, Form, Value
from ..symex.values.trace import NotFollowedError
from .known_residues import KnownResidues

MOST_FIRST = 3
"""Numbers from 0 on that a size is asked for that no round has counted."""
NOT_TOLD = "the residue of a number is not known that no loop has counted to"
_WORD = 32


def is_below(number: Atom, bound: int) -> Form:
    """Return the predicate that a number is below another one."""
    found = compare(".lt", Form(((number, 1),)), bound, _WORD, signed_operands=True)
    assert isinstance(found, Form)
    return found


@dataclass(frozen=True, slots=True)
class Asked:
    """A predicate that is asked, or why threads are not followed further."""

    truth: Form
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ToldNumbers:
    """The numbers of one automaton."""

    residues: KnownResidues
    plain: Callable[[Form], Value]
    """Puts a predicate as it is asked."""
    answer: Callable[[Form], bool | None]
    """Tells what is known of a predicate."""
    is_size: Callable[[Form], bool]
    """Tells whether a number is not negative, and notes where that is taken for granted."""

    def first_number(self, number: Atom) -> int | None:
        """Return a size that answers have found to be one of the first few numbers."""
        known = [self.answer(is_below(number, each + 1)) for each in range(MOST_FIRST)]
        first = known.index(True) if True in known else None
        if first is None or None in known[:first] or not self.is_size(Form(((number, 1),))):
            return None
        return first

    def least(self, number: Atom) -> int:
        """Return what answers say that a size is at least, up to one of the first few numbers."""
        return max(
            (n for n in range(1, MOST_FIRST + 1) if self.answer(is_below(number, n)) is False), default=0
        )

    def needed_rest(self, truth: Form) -> Form | None:
        """Return what a residue that rounds have told is, if a number is below one that is no larger than its modulus.

        It is the number then.
        """
        condition, _ = condition_of(truth)
        (number, factor), *others = condition.form.terms
        rest = self.residues.here.get(number)
        bound = condition.bound - condition.form.constant
        if rest is None or others or factor != 1 or condition.relation != "lt":
            return None
        if not 0 < bound <= self.residues.told[number] or not self.is_size(Form(((number, 1),))):
            return None
        found = compare(".lo", rest, bound, _WORD, signed_operands=False)
        return found if isinstance(found, Form) else None

    def question(self, value: Form, point: int, *, is_needed: bool = True) -> Asked | None:
        """Return what is asked of a number whose residue a value depends on; None where all of these are known.

        Where it is not needed, that is asked behind rounds that may have told it. Raises NotFollowedError.
        """
        number = self.residues.untold(value)
        if number is None:
            return None
        if number in self.residues.unless:
            return Asked(self.residues.unless[number])
        if not is_needed and number not in self.residues.behind:
            return None
        if not self.is_size(Form(((number, 1),))):
            raise NotFollowedError(NOT_TOLD, point)
        for each in range(MOST_FIRST):
            truth = self.plain(is_below(number, each + 1))
            if isinstance(truth, Form) and self.answer(truth) is None:
                return Asked(truth)
        return Asked(value, NOT_TOLD)

    def of_sign(self, dividend: Form) -> Asked | None:
        """Return what is asked of the number in a sum that is divided, as that may be negative where it is small."""
        small = self.residues.too_small(dividend)
        if small is None or small[1] > MOST_FIRST:
            return None
        truth = is_below(*small)
        return Asked(truth, NOT_TOLD if self.answer(truth) else "")


__all__ = ["MOST_FIRST", "NOT_TOLD", "Asked", "ToldNumbers", "is_below"]
