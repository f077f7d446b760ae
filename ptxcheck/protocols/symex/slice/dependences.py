"""What events, ends of threads and places of accesses depend on: the backward slice of a kernel.

Property: changing an instruction outside the slice in a way that keeps the control flow graph does not change which
events a thread records, in which order, and with which operands.

Argument: the slice is closed under data dependences of what is needed and under control dependences (Weiser, 1984);
with stores as further roots, numbers that go through shared memory are in it too.

Not covered: dependences through global and local memory; what is loaded from there is a symbol.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import chain

from ....cfg.definitions import Name
from ....cfg.slice import closure
from ....cfg.special import special_name
from ....cfg.uniform import Uniformity
from ....ir import registers_of
from ....opcodes.spec import Trait
from .branch_sides import between
from .kernel import Kernel

_COMPUTING = frozenset({Trait.PURE})
_OF_CTA = frozenset({"%cluster_ctarank", "%cluster_nctarank", "%cluster_ctaid", "%cluster_nctaid"})
"""Special registers that say where a CTA is in its cluster."""


class Dependences:
    """Slices of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._cfg = kernel.cfg

    def of(self, stores: frozenset[int]) -> frozenset[int]:
        """Return what events, ends, places of accesses and some stores depend on, with themselves."""
        kernel, cfg = self._kernel, self._cfg
        ends = (
            point
            for point, instruction in enumerate(cfg.instructions)
            if Trait.TERMINATOR in instruction.operation.traits and cfg.connected(point)
        )
        places = (
            kernel.definitions.before(point, register)
            for point, kind in kernel.accesses.items()
            if cfg.connected(point)
            for register in registers_of(kind.operand)
        )
        masks = (
            kernel.definitions.before(point, register)
            for point, mask in kernel.open_masks.items()
            for register in registers_of(mask)
        )
        roots = [*kernel.events, *ends, *stores, *self._branches_to_accesses, *self._ways_to_collectives]
        return closure(cfg, kernel.definitions, roots, kernel.needed, chain(places, masks))

    @cached_property
    def _branches_to_accesses(self) -> tuple[int, ...]:
        """Branches with an access on one side which go by where a thread is in its cluster: cheap to run."""
        return tuple(self._placed_branches())

    def _placed_branches(self) -> Iterator[int]:
        cfg = self._cfg
        accessing = {cfg.graph.block_of[point] for point in self._kernel.accesses}
        for block in cfg.blocks if accessing else ():
            guard = cfg.instructions[block.last].guard if block.points else None
            if guard is None or Trait.BRANCH not in cfg.instructions[block.last].operation.traits:
                continue
            inside = between(cfg, block.index)
            name = self._kernel.definitions.before(block.last, guard.register)
            if inside.blocks & accessing and self._is_of_place(name):
                yield block.last

    def _is_of_place(self, name: Name) -> bool:
        """Tell whether a value is a number that follows from the thread and its CTA's rank in the cluster alone."""
        waiting, seen = [name], {name}
        while waiting:
            each = waiting.pop()
            special = special_name(each.register) or ""
            if special.partition(".")[0] in _OF_CTA or self._kernel.facts.by_thread(each) is not None:
                continue
            if each.site < 0:
                return False
            instruction = self._cfg.instructions[each.site]
            if instruction.operation.traits != _COMPUTING:
                return False
            read = set(instruction.reads())
            if instruction.guard is not None:  # without it, the register keeps what it had
                read |= {instruction.guard.register, each.register}
            behind = {self._kernel.definitions.before(each.site, register) for register in read}
            waiting.extend(behind - seen)
            seen |= behind
        return True

    @cached_property
    def _ways_to_collectives(self) -> frozenset[int]:
        """What decides who comes to a warp-collective that lanes of a warp may come to without others.

        That is the collective itself where its guard differs between lanes, and the branches around it if one does.
        """
        found: set[int] = set()
        for point in self._kernel.member_masks:
            if self._parts_lanes(point):
                found.add(point)
            around = self._branches_around(point)
            if any(map(self._parts_lanes, around)):
                found |= around
        return frozenset(found)

    def _parts_lanes(self, point: int) -> bool:
        guard = self._cfg.instructions[point].guard
        return guard is not None and self._kernel.uniform(point, guard.register) > Uniformity.WARP

    def _branches_around(self, point: int) -> set[int]:
        """Return the branches that decide, one by the other, whether a point is come to."""
        cfg = self._cfg
        found: set[int] = set()
        waiting = [cfg.graph.block_of[point]]
        while waiting:
            fresh = {cfg.blocks[each.branch].last for each in cfg.control[waiting.pop()]} - found
            found |= fresh
            waiting.extend(cfg.graph.block_of[each] for each in fresh)
        return found
