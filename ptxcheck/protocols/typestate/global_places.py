"""Which places of an array an access is of, as far as that tells CTAs apart; and what becomes of what is loaded.

Property: `is_of_all(write, read)` holds only if no CTA, and nothing that is loaded or exchanged, decides the address of
the read, nor anything loaded that of the write: all CTAs read the same places, and the write is of one of a set that
the CTAs, the threads and the host decide; or if both have one address, in which an index of the CTA that the kernel
reads plays no part. `is_own(write, read)` holds only if a thread reads where it has written itself, and no thread of
another CTA writes there. `decides_branches(point)` holds if some branch or guard depends, through registers, on what an
instruction leaves.

Argument: definitions are followed backwards, through merges and the branches that decide these. Equal addresses that
have each index of the CTA that the kernel reads, in sums and products alone, are the thread's own.

Not covered: rows that overlap as the host passes a pitch that is too small; sums that wrap around.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from ...cfg import Name
from ...cfg.special import special_name
from ...ir import Component, Register
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from .global_arrays import GlobalAccess

if TYPE_CHECKING:
    from ...view import KernelView

_FROM_MEMORY = frozenset(
    {Trait.LOAD, Trait.ATOMIC, Trait.VOLATILE, Trait.CROSS_LANE, Trait.CALL, Trait.ANYTHING}
)
_INDEX = "%ctaid"
_PLACES = (_INDEX, "%clusterid", "%cluster_ctaid", "%smid", "%gridid")
_AFFINE = frozenset({Op.ADD, Op.SUB, Op.MUL, Op.MAD, Op.SHL, Op.MOV, Op.CVT, Op.CVTA, Op.LD})
"""What sums with factors are made of; loads are those of parameters, as nothing else that is loaded may decide."""
_MOST_USES = 2000
_COMPARE_AND_SWAP = ".cas"


class Decided(Enum):
    """What an address depends on, besides the thread in its CTA and what the host passes."""

    CTA = "the CTA"
    DATA = "what is loaded or exchanged"


class GlobalPlaces:
    """Addresses of global memory in one kernel."""

    def __init__(self, view: KernelView) -> None:
        self._view = view
        self._facts = view.facts

    def is_of_all(self, write: GlobalAccess, read: GlobalAccess) -> bool:
        """Tell whether all CTAs, or all along an axis of the grid, read the same places, which one of them writes."""
        ours, its = self.decided_by(write), self.decided_by(read)
        if ours is None or its is None or Decided.DATA in ours | its:
            return False
        if Decided.CTA not in its:
            return True
        return self.is_alike(write, read) and not self._indices <= self._indices_in(self._names(write))

    def decided_by(self, access: GlobalAccess) -> frozenset[Decided] | None:
        """Return what the address of an access depends on; None where a tensor map has coordinates besides."""
        if access.operand.extra:
            return None
        return frozenset(
            each for name in self._names(access) if name.site >= 0 for each in self._decisions(name.site)
        )

    def is_alike(self, write: GlobalAccess, read: GlobalAccess) -> bool:
        """Tell whether both have the same address, to the letter."""
        ours, its = (self._facts.value(each.point, each.operand).linear for each in (write, read))
        return ours is not None and ours == its

    def is_own(self, write: GlobalAccess, read: GlobalAccess) -> bool:
        """Tell whether a thread reads what it has written itself, and no other CTA writes."""
        if not self.is_alike(write, read) or Decided.DATA in (self.decided_by(write) or ()):
            return False
        names = self._names(write)
        mixing = (name for name in names if name.site >= 0 and not self._is_affine(name.site))
        return (
            bool(self._indices)
            and self._indices <= self._indices_in(names)
            and not any(self._indices_in(self._behind((name,))) for name in mixing)
        )

    def _names(self, access: GlobalAccess) -> set[Name]:
        base = access.operand.base
        return self._behind((self._facts.name(access.point, base),)) if isinstance(base, Register) else set()

    def _is_affine(self, point: int) -> bool:
        return self._view.body.instructions[point].operation.op in _AFFINE

    def _indices_in(self, names: Iterable[Name]) -> frozenset[str]:
        return frozenset(index for name in names if name.site >= 0 for index in self._places_read(name.site))

    def is_guess(self, read: GlobalAccess, write: GlobalAccess) -> bool:
        """Tell whether a load only says what a compare-and-swap of the same word expects, which that verifies."""
        operation = self._view.body.instructions[write.point].operation
        if not write.is_atomic or operation.slots.get("op") != _COMPARE_AND_SWAP:
            return False
        return self.is_alike(write, read) and self.depends(write.point, frozenset({read.point}))

    def depends(self, point: int, sources: frozenset[int]) -> bool:
        """Tell whether what an instruction reads is made of what some others leave."""
        return any(name.site in sources for name in self._behind(self._facts.read_at(point)))

    def decides_branches(self, point: int) -> bool:
        """Tell whether a branch or a guard may depend on what an instruction leaves in registers."""
        instructions = self._view.body.instructions
        seen: set[int] = set()
        work = [point]
        while work:
            for use in self._facts.uses(work.pop()):
                if use in seen:
                    continue
                seen.add(use)
                each = instructions[use]
                guard = each.guard
                is_guard = guard is not None and guard.register in self._written_by(seen | {point})
                if is_guard or Trait.BRANCH in each.operation.traits or len(seen) > _MOST_USES:
                    return True
                work.append(use)
        return False

    def _written_by(self, points: Iterable[int]) -> set[Register]:
        return {register for point in points for register in self._view.body.instructions[point].writes()}

    @cached_property
    def _indices(self) -> frozenset[str]:
        """The indices of the CTA in the grid that the kernel reads."""
        found = (
            special_name(operand) or ""
            for instruction in self._view.body.instructions
            for operand in instruction.operands
            if isinstance(operand, (Register, Component))
        )
        return frozenset(name for name in found if name.startswith(_INDEX))

    def _behind(self, names: Iterable[Name]) -> set[Name]:
        """Return all definitions that some are made of, and those that decide which of several it is."""
        seen: set[Name] = set()
        work = list(names)
        while work:
            name = work.pop()
            if name in seen:
                continue
            seen.add(name)
            if name.phi_block is not None:
                work.extend(source for _, source in self._facts.merged(name))
                work.extend(self._deciding(name.phi_block))
            elif name.site >= 0:
                work.extend(self._facts.read_at(name.site))
        return seen

    def _deciding(self, block: int) -> Iterator[Name]:
        """Yield what decides by which way a thread comes to a block, if that is no loop's."""
        cfg = self._view.cfg
        if block in self._headers:
            return
        for edge in cfg.edges_into(block):
            if edge.guard is not None:
                yield self._facts.name(cfg.blocks[edge.source].last, edge.guard.register)

    @cached_property
    def _headers(self) -> frozenset[int]:
        return frozenset(loop.header for loop in self._view.cfg.loops)

    def _decisions(self, point: int) -> frozenset[Decided]:
        instruction = self._view.body.instructions[point]
        traits, slots = instruction.operation.traits, instruction.operation.slots
        if Trait.LOAD in traits and slots.get("space", "").startswith(".param"):
            return frozenset()
        if traits & _FROM_MEMORY:
            return frozenset({Decided.DATA})
        return frozenset({Decided.CTA}) if any(self._places_read(point)) else frozenset()

    def _places_read(self, point: int) -> Iterator[str]:
        """Yield the special registers that an instruction reads and that tell CTAs apart."""
        for operand in self._view.body.instructions[point].operands[1:]:
            name = special_name(operand) if isinstance(operand, (Register, Component)) else None
            if name is not None and name.startswith(_PLACES):
                yield name
