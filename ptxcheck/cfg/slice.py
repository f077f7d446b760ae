"""The sync slice: what the synchronising instructions of a kernel depend on, through data and control.

Property: changing an instruction outside the slice in a way that keeps the function's control flow graph does
not change which synchronising instructions a thread executes, in which order and with which register
operands. Memory is a border: loads in the slice are listed, not what was stored there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ..ir import (
    Address,
    Register,
    Symbol,
    Vector,
)
from ..opcodes.op import Op
from ..opcodes.spec import Trait
from .addresses import PARAMETER_SPACES, Addresses
from .cfg import Cfg
from .definitions import Definitions, Name
from .synchronising import SYNCHRONISING

_DATA_MOVERS = frozenset({Trait.TENSOR_MEMORY, Trait.MATRIX})


@dataclass(frozen=True, slots=True)
class SyncSlice:
    """The slice of one function, as points."""

    roots: tuple[int, ...]
    """The synchronising instructions and the ends of threads."""
    points: frozenset[int] = field(repr=False)
    """Roots and everything that they depend on."""
    loads: tuple[int, ...]
    """Points in the slice that read memory other than parameters."""
    parameters: tuple[str, ...]
    """Kernel parameters that the slice reads or takes the address of."""


def sync_slice(cfg: Cfg, definitions: Definitions, addresses: Addresses) -> SyncSlice:
    """Return the slice of a function."""
    roots = tuple(
        point
        for point, instruction in enumerate(cfg.instructions)
        if cfg.connected(point)
        and (
            instruction.operation.traits & SYNCHRONISING
            or Trait.TERMINATOR in instruction.operation.traits
            or Trait.CALL in instruction.operation.traits
        )
    )
    points = closure(cfg, definitions, roots, lambda point: _needed(cfg, definitions, point))
    loads = tuple(p for p in sorted(points) if _loads_memory(cfg, p))
    return SyncSlice(roots, points, loads, _parameters(cfg, addresses, points))


def closure(
    cfg: Cfg,
    definitions: Definitions,
    roots: Iterable[int],
    needed: Callable[[int], Iterable[Name]],
    more: Iterable[Name] = (),
) -> frozenset[int]:
    """Return the roots and what they depend on, through data and control.

    `needed` names the registers of a point that matter; `more` are names that matter beside those of the roots.
    """
    points: set[int] = set()
    names: set[Name] = set()
    blocks: set[int] = set()
    work = list(roots)
    for name in more:
        work.extend(_behind(definitions, name, names, cfg))
    while work:
        point = work.pop()
        if point in points:
            continue
        points.add(point)
        for name in needed(point):
            work.extend(_behind(definitions, name, names, cfg))
        block = cfg.graph.block_of[point]
        if block not in blocks:
            blocks.add(block)
            work.extend(cfg.blocks[d.branch].last for d in cfg.control[block])
    return frozenset(points)


def _behind(definitions: Definitions, start: Name, names: set[Name], cfg: Cfg) -> list[int]:
    """Return the instructions behind a name, and the branches that decide which of them it is."""
    found: list[int] = []
    work = [start]
    while work:
        name = work.pop()
        if name in names:
            continue
        names.add(name)
        block = name.phi_block
        if block is not None:
            for edge, source in definitions.merged(name):
                work.append(source)
                found.extend(cfg.blocks[d.branch].last for d in cfg.control[edge.source])
                if len(cfg.successors[edge.source]) > 1:
                    found.append(cfg.blocks[edge.source].last)
        elif name.site >= 0:
            found.append(name.site)
            if cfg.instructions[name.site].guard is not None:
                work.append(definitions.before(name.site, name.register))
    return found


def _needed(cfg: Cfg, definitions: Definitions, point: int) -> Iterable[Name]:
    """Return the registers that matter: all that are read, but for data that only passes through."""
    instruction = cfg.instructions[point]
    names = definitions.read_at(point)
    if not instruction.operation.traits & _DATA_MOVERS:
        return names
    payload = {
        element
        for operand in instruction.operands
        if isinstance(operand, Vector)
        for element in operand.elements
        if isinstance(element, Register)
    }
    return [name for name in names if name.register not in payload]


def _loads_memory(cfg: Cfg, point: int) -> bool:
    operation = cfg.instructions[point].operation
    reads = bool(operation.traits & {Trait.LOAD, Trait.ATOMIC})
    return reads and not (operation.op is Op.LD and operation.slots.get("space", "") in PARAMETER_SPACES)


def _parameters(cfg: Cfg, addresses: Addresses, points: frozenset[int]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for point in sorted(points):
        for operand in cfg.instructions[point].operands:
            base = operand.base if isinstance(operand, Address) else operand
            if isinstance(base, Symbol) and base.name in addresses.parameters:
                found[base.name] = None
    return tuple(found)
