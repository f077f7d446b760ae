"""What instructions that record no event do to registers: which rule is for which instruction.

Property: after `perform`, each register that the instruction writes holds, in the threads of `guard`, the number that
it gives them, or a symbol that stands for it.

Argument: computations of integers are run by their function (`slice.computations`), other operations by the rule of
their opcode; what has none is named (`named_results`).

Not covered: events; these are recorded (`event_recording`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from ....ir import Instruction, Register
from ....opcodes.op import Op
from ..slice.computations import is_exact, is_vectorial
from ..values import lane_arithmetic as lanes
from ..values.ceilings import with_ceiling
from ..values.compute import COMPUTE
from ..values.symbol import Form
from ..values.trace import ThreadSet
from ..values.wraparound import WORD
from .cta import Cta
from .lane_instructions import active_mask, elect, shuffle, vote
from .memory_instructions import convert_address, load, map_address, rank_of_address, store
from .named_results import opaque_results, returned_results
from .packed_registers import float_results, move_vector
from .predicate_instructions import logic_step, set_predicate

Rule: TypeAlias = Callable[[Cta, int, Instruction, ThreadSet], None]


def perform(cta: Cta, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    """Run one instruction for the threads of `guard`. Raises SplitError, NotFollowedError."""
    step = cta.program.computation(point)
    if step is None:
        _rule_of(instruction)(cta, point, instruction, guard)
        return
    operands = cta.operands
    values = [
        source if type(source) is int
        else operands.read(source, guard) if type(source) is Register
        else operands.value(source, guard)  # type: ignore[arg-type]
        for source in step.sources
    ]  # fmt: skip
    if step.loss:
        cta.note_loss(step.loss, step.types, values, point)
    if step.is_order:
        cta.note_comparison(".lt", step.types, values[0], values[1], point)
    result = step.function(step.types, values, cta.threads)
    if cta.options.names_ceilings and type(result) is Form and step.types.width == WORD:
        result = with_ceiling(result)
    if step.is_wide_sum:
        cta.note_sum(values, result, point)
    cta.registers.write(step.target, guard, result if type(result) is int else lanes.settle(result))


def _rule_of(instruction: Instruction) -> Rule:
    """Return how to run an instruction that is no computation."""
    op = instruction.operation.op
    rule = _RULES.get(op)
    if rule is not None:
        return rule
    if op not in COMPUTE or not instruction.operands or not is_exact(instruction):
        return opaque_results
    return move_vector if is_vectorial(instruction) else float_results


_RULES: Mapping[Op, Rule] = {
    Op.SETP: set_predicate,
    Op.AND: logic_step(Op.AND),
    Op.OR: logic_step(Op.OR),
    Op.XOR: logic_step(Op.XOR),
    Op.ELECT_SYNC: elect,
    Op.SHFL_SYNC: shuffle,
    Op.VOTE: vote,
    Op.VOTE_SYNC: vote,
    Op.ACTIVEMASK: active_mask,
    Op.LD: load,
    Op.LD_NC: load,
    Op.LDU: load,
    Op.CVTA: convert_address,
    Op.MAPA: map_address,
    Op.GETCTARANK: rank_of_address,
    Op.CALL: returned_results,
    Op.ST: store,
}
