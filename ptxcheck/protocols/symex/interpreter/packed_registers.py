"""`mov` that packs registers side by side into one, or takes one apart, and arithmetic of known scales.

Property: an element that is taken out of what was packed is the element that was put in.

Argument: a packed symbol keeps its elements; of any other symbol an element is one of its own, by place and width.

Not covered: floating-point numbers that are not known, and other operations on vectors: their results are named.
"""

from __future__ import annotations

import numpy as np

from ....cfg.optypes import typing_of
from ....ir import FloatImmediate, Instruction, Operand, Register, Vector
from ....opcodes.op import Op
from ..values import lane_arithmetic as lanes
from ..values.floating import computed
from ..values.kinds import Kind
from ..values.symbol import Atom, Form, Value
from ..values.trace import ThreadSet
from .cta import Cta
from .named_results import opaque_results


def move_vector(cta: Cta, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    """`mov` that packs or unpacks a vector."""
    if instruction.operation.op is not Op.MOV or len(instruction.operands) != 2:
        opaque_results(cta, point, instruction, guard)
        return
    target, source = instruction.operands
    width = typing_of(instruction.operation).width
    if isinstance(source, Vector) and isinstance(target, Register):
        cta.registers.write(target, guard, _packed(cta, source, width, guard))
    elif isinstance(target, Vector):
        value = cta.operands.value(source, guard)
        part = width // len(target.elements)
        for position, element in enumerate(target.elements):
            if isinstance(element, Register):
                cta.registers.write(element, guard, _part(value, position, part))


def float_results(cta: Cta, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    """A product or a sum of numbers that are known; else a symbol."""
    target, *sources = instruction.operands
    values = [cta.operands.value(each, guard) for each in sources] if all(map(_is_scalar, sources)) else []
    result = computed(instruction.operation.op, typing_of(instruction.operation), values)
    if result is None or not isinstance(target, Register):
        opaque_results(cta, point, instruction, guard)
    else:
        cta.registers.write(target, guard, result)


def _is_scalar(operand: Operand) -> bool:
    return isinstance(operand, Register | FloatImmediate)


def _packed(cta: Cta, source: Vector, width: int, guard: ThreadSet) -> Value:
    part = width // len(source.elements)
    return lanes.pack(part, [cta.operands.value(element, guard) for element in source.elements])


def _part(value: Value, position: int, width: int) -> Value:
    """Return one element of a packed value."""
    if isinstance(value, Form):
        name = value.terms[0][0]
        if len(value.terms) == 1 and name.kind is Kind.PACK and name[1] == width and value.terms[0][1] == 1:
            element = name[2 + position]
            if isinstance(element, int):
                return element
            return _value_of(element)
        return lanes.opaque(Kind.PART, value, position, width)
    shifted = lanes.shift_right(value, position * width, 64, arithmetic=False)
    return lanes.unsigned(shifted, width) if not isinstance(shifted, Form) else shifted


def _value_of(key: object) -> Value:
    """Return the value that an argument of an atom stands for."""
    assert isinstance(key, Atom)
    match key:
        case (Kind.LANES, bytes(raw)):
            return np.frombuffer(raw, dtype=np.uint64)
        case (Kind.SUM, tuple(terms), int(constant)):
            return Form(terms, constant)
        case _:
            return Form(((key, 1),))
