"""Where arrays start that are accessed at an index which nothing bounds: dynamic shared memory has no sizes.

Property: an access is at or behind the start that `array_start` gives, when no index is negative.

Argument: the constant of an address that is a sum is the least that it can be, but for what is taken away; of that,
numbers that are rounded down are no more than what they are rounded from.

Not covered: negative indices, and where the array ends.

An address is a variable, a constant and an index, so the array starts at the constant. A pointer that a loop moves on
by constants starts at the constant that it has in front of the loop. Where an index is taken away, the constant is
where the array ends, and nothing tells where it starts; but for what is left of a number that is rounded down.
"""

from __future__ import annotations

from ....cfg.addresses import Pointer
from ....cfg.definitions import Name
from ....cfg.facts import Facts
from ....cfg.linear import Atom, AtomKind, Linear
from ....cfg.values import Value
from ....ir import Immediate, Operand, Register
from ....opcodes.op import Op

_SIGN = 31
"""How far the sign of a number is from its lowest bit."""

Start = tuple[Atom, int]
"""A variable, and an offset in it."""


def array_start(facts: Facts, pointer: Pointer | None) -> Start | None:
    """Return where the array starts that a pointer is into, None when that is not known."""
    base = None if pointer is None else pointer.base
    if pointer is None or base is None or pointer.offset.linear is None:
        return None
    constant = _least(facts, pointer.offset.linear)
    if constant is None:
        return None
    if base.kind is AtomKind.ADDRESS:
        return base, constant
    if base.kind is not AtomKind.PHI or pointer.offset.linear.terms:
        return None
    start = _carried(facts, base)
    return None if start is None else (start[0], start[1] + constant)


def _carried(facts: Facts, phi: Atom) -> Start | None:
    """Return where a pointer starts that rounds of a loop only move on."""
    found: set[Start] = set()
    for _, source in facts.merged(Name(Register(phi.name, phi.scope), -2 - phi.at)):
        start = _of(facts, facts.value_of(source), phi)
        if start is None:
            return None
        found.add(start)
    starts = [(base, offset) for base, offset in found if base != phi]
    if not starts or any(offset < 0 for base, offset in found if base == phi):
        return None
    return min(starts, key=lambda each: each[1]) if len({base for base, _ in starts}) == 1 else None


def _of(facts: Facts, value: Value | None, phi: Atom) -> Start | None:
    """Return the variable or the phi that a value counts from, and its constant."""
    linear = None if value is None else value.linear
    if linear is None:
        return None
    if linear.terms == ((phi, 1),):
        return phi, linear.constant
    addresses, least = linear.addresses, _least(facts, linear)
    if least is None or len(addresses) != 1 or addresses[0][1] != 1:
        return None
    return addresses[0][0], least


def _least(facts: Facts, linear: Linear) -> int | None:
    """Return the least that a sum can be when no index in it is negative, None when that is not known."""
    constant = linear.constant
    counted = {name: factor for name, factor in linear.terms if factor > 0}
    for taken, factor in linear.terms:
        if factor > 0:
            continue
        rounded = _rounded(facts, taken)
        if rounded is None:
            return None
        scale, name, more = rounded
        part = -(factor // scale)
        if counted.get(name, 0) < part:
            return None
        counted[name] -= part
        constant -= part * more
    return constant


def _rounded(facts: Facts, atom: Atom) -> tuple[int, Atom, int] | None:
    """Return s, x and k of an atom that is (x + k) / s rounded down, or less; None for any other."""
    if atom.kind is not AtomKind.DEFINITION:
        return None
    point = atom.at
    instruction = facts.cfg.instructions[point]
    match instruction.operation.op, instruction.operands:
        case Op.AND, (_, one, Immediate()):
            scale = 1
        case Op.DIV, (_, one, Immediate(value=number)) if number > 0:
            scale = number
        case Op.SHR, (_, one, Immediate(value=number)) if 0 <= number <= _SIGN:
            scale = 1 << number
        case Op.MUL, (_, one, factor) if not instruction.operation.has(".hi"):
            return _multiple(facts, point, one, factor) or _multiple(facts, point, factor, one)
        case _:
            return None
    return _scaled(facts, point, one, scale)


def _multiple(facts: Facts, point: int, quotient: Operand, factor: Operand) -> tuple[int, Atom, int] | None:
    """Return x and k where a quotient of x + k is multiplied by its divisor."""
    linear = facts.value(point, quotient).linear
    if linear is None or linear.constant or len(linear.terms) != 1:
        return None
    (name, times), *_ = linear.terms
    if times != 1 or name.kind is not AtomKind.DEFINITION:
        return None
    instruction = facts.cfg.instructions[name.at]
    if instruction.operation.op is not Op.DIV:
        return None
    _, dividend, divisor = instruction.operands
    by = facts.value(name.at, divisor).linear
    return _scaled(facts, name.at, dividend, 1) if by and by == facts.value(point, factor).linear else None


def _scaled(facts: Facts, point: int, operand: Operand, scale: int) -> tuple[int, Atom, int] | None:
    """Return a scale with x and k of an operand x + k. What compilers add to round negative numbers is zero here."""
    linear = facts.value(point, operand).linear
    if linear is None:
        return None
    names = [name for name, factor in linear.terms if factor == 1 and not _is_bias(facts, name)]
    biases = [name for name, factor in linear.terms if factor == 1 and _is_bias(facts, name)]
    if len(names) != 1 or len(names) + len(biases) != len(linear.terms):
        return None
    return scale, names[0], linear.constant


def _is_bias(facts: Facts, atom: Atom) -> bool:
    """Tell whether an atom is the sign of a number, shifted to its low bits."""
    if atom.kind is not AtomKind.DEFINITION:
        return False
    instruction = facts.cfg.instructions[atom.at]
    if instruction.operation.op is not Op.SHR or not isinstance(instruction.operands[2], Immediate):
        return False
    linear = facts.value(atom.at, instruction.operands[1]).linear
    if linear is None or linear.constant or len(linear.terms) != 1:
        return False
    sign = linear.terms[0][0]
    if sign.kind is not AtomKind.DEFINITION:
        return False
    shifted = facts.cfg.instructions[sign.at]
    by = shifted.operands[2] if shifted.operation.op is Op.SHR else None
    return isinstance(by, Immediate) and by.value == _SIGN


__all__ = ["Start", "array_start"]
