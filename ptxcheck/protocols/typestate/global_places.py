"""Which places of an array an access is of, as far as that tells CTAs apart; and what becomes of what is loaded.

Property: `decided_by(access)` names everything besides the thread in its CTA, constants and the size of the grid that
the address may depend on. `is_own(write, read)` holds only if a thread reads where it has written itself, and no thread
of another CTA writes there. `are_shared(write, read)` holds only if all CTAs read the same places of an array, of which
each writes some, or the same ones. `decides_branches(point)` holds if some branch or guard depends, through registers,
on what an instruction leaves.

Argument: definitions are followed backwards, through merges and the branches that decide these. Equal addresses that
have each index of the CTA that the kernel reads, in sums and products alone, are the thread's own, unless the numbers
by which indices are multiplied say that rows overlap.

Not covered: rows that overlap as the host passes a pitch that is too small; sums that wrap around.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from ...cfg import Name
from ...cfg.addresses import PARAMETER_SPACES
from ...ir import Register
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from .divergence import controlling
from .global_arrays import Array, GlobalAccess, GlobalArrays
from .global_rows import INDEX, Rows, specials_of
from .shared_access import access_bytes

if TYPE_CHECKING:
    from ...view import KernelView

_FROM_MEMORY = frozenset(
    {Trait.LOAD, Trait.ATOMIC, Trait.VOLATILE, Trait.CROSS_LANE, Trait.CALL, Trait.ANYTHING}
)
_PLACES = (INDEX, "%clusterid", "%cluster_ctaid", "%cluster_ctarank", "%smid", "%gridid")
_SIZES = ("%nctaid", "%nclusterid")
_AFFINE = frozenset({Op.ADD, Op.SUB, Op.MUL, Op.MAD, Op.SHL, Op.MOV, Op.CVT, Op.CVTA, Op.LD})
"""What sums with factors are made of; loads are those of parameters, as nothing else that is loaded may decide."""
_SHARED = ".shared"
_COMPARE_AND_SWAP = ".cas"


class Decided(Enum):
    """What an address or a branch may depend on, besides the thread in its CTA, constants and the size of the grid."""

    CTA = "the CTA"
    DATA = "what is loaded or exchanged"
    HOST = "what the host passes"


class GlobalPlaces:
    """Addresses of global memory in one kernel."""

    def __init__(self, view: KernelView) -> None:
        self._view = view
        self._facts = view.facts
        self._decided: dict[GlobalAccess, frozenset[Decided] | None] = {}
        self._behind_names: dict[Name, frozenset[Name]] = {}

    # ---- what decides

    def decided_by(self, access: GlobalAccess) -> frozenset[Decided] | None:
        """Return what the address of an access depends on; None where a tensor map has coordinates besides."""
        if access.operand.extra:
            return None
        if access not in self._decided:
            self._decided[access] = self.behind(self._names(access), access.arrays)
        return self._decided[access]

    def behind(
        self,
        names: Iterable[Name],
        arrays: frozenset[Array] = frozenset(),
        observed: frozenset[int] = frozenset(),
    ) -> frozenset[Decided]:
        """Return what some definitions depend on, but for pointers to some arrays and what some points leave."""
        return frozenset(
            each
            for name in names
            if name.site >= 0 and name.site not in observed
            for each in self._decisions(name, arrays)
        )

    def of_branch(self, block: int, observed: frozenset[int]) -> frozenset[Decided]:
        """Return what decides the branch at the end of a block, besides what some points leave."""
        last = self._view.cfg.blocks[block].last
        return self.behind(self._names_of(self._facts.read_at(last)), observed=observed)

    def _decisions(self, name: Name, arrays: frozenset[Array]) -> Iterator[Decided]:
        instruction = self._view.body.instructions[name.site]
        traits, slots = instruction.operation.traits, instruction.operation.slots
        if Trait.LOAD in traits and slots.get("space", "") in PARAMETER_SPACES:
            if not self._is_pointer(name, arrays):
                yield Decided.HOST
        elif traits & _FROM_MEMORY:
            yield Decided.DATA
        if any(self._places_read(name.site)):
            yield Decided.CTA

    def _is_pointer(self, name: Name, arrays: frozenset[Array]) -> bool:
        of_arrays = self._view.get(GlobalArrays)
        parameter = of_arrays.parameter(name)
        return parameter is not None and of_arrays.behind_parameter(parameter) in arrays

    def _places_read(self, point: int) -> Iterator[str]:
        """Yield the special registers that an instruction reads and that tell CTAs apart."""
        return (name for name in self._specials(point) if name.startswith(_PLACES))

    def _specials(self, point: int) -> Iterator[str]:
        return specials_of(self._view.body.instructions[point])

    # ---- pairs

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
            and not any(self._indices_in(self._names_of((name,))) for name in mixing)
            and not Rows(self._view, self._names_of).overlap(write.point, write.operand)
        )

    def are_shared(self, write: GlobalAccess, read: GlobalAccess) -> bool:
        """Tell whether all CTAs read the same places of one array, of which each writes some, or the same ones."""
        ours, its = self.decided_by(write), self.decided_by(read)
        if ours is None or its or its is None or not ours <= {Decided.CTA}:
            return False
        if len(write.arrays) != 1 or write.arrays != read.arrays:
            return False
        return self._may_overlap(write, read) if ours else self.is_alike(write, read)

    def _may_overlap(self, write: GlobalAccess, read: GlobalAccess) -> bool:
        spans: list[tuple[int, int]] = []
        for each in (write, read):
            pointer = self._facts.address(each.point, each.operand)
            if pointer is None:
                return False
            low, high = pointer.offset.signed_range
            spans.append((low, high + max(1, self._bytes(each))))
        (a, b), (c, d) = spans
        return a < d and c < b

    def _bytes(self, access: GlobalAccess) -> int:
        return access_bytes(self._view.body.instructions[access.point]) or 0

    def is_guess(self, read: GlobalAccess, write: GlobalAccess) -> bool:
        """Tell whether a load only says what a compare-and-swap of the same word expects, which that verifies."""
        operation = self._view.body.instructions[write.point].operation
        if not write.is_atomic or operation.slots.get("op") != _COMPARE_AND_SWAP:
            return False
        return self.is_alike(write, read) and self.depends(write.point, frozenset({read.point}))

    # ---- definitions

    def depends(self, point: int, sources: frozenset[int]) -> bool:
        """Tell whether what an instruction reads is made of what some others leave."""
        return any(name.site in sources for name in self._names_of(self._facts.read_at(point)))

    def decides_branches(self, point: int) -> bool:
        """Tell whether a branch or a guard may depend on what an instruction leaves in registers."""
        return any(self._is_decision(use, register) for use, register in self._uses_of(point))

    def is_counted(self, point: int) -> bool:
        """Tell whether what an instruction leaves is compared with a number of CTAs, maybe through shared memory."""
        uses = {use for use, _ in self._uses_of(point)}
        if any(self._stores_shared(use) for use in uses):
            uses |= {
                each for each, instruction in enumerate(self._view.body.instructions)
                if instruction.operation.op is Op.SETP and self._reads_shared(each)
            }  # fmt: skip
        return any(self._compares_with_the_grid(use) for use in uses)

    def _compares_with_the_grid(self, point: int) -> bool:
        if self._view.body.instructions[point].operation.op is not Op.SETP:
            return False
        names = (name for name in self._names_of(self._facts.read_at(point)) if name.site >= 0)
        return any(special.startswith(_SIZES) for name in names for special in self._specials(name.site))

    def _stores_shared(self, point: int) -> bool:
        operation = self._view.body.instructions[point].operation
        return Trait.STORE in operation.traits and operation.slots.get("space", "").startswith(_SHARED)

    def _reads_shared(self, point: int) -> bool:
        instructions = self._view.body.instructions
        return any(
            Trait.LOAD in instructions[name.site].operation.traits
            and instructions[name.site].operation.slots.get("space", "").startswith(_SHARED)
            for name in self._names_of(self._facts.read_at(point))
            if name.site >= 0
        )

    def _is_decision(self, use: int, register: Register) -> bool:
        each = self._view.body.instructions[use]
        return Trait.BRANCH in each.operation.traits or (
            each.guard is not None and each.guard.register == register
        )

    def _uses_of(self, point: int) -> Iterator[tuple[int, Register]]:
        """Yield what reads what an instruction leaves, or what is made of that, with the register."""
        instructions = self._view.body.instructions
        seen: set[int] = {point}
        work = [point]
        while work:
            source = work.pop()
            for use in self._facts.uses(source):
                for register in instructions[source].writes():
                    yield use, register
                if use not in seen:
                    seen.add(use)
                    work.append(use)

    def _names(self, access: GlobalAccess) -> frozenset[Name]:
        base = access.operand.base
        return (
            self._names_of((self._facts.name(access.point, base),))
            if isinstance(base, Register)
            else frozenset()
        )

    def _names_of(self, names: Iterable[Name]) -> frozenset[Name]:
        """Return all definitions that some are made of, and those that decide which of several it is."""
        found: set[Name] = set()
        for name in names:
            if name not in self._behind_names:
                self._behind_names[name] = self._search((name,))
            found |= self._behind_names[name]
        return frozenset(found)

    def _search(self, names: Iterable[Name]) -> frozenset[Name]:
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
        return frozenset(seen)

    def _deciding(self, block: int) -> Iterator[Name]:
        """Yield what decides by which way a thread comes to a block."""
        cfg = self._view.cfg
        around = set(controlling(cfg, block))
        branches = {
            branch
            for edge in cfg.edges_into(block)
            for branch in (
                *(b for b, taken in controlling(cfg, edge.source) if (b, taken) not in around),
                *((edge.source,) if len(cfg.successors[edge.source]) > 1 else ()),
            )
        }
        for branch in sorted(branches):
            guard = cfg.instructions[cfg.blocks[branch].last].guard
            if guard is not None:
                yield self._facts.name(cfg.blocks[branch].last, guard.register)

    def _is_affine(self, point: int) -> bool:
        return self._view.body.instructions[point].operation.op in _AFFINE

    def _indices_in(self, names: Iterable[Name]) -> frozenset[str]:
        return frozenset(index for name in names if name.site >= 0 for index in self._places_read(name.site))

    @cached_property
    def _indices(self) -> frozenset[str]:
        """The indices of the CTA in the grid that the kernel reads."""
        points = range(len(self._view.body.instructions))
        return frozenset(name for point in points for name in self._specials(point) if name.startswith(INDEX))

    @cached_property
    def knows_the_grid(self) -> bool:
        """Tell whether the kernel reads the size of the grid, or which CTA runs."""
        points = range(len(self._view.body.instructions))
        return any(name.startswith((*_SIZES, INDEX)) for point in points for name in self._specials(point))
