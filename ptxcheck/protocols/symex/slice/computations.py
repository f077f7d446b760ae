"""Instructions that compute a register from registers and numbers, taken apart once for all runs.

Property: `Computation.function` of the values of `sources`, at the types of the operation, is what the instruction
gives.

Argument: `values.compute` has the semantics of the operations; numbers are cut to the width that the operation reads.

Not covered: packed integers, saturation, floating-point numbers, predicates and vectors: these are no computations
here, and the machine runs them by other rules or names their results.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ....cfg.optypes import Typing, typing_of
from ....ir import Immediate, Instruction, Operand, Register, Vector
from ....opcodes.op import Op
from ..values import lane_arithmetic as lanes
from ..values.compute import COMPUTE, Compute
from ..values.wraparound import WORD, loss_of

_LOGIC = frozenset({Op.AND, Op.OR, Op.XOR})
"""Of predicates and numbers: what they give of two predicates may be known where one of them is not."""
_CHANGED = frozenset({".sat"})
"""What makes another number of the result, and is no part of what is computed here."""
_PACKED = re.compile(r"\.[bsu]\d+x\d+")
"""Types of several integers in one register."""
_SUMS = frozenset({Op.ADD, Op.SUB, Op.MAD})
_ANY_TYPE = frozenset({Op.MOV, Op.SELP, Op.CVT})
"""Operations that treat floating-point numbers as bits, or know them apart."""


@dataclass(frozen=True, slots=True)
class Computation:
    """One instruction."""

    function: Compute
    types: Typing
    target: Register
    sources: tuple[int | Operand, ...]
    loss: str
    """What symbols may lose by it, or ""."""
    is_order: bool
    """It chooses by which one is less."""
    is_wide_sum: bool
    """It adds or subtracts numbers of 64 bits."""


def is_exact(instruction: Instruction) -> bool:
    """Tell whether an operation gives the plain result of its operands, one number in a register."""
    modifiers = instruction.operation.modifiers
    return _CHANGED.isdisjoint(modifiers) and not any(map(_PACKED.fullmatch, modifiers))


def is_vectorial(instruction: Instruction) -> bool:
    """Tell whether an instruction packs or unpacks registers."""
    target, *sources = instruction.operands
    return not isinstance(target, Register) or any(isinstance(each, Vector) for each in sources)


def computation_of(instruction: Instruction) -> Computation | None:
    """Return the computation that an instruction is, None for every other."""
    op = instruction.operation.op
    function = None if op in _LOGIC else COMPUTE.get(op)
    if function is None or not instruction.operands or not is_exact(instruction) or is_vectorial(instruction):
        return None
    types = typing_of(instruction.operation)
    if not types.is_integer and op not in _ANY_TYPE:
        return None
    target, *sources = instruction.operands
    assert isinstance(target, Register)
    width = types.source_width if op is Op.CVT else types.width
    read = tuple(
        source.value & lanes.mask_of(2 * width if position == 2 and types.has(".wide") else width)
        if type(source) is Immediate
        else source
        for position, source in enumerate(sources)
    )
    return Computation(
        function,
        types,
        target,
        read,
        loss_of(op, types),
        op in (Op.MIN, Op.MAX),
        op in _SUMS and (types.width > WORD or types.has(".wide")),
    )
