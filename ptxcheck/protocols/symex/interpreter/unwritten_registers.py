"""Registers that some threads have not written: what they compute from them they have not written either.

Property: after `perform_written`, a thread of `guard` that has not written a register which the instruction reads, and
which other threads have written, holds nothing in the registers that it writes.

Argument: the register file notes the threads without a value at each read. `selp` reads what it does not choose too:
only the operand that is chosen counts, or both where the choice is open.

Not covered: instructions in which lanes give each other numbers; registers that no thread has written, which are
symbols and go through arithmetic as such.
"""

from __future__ import annotations

import numpy as np

from ....ir import Instruction, Register
from ....opcodes.op import Op
from ....opcodes.spec import Trait
from ..values.register_file import set_of
from ..values.symbol import Form
from ..values.trace import ThreadSet
from .cta import Cta
from .register_instructions import perform


def perform_written(cta: Cta, point: int, instruction: Instruction, guard: ThreadSet) -> None:
    """Run one instruction for the threads of `guard`. Raises SplitError, NotFollowedError."""
    is_choice = instruction.operation.op is Op.SELP
    unwritten = _unwritten_choice(cta, instruction, guard) if is_choice else 0
    cta.registers.missing = 0
    perform(cta, point, instruction, guard)
    if not is_choice and Trait.CROSS_LANE not in instruction.operation.traits:
        unwritten = cta.registers.missing & guard
    cta.forget_results(instruction, unwritten)


def _unwritten_choice(cta: Cta, instruction: Instruction, guard: ThreadSet) -> ThreadSet:
    """Return the threads that have not written what they choose by `selp`, or what they choose by."""
    _, first, second, chooser = instruction.operands
    lacks = [
        cta.registers.unwritten(each, guard) if isinstance(each, Register) else 0
        for each in (first, second, chooser)
    ]
    if not any(lacks):
        return 0
    choice = cta.operands.value(chooser, guard)
    if isinstance(choice, Form):
        return lacks[0] & lacks[1] | lacks[2]
    holds = guard if isinstance(choice, int) and choice & 1 else 0
    if not isinstance(choice, int):
        holds = set_of((choice & np.uint64(1)).astype(np.bool_)) & guard
    return holds & lacks[0] | guard & ~holds & lacks[1] | lacks[2]
