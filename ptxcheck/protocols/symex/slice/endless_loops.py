"""Loops that may not end: those that nothing in them can end, and those that poll words in shared memory.

Property: a loop that `endless_loops` names is never left once it is entered a second time; one of `polling_loops` is
left only when a word in shared memory says so.

Argument: each way out is decided by a definition in front of the loop, and each round comes to it; polls are followed
back from the ways out through definitions in the loop.

Not covered: all other loops without synchronisation, which are taken to end.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....cfg.cfg import Cfg
from ....cfg.definitions import ENTRY, Definitions
from ....cfg.loops import Loop
from ....ir import Instruction
from ....opcodes.spec import Trait
from .accesses import is_strong

ENDLESS = "nothing that happens in this loop ends it"
"""Why a kernel with such a loop is not decided."""


def endless_loops(cfg: Cfg, definitions: Definitions) -> Iterator[int]:
    """Yield a point of each loop that has no way out, or whose ways out are all decided before it is entered."""
    for loop in cfg.loops:
        if _is_reached(cfg, loop) and all(
            _is_decided_before(cfg, definitions, loop, source) for source in _leaving(loop)
        ):
            yield cfg.blocks[loop.latches[0]].last


def polling_loops(cfg: Cfg, definitions: Definitions) -> Iterator[int]:
    """Yield loads from shared memory that see what others store meanwhile, and decide whether a loop is left."""
    for loop in cfg.loops:
        for source in _leaving(loop) if _is_reached(cfg, loop) else ():
            yield from _polled(cfg, definitions, loop, cfg.blocks[source].last)


def _is_reached(cfg: Cfg, loop: Loop) -> bool:
    points = cfg.blocks[loop.header].points
    return bool(points) and cfg.connected(points[0])


def _leaving(loop: Loop) -> set[int]:
    return {source for source, _ in loop.exits}


def _is_decided_before(cfg: Cfg, definitions: Definitions, loop: Loop, source: int) -> bool:
    """Tell whether what decides a way out is the same in each round, and each round comes to it."""
    point = cfg.blocks[source].last
    guard = cfg.instructions[point].guard
    if guard is None or not all(cfg.dominators.dominates(source, latch) for latch in loop.latches):
        return False
    name = definitions.before(point, guard.register)
    return name.site == ENTRY or definitions.block_of(name) not in loop.blocks


def _polled(cfg: Cfg, definitions: Definitions, loop: Loop, point: int) -> Iterator[int]:
    waiting, seen = [point], {point}
    while waiting:
        each = waiting.pop()
        if _polls_shared_memory(cfg.instructions[each]):
            yield each
            continue
        for name in definitions.read_at(each):
            for site in definitions.instructions_behind(name):
                if site not in seen and cfg.graph.block_of[site] in loop.blocks:
                    seen.add(site)
                    waiting.append(site)


def _polls_shared_memory(instruction: Instruction) -> bool:
    operation = instruction.operation
    is_load = bool({Trait.LOAD, Trait.ATOMIC} & operation.traits)
    changes = is_strong(operation) or Trait.ATOMIC in operation.traits
    return is_load and changes and operation.slots.get("space", "").startswith(".shared")
