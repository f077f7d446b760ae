"""The sync slice as a set of points: what operands and control of synchronising instructions depend on.

Flow-insensitive in registers: every instruction that writes a register that matters is in it. That is a
superset of the exact slice; it costs steps, never truth.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...cfg.cfg import Cfg
from ...ir import Register, registers_of
from ...spec import Trait
from .accesses import AccessKind

SYNCHRONISING = frozenset(
    {
        Trait.MBARRIER, Trait.BARRIER, Trait.WAIT, Trait.COMMIT, Trait.ASYNC, Trait.FENCE, Trait.TENSOR_MEMORY,
        Trait.WARPGROUP, Trait.TERMINATOR, Trait.ANYTHING,
    }
)  # fmt: skip


def relevant_points(cfg: Cfg, accesses: Mapping[int, AccessKind] | None = None) -> frozenset[int]:
    """Return the points of the sync slice, with what the addresses of `accesses` depend on."""
    writers: dict[Register, list[int]] = {}
    for point, instruction in enumerate(cfg.instructions):
        for register in instruction.writes():
            writers.setdefault(register, []).append(point)
    found: set[int] = set()
    waiting = [p for p, i in enumerate(cfg.instructions) if i.operation.traits & SYNCHRONISING]
    for access in (accesses or {}).values():
        for register in registers_of(access.operand):
            waiting.extend(writers.get(register, ()))
    while waiting:
        point = waiting.pop()
        if point in found:
            continue
        found.add(point)
        for register in cfg.instructions[point].reads():
            waiting.extend(writers.get(register, ()))
        for dependence in cfg.control[cfg.graph.block_of[point]]:
            waiting.append(cfg.blocks[dependence.branch].last)
    return frozenset(found)
