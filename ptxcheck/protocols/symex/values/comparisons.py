"""Comparisons of integers that are symbols, and where the integer is not the number that the register holds.

Property: `compared_integers` is the truth of a comparison for all numbers that its symbols may be, but for what
`changes_of` tells of its result and `loss_of_comparison` of its sides.

Argument: a form is an integer; the register holds it modulo 2^width. What a symbol of less than 32 bits is as a signed
number, or of 64 bits that are cut, is not followed where its sign may be set: the comparison is a symbol of its own
then. A number that is taken away from a signed symbol wraps around only where that may be negative, one that is added
only where it may be large: the result is marked with which of both is so. Where both sides have a symbol in common that
cancels, where one of 32 bits is compared as an unsigned number of 64, and where a large number was added to a side,
what that takes for granted is noted at once.

Not covered: what loops count, and numbers of 64 bits, are taken not to wrap around.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .comparison_marks import Change, changes_of, marked
from .kinds import Kind
from .lane_arithmetic import ORDERS, compare, mask_of, opaque, signed
from .recurrent_arithmetic import COUNTED
from .substitution import leaves
from .symbol import MOVED, Atom, Form, Value, atom
from .traversal import walk
from .unsigned_order import ordered
from .value_ranges import interval_of
from .widths import is_wide
from .wraparound import COMPARED_WIDE, EXTENDED, SIZES, WORD, may_be_negative

_HALF = 1 << 31
_LARGE = 1 << 30
"""With so much added, numbers of 32 bits wrap around that no other sum does for."""
_LEAST = 1 << 63
"""The least signed number of 64 bits, as registers hold it: taken away from another one it leaves none of 64."""
_COUNTERS = COUNTED | {Kind.VARIABLE, Kind.HELD}


def compared_integers(relation: str, a: Value, b: Value, width: int, *, signed_operands: bool) -> Value:
    """Return the truth of a comparison of two integers (see `lane_arithmetic.compare`)."""
    if relation not in ORDERS or not (isinstance(a, Form) or isinstance(b, Form)):
        truth = _modulo(compare(relation, a, b, width, signed_operands=signed_operands), width)
        if width <= WORD:
            return truth
        return marked(truth, changes_between(a, b), is_of_64_bits=_may_exceed(truth))
    if any(isinstance(each, int) and each == _LEAST for each in (a, b)):
        return opaque(Kind.COMPARE, relation, a, b, width, int(signed_operands))
    if not signed_operands and any(_has_large_arm(each, width) for each in (a, b)):
        return opaque(Kind.COMPARE, relation, a, b, width, 0)
    if not signed_operands:
        return marked(ordered(relation, a, b, width), changes_between(a, b) & Change.RAISED)
    if width <= WORD and any(_may_have_sign(each, width) for each in (a, b) if isinstance(each, Form)):
        return opaque(Kind.COMPARE, relation, a, b, width, int(signed_operands))
    return marked(compare(relation, a, b, width, signed_operands=True), changes_between(a, b))


def _has_large_arm(value: Value, width: int) -> bool:
    """Tell whether a symbol may be a number, by choice, that is negative as one of the type with a sign."""
    return isinstance(value, Form) and any(
        isinstance(each, int) and each & mask_of(width) >> width - 1
        for name in walk(value.terms)
        if name.inner_kind is Kind.SELP
        for each in name.inner[2:]
    )


def may_have_wrapped(truth: Form, is_positive: Callable[[Form], bool]) -> bool:
    """Tell whether what a predicate compares may have wrapped around as something was added or taken away."""
    if truth.origin & MOVED:
        return True
    for comparison in walk(truth.terms):
        changes = changes_of(comparison)
        if changes & Change.RAISED:
            return True
        names = open_atoms(Form(comparison.inner[2])) if changes else ()  # type: ignore[arg-type]
        if not all(is_positive(Form(((name, 1),))) for name in names):
            return True
    return False


def open_atoms(form: Form) -> frozenset[Atom]:
    """Return the numbers of 32 bits in a form that may be any, and are no counters of loops."""
    return frozenset(
        name for name, _ in form.terms
        if name.inner_kind not in _COUNTERS and not is_wide(name.inner) and may_be_negative(name)
    )  # fmt: skip


def loss_of_comparison(relation: str, a: Value, b: Value, width: int, *, signed_operands: bool) -> str:
    """Return what a comparison takes for granted of its sides besides, "" for nothing."""
    sides = [each for each in (a, b) if isinstance(each, Form)]
    if width <= WORD and any(abs(each.constant) >= _LARGE for each in sides):
        return SIZES
    if not sides or (relation not in ORDERS and width <= WORD):
        return ""
    if len(sides) == 2 and open_atoms(sides[0]) & open_atoms(sides[1]):
        return SIZES if a != b or (width > WORD and any(map(_is_computed, sides))) else ""
    if width > WORD and relation in ORDERS and not signed_operands and any(map(_is_of_words, sides)):
        return COMPARED_WIDE
    return ""


def _modulo(truth: Value, width: int) -> Value:
    """Return an equality of numbers modulo 2^width as one of integers: of an atom on its own and a signed number."""
    if not isinstance(truth, Form) or truth.terms[0][0].kind is not Kind.CMP:
        return truth
    kind, relation, terms, constant = truth.terms[0][0].inner
    assert isinstance(terms, tuple)
    assert isinstance(constant, int)
    factor = -1 if terms[0][1] > 0 else 1
    number = int(signed(factor * constant & mask_of(width), width))
    return truth if factor * number == constant else atom(kind, relation, terms, factor * number)


def _may_exceed(truth: Value) -> bool:
    """Tell whether what a comparison has on one side may be a number that is zero in 32 bits only."""
    if not isinstance(truth, Form) or truth.terms[0][0].kind is not Kind.CMP:
        return False
    _, terms, constant = truth.terms[0][0].inner[1:4]
    assert isinstance(terms, tuple)
    assert isinstance(constant, int)
    (name, factor), *others = terms
    return bool(others) or abs(factor) != 1 or abs(constant) >= _HALF or name not in open_atoms(Form(terms))


def loss_of_sum(values: Sequence[Value], result: Value) -> str:
    """Return what a sum of 64 bits takes for granted of numbers of 32 in it that cancel, "" for nothing."""
    forms = [each for each in values if isinstance(each, Form)]
    if len(forms) == 1 or not any(map(_is_computed, forms)):
        return ""
    factors = [dict(each.terms) for each in forms]
    left = dict(result.terms) if isinstance(result, Form) else {}
    shared = frozenset.intersection(*map(open_atoms, forms))
    cancels = any(abs(left.get(name, 0)) < max(abs(each[name]) for each in factors) for name in shared)
    return SIZES if cancels else ""


def _is_computed(form: Form) -> bool:
    """Tell whether a number may have wrapped around in 32 bits, before it was extended."""
    return form.terms[0] != (next(leaves(form)), 1) or len(form.terms) > 1 or bool(form.constant)


def loss_of_mask(value: Form, mask: int) -> str:
    """Return what is taken for granted of a number of 32 bits that 64 hold, where some of these are masked.

    What was extended with its sign keeps ones behind 32 bits, and a mask of 32 cuts these.
    """
    return EXTENDED if _HALF <= mask < (1 << 64) - 1 and _is_of_words(value) else ""


def has_no_sign(form: Form, width: int) -> bool:
    """Tell whether a number is the same with and without its sign, as one of some bits."""
    ends = _ends(form)
    return ends is not None and ends[0] >= -(1 << width - 1) and ends[1] < 1 << width - 1


def _may_have_sign(form: Form, width: int) -> bool:
    """Tell whether the integer that a form is may be another number as a signed one of some bits.

    One that nothing bounds is taken for a number of a register, and so is what is added to one or multiplied.
    """
    is_cut = len(form.terms) == 1 and form.terms[0][1] == 1 and not form.constant and _ends(form) is not None
    return not has_no_sign(form, width) and (width < WORD or is_cut)


def sign_extended(form: Form, width: int) -> Form:
    """Return the signed number that the low bits of a symbol are."""
    return form if has_no_sign(form, width) else opaque(Kind.CVT, ".s32", f".s{width}", form)


def _ends(form: Form) -> tuple[int, int] | None:
    return None if form.differs else interval_of(form, 0, 0)


def _is_of_words(form: Form) -> bool:
    return bool(open_atoms(form)) and not any(is_wide(name.inner) for name, _ in form.terms)


def changes_between(a: Value, b: Value) -> Change:
    """Return what is done to the symbols on both sides of a comparison."""
    return _change(a) | _change(b)


def _change(side: Value) -> Change:
    is_bounded = isinstance(side, Form) and _ends(side) is not None
    if not isinstance(side, Form) or side.differs or not (is_bounded or open_atoms(side)):
        return Change.NONE
    if has_no_sign(side, WORD):
        return Change.NONE
    if is_bounded:
        return Change.RAISED
    is_lowered = side.constant < 0 or any(factor < 0 for _, factor in side.terms)
    return (Change.LOWERED if is_lowered else Change.NONE) | (
        Change.RAISED if side.constant > 0 else Change.NONE
    )


__all__ = [
    "changes_between", "compared_integers", "has_no_sign", "loss_of_comparison", "loss_of_mask",
    "loss_of_sum", "may_have_wrapped", "open_atoms", "sign_extended",
]  # fmt: skip
