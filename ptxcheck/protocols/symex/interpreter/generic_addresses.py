"""Addresses of generic space: an offset of shared memory is none.

Property: after `check_generic`, every thread of `guard` has an address in the shared window, or one that is not known.

Argument: numbers are looked at thread by thread. The name of a variable stands for its address in the space that is
wanted.

Not covered: symbols; which memory they are in is told by how the text computes them.
"""

from __future__ import annotations

import numpy as np

from ....ir import Address, Instruction, Register
from ..values import lane_arithmetic as lanes
from ..values.register_file import lanes_of
from ..values.symbol import Form, Value
from ..values.trace import SHARED_WINDOW, NotFollowedError, ThreadSet


def takes_generic(instruction: Instruction) -> bool:
    """Tell whether an instruction takes an address of generic space, as it names no other."""
    operation = instruction.operation
    form = operation.form
    return form is not None and "space" not in operation.slots and any(s.name == "space" for s in form.slots)


def check_generic(operand: Address, address: Value, guard: ThreadSet, threads: int, point: int) -> None:
    """Raise NotFollowedError for an offset of shared memory where an address of generic space is wanted."""
    if isinstance(address, Form) or not isinstance(operand.base, Register):
        return
    held = lanes.as_lanes(address, threads)[lanes_of(guard, threads)]
    if not (held & np.uint64(SHARED_WINDOW)).all():
        text = "a generic address that is none of shared memory: cvta.shared makes one, or .shared is missing"
        raise NotFollowedError(text, point)
