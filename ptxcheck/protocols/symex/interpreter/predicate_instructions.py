"""Predicates: `setp`, and logic of predicates of which one may be known.

Property: a predicate that is a number is the truth of the comparison; an open one is a symbol that `condition_of` takes
apart again.

Argument: comparisons of integers are those of `lane_arithmetic`; floating-point ones are computed of known numbers, and
else named by one relation for each pair of opposites.

Not covered: comparisons of vectors and packed numbers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....cfg.optypes import typing_of
from ....ir import Immediate, Instruction, Pair, Register
from ....opcodes.op import Op
from ..values import lane_arithmetic as lanes
from ..values.comparisons import compared_integers
from ..values.compute import COMPUTE
from ..values.floating import compared
from ..values.kinds import Kind
from ..values.register_file import SplitError
from ..values.symbol import Form, Value
from ..values.trace import ThreadSet
from ..values.wraparound import WORD
from .cta import Cta

_ALL_RELATIONS = frozenset(
    {
        ".eq", ".ne", ".lt", ".le", ".gt", ".ge", ".lo", ".ls", ".hi", ".hs", ".equ", ".neu", ".ltu", ".leu", ".gtu",
        ".geu", ".num", ".nan",
    }
)  # fmt: skip
_OPPOSITES = {
    ".ne": ".equ", ".neu": ".eq", ".geu": ".lt", ".gtu": ".le", ".leu": ".gt", ".ltu": ".ge", ".nan": ".num",
}  # fmt: skip
"""Relations of floating-point numbers that hold just where another one does not (PTX ISA §9.7.6.2, "setp")."""
_COMBINE = {".and": Op.AND, ".or": Op.OR, ".xor": Op.XOR}


def set_predicate(cta: Cta, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    operation = instruction.operation
    types = typing_of(operation)
    target, a, b, *rest = instruction.operands
    relation = next(m for m in operation.modifiers if m in _ALL_RELATIONS)
    left, right = cta.operands.value(a, guard), cta.operands.value(b, guard)
    if cta.options.observation is not None and not cta.decider.speculative:
        cta.options.observation.compared(point, guard, cta.decider.turns, left, right)
    known = None if types.is_integer else compared(relation, types, left, right)
    truth: Value
    if types.is_integer:
        left, right = _masked(left, types.width), _masked(right, types.width)
        truth = compared_integers(relation, left, right, types.width, signed_operands=types.signed)
        cta.note_comparison(relation, types, left, right, point)
    elif known is not None:
        truth = known
    elif relation in _OPPOSITES:
        truth = lanes.negate(lanes.opaque(Kind.SETP, _OPPOSITES[relation], left, right))
    else:
        truth = lanes.opaque(Kind.SETP, relation, left, right)
    combine = next((m for m in operation.modifiers if m in _COMBINE), None)
    values = [truth, lanes.negate(truth)]
    if combine is not None and rest:
        third = cta.operands.value(rest[0], guard)
        values = [lanes.logic(_COMBINE[combine], value, third) for value in values]
    targets = (target.first, target.second) if isinstance(target, Pair) else (target,)
    for each, value in zip(targets, values, strict=False):
        if isinstance(each, Register):
            cta.registers.write(each, guard, lanes.settle(value))


def _masked(value: Value, width: int) -> Value:
    return value if isinstance(value, Form) else lanes.unsigned(value, width)


def _part_by_number(a: Value, b: Value, guard: ThreadSet) -> None:
    """Let threads in which a predicate is known apart from each other where another one is a symbol.

    Some of them know the result, and it is the symbol in the others. Raises SplitError.
    """
    number = a if isinstance(b, Form) else b if isinstance(a, Form) else None
    if not isinstance(number, np.ndarray):
        return
    holding = sum(1 << int(thread) for thread in np.flatnonzero(number & np.uint64(1))) & guard
    if holding and holding != guard:
        raise SplitError((holding, guard & ~holding))


def logic_step(op: Op) -> Callable[[Cta, int, Instruction, ThreadSet], None]:
    def step(cta: Cta, point: int, instruction: Instruction, guard: ThreadSet) -> None:
        target, *sources = instruction.operands
        types = typing_of(instruction.operation)
        a, b = (
            source.value & lanes.mask_of(types.width)
            if isinstance(source, Immediate)
            else cta.operands.value(source, guard)
            for source in sources
        )
        if types.width == 1:
            _part_by_number(a, b, guard)
        if op is Op.AND and types.width > WORD:
            cta.note_mask(a, b, point)
            cta.note_mask(b, a, point)
        result = lanes.logic(op, a, b) if types.width == 1 else COMPUTE[op](types, [a, b], cta.threads)
        if types.width > WORD and isinstance(result, int):
            cta.note_sum([a, b], result, point)
        if isinstance(target, Register):
            cta.registers.write(target, guard, lanes.settle(result))

    return step
