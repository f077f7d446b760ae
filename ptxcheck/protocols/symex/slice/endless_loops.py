"""Loops that may not end: those that nothing in them can end, and those that poll words in shared memory.

Property: a loop that `endless_loops` names is never left once it is entered a second time; one of `polling_loops` is
left only when a word in shared memory says so.

Argument: each way out is one that value analysis shows to be never taken, or each round comes to it and it is decided
by what no round changes: definitions in front of the loop, and what is computed from these alone. Polls are followed
back from the ways out through definitions in the loop.

Not covered: all other loops without synchronisation, which are taken to end.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....cfg.cfg import Cfg
from ....cfg.definitions import ENTRY, Definitions, Name
from ....cfg.facts import Facts
from ....cfg.loops import Loop
from ....cfg.special import changes, special_name
from ....ir import Component, Instruction, Register
from ....opcodes.spec import Trait
from .accesses import is_strong

ENDLESS = "nothing that happens in this loop ends it"
"""Why a kernel with such a loop is not decided."""


def endless_loops(facts: Facts) -> Iterator[Loop]:
    """Yield each loop that has no way out, or of which no way out is taken in a second round."""
    for loop in facts.cfg.loops:
        if (
            _is_reached(facts.cfg, loop)
            and all(
                _is_decided_before(facts, loop, source) or _is_never_taken(facts, loop, source)
                for source in _leaving(loop)
            )
            and _is_repeated(facts, loop)
        ):
            yield loop


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


def _is_repeated(facts: Facts, loop: Loop) -> bool:
    """Tell whether some thread may come to a second round."""
    return facts.reachable(facts.cfg.blocks[loop.header].points[0]) and any(
        facts.may_be_taken(edge)
        for latch in loop.latches
        for edge in facts.cfg.edges_from(latch)
        if edge.target == loop.header
    )


def _is_never_taken(facts: Facts, loop: Loop, source: int) -> bool:
    """Tell whether no thread leaves a loop from a block."""
    leaving = (edge for edge in facts.cfg.edges_from(source) if edge.target not in loop.blocks)
    return not any(facts.may_be_taken(edge) for edge in leaving)


def _is_decided_before(facts: Facts, loop: Loop, source: int) -> bool:
    """Tell whether what decides a way out is the same in each round, and each round comes to it."""
    point = facts.cfg.blocks[source].last
    guard = facts.cfg.instructions[point].guard
    if guard is None or not all(facts.cfg.dominators.dominates(source, latch) for latch in loop.latches):
        return False
    return _is_fixed(facts, loop, facts.name(point, guard.register))


def _is_fixed(facts: Facts, loop: Loop, name: Name) -> bool:
    """Tell whether a register has one number in all rounds: it is from before, or computed from such alone."""
    waiting, seen = [name], {name}
    while waiting:
        each = waiting.pop()
        if each.site == ENTRY or facts.block_of(each) not in loop.blocks:
            continue
        if each.phi_block is not None or not _is_computed(facts.cfg.instructions[each.site]):
            return False
        fresh = [other for other in facts.read_at(each.site) if other not in seen]
        seen.update(fresh)
        waiting += fresh
    return True


def _is_computed(instruction: Instruction) -> bool:
    """Tell whether an instruction gives one result for the same registers, whenever it is executed."""
    special = (
        special_name(operand) for operand in instruction.operands if isinstance(operand, Component | Register)
    )
    return (
        Trait.PURE in instruction.operation.traits
        and instruction.guard is None
        and not any(name is not None and changes(name) for name in special)
    )


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
