"""What a kernel of a programmatic dependent launch reads before it waits for the kernel in front of it.

Property: each `EarlyRead` is a load of global memory on a feasible path (see `paths`) without `griddepcontrol.wait` in
front of it. Where it is `likely`, one of these holds as well:

* `NEVER_WAITS`: no way through the load waits, behind it either, and global memory is written behind it. All threads of
  the CTA go that way together, so that none of them can have waited for the others.
* `AWAITED_ELSEWHERE`: no way through the load waits, behind it either, and other threads read the same address, to the
  letter, behind the wait.
* `WRITTEN_HERE`: the kernel itself stores to the same array, so it is none of constants.
* `NOT_CONSTANT`: CUDA that was compiled here reads through a pointer parameter, and the compiler has not taken the
  array for constant (`ld.global.nc`), as it does for `const __restrict__`.

In front of the last three no thread can have been told by another one that has waited. Polls (`.volatile`, `.relaxed`,
`.acquire`) are never likely: they are made for memory that changes.

Not seen: whether the kernel in front writes the array.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ...cfg import AtomKind, Uniformity
from ...cfg.definitions import Name
from ...cfg.linear import Atom, Linear
from ...isa.modifier import Mod
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from .divergence import controlling
from .paths import Paths, Query

if TYPE_CHECKING:
    from ...ir import Instruction
    from ...view import KernelView

_LOADS = frozenset({Op.LD, Op.LD_NC, Op.CP_ASYNC})
_COPIES = frozenset({Op.CP_ASYNC_BULK, Op.CP_ASYNC_BULK_TENSOR})
_WRITING = frozenset({Trait.STORE, Trait.ATOMIC})
_TELLING = frozenset({Trait.BARRIER, Trait.WAIT, Trait.COLLECTIVE, Trait.ATOMIC, Trait.CALL, Trait.ANYTHING})
_STRONG = (Mod.VOLATILE, Mod.RELAXED, Mod.ACQUIRE, Mod.MMIO)
_POINTER_BYTES = 8


class Sign(Enum):
    """Why what is read may well be written by the kernel in front."""

    NONE = "none"
    NEVER_WAITS = "never waits"
    AWAITED_ELSEWHERE = "awaited elsewhere"
    WRITTEN_HERE = "written here"
    NOT_CONSTANT = "not constant"


@dataclass(frozen=True, slots=True)
class EarlyRead:
    """A load that a path comes to with no wait for the kernel in front."""

    point: int
    sign: Sign

    @property
    def likely(self) -> bool:
        """Tell whether there is a sign that the kernel in front may write what is read."""
        return self.sign is not Sign.NONE


class _Row(NamedTuple):
    """Points that a thread executes together, or not at all."""

    block: int
    barred_before: int
    executes: tuple[Name, bool] | None
    """The guard, whether it is negated; None for none."""


@dataclass(frozen=True)
class DependentLaunch:
    """The waits for the kernel in front, and the loads of global memory."""

    view: KernelView

    @cached_property
    def waits(self) -> frozenset[int]:
        return self._points(lambda i: i.operation.op is Op.GRIDDEPCONTROL_WAIT)

    @cached_property
    def is_dependent(self) -> bool:
        """Tell whether this is a kernel that takes part in such launches."""
        launches = self._points(lambda i: i.operation.op is Op.GRIDDEPCONTROL_LAUNCH_DEPENDENTS)
        return self.view.function.is_entry and bool(self.waits or launches)

    def early_read(self) -> EarlyRead | None:
        """Return the first load in front of which a path does not wait, a likely one if there is one."""
        reads = [] if not self.is_dependent else list(self._early_reads())
        return next((read for read in reads if read.likely), reads[0] if reads else None)

    def constant_reads_behind(self) -> Iterator[tuple[int, int]]:
        """Yield (wait, load) for loads behind a wait that take their memory for constant, one of each array."""
        seen: set[Atom | None] = set()
        for load in sorted(self._points(lambda i: i.operation.op is Op.LD_NC)):
            wait = next((each for each in sorted(self.waits) if self.view.cfg.reaches(each, load)), None)
            base = self._base(load)
            if wait is not None and (base is None or base not in seen):
                seen.add(base)
                yield wait, load

    def _early_reads(self) -> Iterator[EarlyRead]:
        for load in sorted(self._points(_reads_global)):
            if self._comes_to(load, self.waits):
                yield EarlyRead(load, self._sign(load))

    def _sign(self, load: int) -> Sign:
        instruction, reaches = self.view.body.instructions[load], self.view.cfg.reaches
        if instruction.operation.op is not Op.LD or any(instruction.operation.has(word) for word in _STRONG):
            return Sign.NONE
        if not any(reaches(load, wait) for wait in self.waits):
            if self._is_on_a_way_of_all(load):
                return Sign.NEVER_WAITS
            is_alone = self._is_awaited_elsewhere(load) and self._comes_to(load, self._told)
            return Sign.AWAITED_ELSEWHERE if is_alone else Sign.NONE
        base = self._base(load)
        if base is None or base.kind is not AtomKind.PARAMETER or not self._comes_to(load, self._told):
            return Sign.NONE
        if base in self._written:
            return Sign.WRITTEN_HERE
        is_known = self.view.module.source.is_compiled and self._is_pointer(base)
        return Sign.NOT_CONSTANT if is_known and base not in self._constant else Sign.NONE

    def _is_on_a_way_of_all(self, load: int) -> bool:
        """Tell whether the CTA as a whole takes a way through a load that has no wait, and writes on it."""
        cfg, facts, reaches = self.view.cfg, self.view.facts, self.view.cfg.reaches
        if any(reaches(wait, load) for wait in self.waits):
            return False
        parting: list[int] = []
        for branch, taken in controlling(cfg, cfg.graph.block_of[load]):
            last = cfg.blocks[branch].last
            others = (edge.target for edge in cfg.edges_from(branch) if edge.target != taken)
            if any(self._leads_to_a_wait(other) for other in others) and not self._leads_to_a_wait(taken):
                parting.append(last)
        guards = [(last, cfg.instructions[last].guard) for last in parting]
        return (
            bool(guards)
            and all(g is not None and facts.uniform(at, g.register) <= Uniformity.CTA for at, g in guards)
            and any(reaches(load, point) for point in self._points(_writes_global))
        )

    def _is_awaited_elsewhere(self, load: int) -> bool:
        """Tell whether another load, to which all ways lead past the wait, reads the same address."""
        address = self._address(load)
        if address is None or any(self.view.cfg.reaches(wait, load) for wait in self.waits):
            return False
        return any(
            other != load and not self._comes_to(other, self.waits) for other in self._by_address[address]
        )

    @cached_property
    def _by_address(self) -> Mapping[Linear, tuple[int, ...]]:
        """Loads of global memory that some run gets to, one of each row, by their addresses."""
        found: dict[Linear, dict[_Row, int]] = {}
        for load in sorted(self._points(_reads_global)):
            address = None if self.view.facts.never_runs(load) else self._address(load)
            if address is not None:
                found.setdefault(address, {}).setdefault(self._row(load, self.waits), load)
        return {address: tuple(rows.values()) for address, rows in found.items()}

    def _address(self, load: int) -> Linear | None:
        """Return the address of a load that counts from a parameter."""
        operand = self.view.body.instructions[load].get("a")
        base = self._base(load)
        if base is None or base.kind is not AtomKind.PARAMETER:
            return None
        return self.view.facts.value(load, operand).linear

    def _leads_to_a_wait(self, block: int) -> bool:
        cfg = self.view.cfg
        if block == cfg.exit:
            return False
        start = cfg.blocks[block].start
        return any(start == wait or cfg.reaches(start, wait) for wait in self.waits)

    @cached_property
    def _told(self) -> frozenset[int]:
        """The waits, and where a thread may be told by another one that has waited."""
        telling = self._points(lambda i: bool(i.operation.traits & _TELLING)) - self.waits
        reaches = self.view.cfg.reaches
        handed = any(reaches(wait, point) for wait in self.waits for point in telling)
        return self.waits | telling if handed else self.waits

    @cached_property
    def _written(self) -> frozenset[Atom]:
        """What stores and atomics count their addresses from."""
        bases = (self._base(point) for point in self._points(_writes_global))
        return frozenset(base for base in bases if base is not None)

    @cached_property
    def _constant(self) -> frozenset[Atom]:
        """Arrays that some load takes for constant."""
        bases = (self._base(point) for point in self._points(lambda i: i.operation.op is Op.LD_NC))
        return frozenset(base for base in bases if base is not None)

    def _is_pointer(self, base: Atom) -> bool:
        """Tell whether a parameter is one pointer: members of a structure cannot be `__restrict__`."""
        sizes = {place.name: size for _, size, place in self.view.function.parameter_places}
        return sizes.get(base.name) == _POINTER_BYTES

    def _base(self, point: int) -> Atom | None:
        """Return what the address of an access counts from."""
        pointer = self.view.facts.address(point, self.view.body.instructions[point].get("a"))
        return None if pointer is None else pointer.base

    def _comes_to(self, point: int, barred: frozenset[int]) -> bool:
        """Tell whether a path leads to a point past none that is barred; points of one row are asked about once."""
        key = (barred, self._row(point, barred))
        if key not in self._comes:
            found = self.view.get(Paths.of).find(Query(None, frozenset({point}), barred))
            self._comes[key] = found is not None
        return self._comes[key]

    @cached_property
    def _comes(self) -> dict[tuple[frozenset[int], _Row], bool]:
        return {}

    def _row(self, point: int, barred: frozenset[int]) -> _Row:
        """Return what points have in common that stand in one block, with none barred between, under one guard.

        A path that comes to one of them comes to all.
        """
        if barred not in self._in_order:
            self._in_order[barred] = tuple(sorted(barred))
        guard = self.view.cfg.instructions[point].guard
        executes = None if guard is None else (self.view.facts.name(point, guard.register), guard.negated)
        return _Row(self.view.cfg.graph.block_of[point], bisect_left(self._in_order[barred], point), executes)

    @cached_property
    def _in_order(self) -> dict[frozenset[int], tuple[int, ...]]:
        return {}

    def _points(self, wanted: Callable[[Instruction], bool]) -> frozenset[int]:
        return frozenset(p for p, i in enumerate(self.view.body.instructions) if wanted(i))


def _reads_global(instruction: Instruction) -> bool:
    operation = instruction.operation
    if operation.op in _COPIES:
        return operation.slots.get("src_space") == Mod.GLOBAL
    is_global = operation.op is Op.CP_ASYNC or operation.slots.get("space") == Mod.GLOBAL
    return operation.op in _LOADS and is_global


def _writes_global(instruction: Instruction) -> bool:
    operation = instruction.operation
    return bool(operation.traits & _WRITING) and operation.slots.get("space") == Mod.GLOBAL
