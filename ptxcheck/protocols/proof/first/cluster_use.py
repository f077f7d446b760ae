"""Whether a kernel can tell which cluster shape it runs with, or reach another CTA of its cluster."""

from __future__ import annotations

from ....cfg.cfg import Cfg
from ....ir import (
    Component,
    Instruction,
    Operand,
    Register,
)
from ....isa.modifier import Mod
from ....opcodes.op import Op
from ....opcodes.spec import Trait

_OPS = frozenset({Op.MAPA, Op.GETCTARANK, Op.BARRIER_CLUSTER_ARRIVE, Op.BARRIER_CLUSTER_WAIT})
_MULTICAST = frozenset({Trait.ASYNC, Trait.COMMIT, Trait.MBARRIER})
"""Instructions whose mask is of CTAs and not of lanes."""
_PLACES = frozenset({"%ctaid", "%cluster_ctaid", "%clusterid"})
_REGISTERS = ("%cluster", "%nclusterid", "%is_explicit_cluster")


def uses_cluster(cfg: Cfg) -> bool:
    """Tell whether the cluster shape matters.

    When it does not, what is shown for one CTA alone holds for every shape: an address of shared memory in another
    CTA comes from `mapa`, a CTA mask or a pair of CTAs (PTX ISA §5.1.1, "cluster"), and the shape is read from special
    registers.
    """
    return any(_concerned(instruction) for instruction in cfg.instructions)


def reaches_others(cfg: Cfg) -> bool:
    """Tell whether a kernel may reach into another CTA of its cluster."""
    return any(_reaches(instruction) for instruction in cfg.instructions)


def reads_place_along(cfg: Cfg, axis: str) -> bool:
    """Tell whether a kernel reads where its CTA or cluster is along an axis of the grid (`x`, `y` or `z`)."""
    return any(
        isinstance(operand, Component) and operand.field == axis and operand.base.name in _PLACES
        for instruction in cfg.instructions
        for operand in instruction.operands
    )


def _concerned(instruction: Instruction) -> bool:
    return (
        instruction.operation.op in _OPS
        or _reaches(instruction)
        or any(_reads_shape(operand) for operand in instruction.operands)
    )


def _reaches(instruction: Instruction) -> bool:
    operation = instruction.operation
    return (
        operation.op is Op.MAPA
        or operation.has(Mod.CTA_GROUP_2)
        or ("mask" in operation.operand_index and not _MULTICAST.isdisjoint(operation.traits))
    )


def _reads_shape(operand: Operand) -> bool:
    register = operand.base if isinstance(operand, Component) else operand
    return isinstance(register, Register) and register.name.startswith(_REGISTERS)
