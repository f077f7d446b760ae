"""What instructions leave behind that outlives their CTA."""

from __future__ import annotations

from ....ir import Instruction
from ....opcodes.spec import Trait

_OWN = (".shared", ".local", ".param")
"""State spaces that end with the CTA."""


def writes_outside(instruction: Instruction) -> bool:
    """Tell whether an instruction may write memory other than that of its CTA and of its threads."""
    operation = instruction.operation
    traits = operation.traits
    if traits & {Trait.CALL, Trait.ANYTHING}:
        return True
    if Trait.TENSOR_MEMORY in traits:
        return False
    target = operation.slots.get("dst_space", operation.slots.get("space", ""))
    if traits & {Trait.STORE, Trait.ATOMIC}:
        return not target.startswith(_OWN)
    return Trait.ASYNC in traits and target.startswith(".global")
