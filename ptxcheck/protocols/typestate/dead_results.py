"""Results that nothing comes of.

Property: `is_looked_at` is false only where every instruction that reads a result does nothing but compute registers,
and nothing comes of those either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...opcodes.op import Op

if TYPE_CHECKING:
    from ...view import KernelView

_HANDS_ON = frozenset(
    {Op.MOV, Op.SELP, Op.SETP, Op.SET, Op.NOT, Op.AND, Op.OR, Op.XOR, Op.CVT, Op.ADD, Op.SUB, Op.NEG, Op.LOP3}
)
"""Instructions that compute registers from registers and do nothing else."""


def is_looked_at(view: KernelView, point: int) -> bool:
    """Tell whether something comes of what an instruction writes."""
    seen: set[int] = set()
    waiting = [point]
    while waiting:
        for user in view.facts.uses(waiting.pop()):
            if view.cfg.instructions[user].operation.op not in _HANDS_ON:
                return True
            if user not in seen:
                seen.add(user)
                waiting.append(user)
    return False


__all__ = ["is_looked_at"]
