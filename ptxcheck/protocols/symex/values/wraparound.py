"""Where numbers may wrap around, which linear forms do not know: runs with such numbers are not made.

Property: where a symbol may lose bits in an instruction, `loss_of` and `may_be_cut` say so, and the run notes it.

Argument: by the widths that numbers were read with, and those of the operation.

Not covered: runs with numbers that do wrap around: these are not made, which verdicts name as an assumption.

A number of 64 bits that an instruction cuts to 32 is taken to fit, and a multiple to be one of an integer.
"""

from __future__ import annotations

from collections.abc import Iterable

from ....cfg.optypes import Typing
from ....opcodes.op import Op
from .kinds import Kind
from .recurrent_arithmetic import form_of
from .substitution import leaves
from .symbol import (
    Atom,
    Condition,
    Form,
    Value,
)
from .widths import is_wide

WORD = 32
_GROWING = frozenset({Op.MUL, Op.MAD})
_WRAPPING = frozenset({Op.ADD, Op.SUB, Op.MUL, Op.MAD, Op.SHL, Op.NEG})
CUT_NUMBERS = "a number of 64 bits that is cut here was run only where it is a signed number of 32"
EXTENDED = (
    "a number that is extended to 64 bits here as an unsigned one was run only where it is not negative"
)
SIZES = "what is computed from sizes by sums and shifts here is taken not to wrap around"
DIVIDED = "a number that is divided here is taken to be one of 31 bits that is not negative"
NARROW = "numbers of less than 32 bits that are computed here were run only where they do not wrap around"
COMPARED_WIDE = (
    "a number of 32 bits that is compared here as an unsigned one of 64 was run only where it is not negative"
)
MULTIPLES = "a multiple of a symbol that decides here was run only where it does not wrap around"


def loss_of(op: Op, types: Typing) -> str:
    """Return what symbols may lose by an instruction, "" for nothing."""
    if not types.is_integer:
        return ""
    if op is Op.CVT:
        source, target = types.source_width, types.width
        if target <= WORD < source:
            return CUT_NUMBERS
        return EXTENDED if source == WORD < target and not types.source_signed else ""
    if op in _GROWING and types.has(".wide") and types.width == WORD:
        return "" if types.signed else EXTENDED
    return NARROW if op in _WRAPPING and types.width < WORD else ""


def may_be_negative(name: Atom) -> bool:
    """Tell whether an atom may be a negative number.

    What is a place in the grid, a variable of an automaton, or a rest of a mask is none.
    """
    match name.inner:
        case (Kind.SPECIAL | Kind.VARIABLE, *_):
            return False
        case (Kind.AND, one, other):
            return not any(isinstance(each, int) and 0 <= each < 1 << WORD - 1 for each in (one, other))
        case (Kind.SHR, _, int(bits), int(width)):
            return not width - WORD < bits < width
        case (Kind.LOAD | Kind.SHARED | Kind.RECEIVED, _, int(width), *_):
            return width >= WORD
        case _:
            return True


def is_never_negative(form: Form) -> bool:
    """Tell whether a sum is of numbers that are none of them negative."""
    return form.constant >= 0 and all(factor > 0 and not may_be_negative(name) for name, factor in form.terms)


def sizes_in(form: Form) -> frozenset[Atom] | None:
    """Return the parameters for which a number is not negative where they are not; None where that is not enough."""
    if form.constant < 0 or any(factor < 0 for _, factor in form.terms):
        return None
    found: set[Atom] = set()
    for name, _ in form.terms:
        own = _sizes_of(name)
        if own is None:
            return None
        found |= own
    return frozenset(found)


def _sizes_of(name: Atom) -> frozenset[Atom] | None:
    match name.inner:
        case (Kind.PARAM, *_):
            return frozenset({name})
        case (Kind.SAR, part, int(bits), int(width)) if 0 < bits < width == WORD:
            divided = form_of(part)
            return None if divided is None else sizes_in(divided)
        case _:
            return None if may_be_negative(name) else frozenset()


def may_be_cut(value: Value, width: int) -> bool:
    """Tell whether a symbol may lose bits that it was read with in a register of some width."""
    if width > WORD or not isinstance(value, Form):
        return False
    is_large = max(abs(value.constant), *(abs(factor) for _, factor in value.terms)) >> WORD
    return bool(is_large) or any(is_wide(leaf.inner) for leaf in leaves(value))


def is_multiple(condition: Condition) -> bool:
    """Tell whether a condition is on a multiple of one symbol, whose high bits may be lost."""
    return len(condition.form.terms) == 1 and abs(condition.form.terms[0][1]) != 1


def may_wrap(path: Iterable[tuple[Condition, bool]]) -> bool:
    """Tell whether a decision is on a sum of symbols, or on a multiple, whose number may have lost its high bits."""
    return any(len(condition.form.terms) != 1 or is_multiple(condition) for condition, _ in path)
