"""Shared memory of other CTAs of the cluster: who reaches into it before or without what orders it.

Property of `before_start`: some thread gets to the access from the kernel's entry with nothing on its way
that could tell it that the other CTA runs. Property of `unpublished`: a store to shared memory, a relaxed
arrival at the cluster barrier and a read of the same bytes from another CTA follow each other on one thread's
paths, and no fence of cluster scope or wider is reachable in between, in any thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ...cfg import Pointer, Uniformity
from ...ir import Address, Instruction
from ...isa.modifier import Mod
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from .divergence import controlling
from .paths import Paths, Query

if TYPE_CHECKING:
    from ...view import KernelView

_WINDOW = "cluster:"
_OWN = "cluster:%cluster_ctarank"
_TELLING = frozenset({Trait.WAIT, Trait.ATOMIC, Trait.CALL, Trait.ANYTHING})
_ACCESSING = frozenset({Trait.LOAD, Trait.STORE, Trait.ATOMIC, Trait.MBARRIER, Trait.ASYNC})
_ELSEWHERE = frozenset({".global", ".local", ".const", ".param", ".param::entry", ".param::func"})
_STRONG = (Mod.RELAXED, Mod.ACQUIRE, Mod.VOLATILE, Mod.MMIO)
_WIDE = (Mod.CLUSTER, Mod.GPU, Mod.SYS, Mod.GL)


@dataclass(frozen=True, slots=True)
class Unpublished:
    """A relaxed arrival that is to publish a store."""

    arrival: int
    store: int
    load: int


@dataclass(frozen=True)
class ClusterMemory:
    """Accesses of one kernel to shared memory of other CTAs."""

    view: KernelView

    @cached_property
    def remote(self) -> tuple[tuple[int, Pointer], ...]:
        """Points that access an address that `mapa` made for another CTA, with that address."""
        if not any(i.operation.op is Op.MAPA for i in self.view.cfg.instructions):
            return ()
        return tuple(
            (point, pointer)
            for point, instruction in enumerate(self.view.cfg.instructions)
            if (pointer := self._mapped(point, instruction)) is not None
        )

    def _mapped(self, point: int, instruction: Instruction) -> Pointer | None:
        operation = instruction.operation
        if not operation.traits & _ACCESSING or operation.slots.get("space") in _ELSEWHERE:
            return None
        for operand in instruction.operands:
            if isinstance(operand, Address) and operand.base is not None:
                pointer = self.view.facts.address(point, operand)
                window = "" if pointer is None or pointer.base is None else pointer.base.window
                if window.startswith(_WINDOW) and window != _OWN:
                    return pointer
        return None

    def before_start(self) -> Iterator[int]:
        """Yield the accesses to a CTA that may not run yet."""
        size = self.view.launch.cluster_size
        if size is None or size < 2 or not self.view.function.is_entry:
            return
        for point, _ in self.remote:
            if self.view.facts.never_runs(point) or not self._for_any_rank(point):
                continue
            query = Query(None, frozenset({point}), self._telling)
            if self.view.get(Paths.of).find(query) is not None:
                yield point

    @cached_property
    def _telling(self) -> frozenset[int]:
        return frozenset(p for p, i in enumerate(self.view.cfg.instructions) if _tells(i))

    def _for_any_rank(self, point: int) -> bool:
        """Tell whether all branches over a point are the same for all CTAs, or go by the thread index."""
        cfg, facts = self.view.cfg, self.view.facts
        lasts = [cfg.blocks[branch].last for branch, _ in controlling(cfg, cfg.graph.block_of[point])]
        for at in (*lasts, point):
            guard = cfg.instructions[at].guard
            if guard is None or facts.uniform(at, guard.register) <= Uniformity.CLUSTER:
                continue
            if facts.threads_where(at, guard.register) is None:
                return False
        return True

    # ---- relaxed arrivals

    def unpublished(self) -> Iterator[Unpublished]:
        """Yield each relaxed arrival that a store and a remote load of the same bytes rely on."""
        cfg = self.view.cfg
        relaxed = [p for p, i in enumerate(cfg.instructions) if _is_relaxed_arrival(i)]
        loads = [(p, pointer) for p, pointer in self.remote if cfg.instructions[p].operation.op is Op.LD]
        if not relaxed or not loads:
            return
        stores = [p for p, i in enumerate(cfg.instructions) if i.operation.op is Op.ST]
        waits = frozenset(
            p for p, i in enumerate(cfg.instructions) if i.operation.op is Op.BARRIER_CLUSTER_WAIT
        )
        for arrival in relaxed:
            for load, pointer in loads:
                store = next((s for s in stores if self._relies(s, arrival, waits, load, pointer)), None)
                if store is not None:
                    yield Unpublished(arrival, store, load)
                    break

    def _relies(self, store: int, arrival: int, waits: frozenset[int], load: int, pointer: Pointer) -> bool:
        cfg = self.view.cfg
        target = self.view.facts.address(store, cfg.instructions[store].get("a"))
        if target is None or not _same_bytes(target, pointer) or not cfg.reaches(store, arrival):
            return False
        if any(cfg.reaches(store, fence) and cfg.reaches(fence, arrival) for fence in self._publishing):
            return False
        to_arrival = Query(frozenset({store}), frozenset({arrival}), self._publishing)
        after = [w for w in waits if cfg.reaches(arrival, w) and cfg.reaches(w, load)]
        onward = Query(frozenset({arrival}), frozenset({load}), self._publishing)
        return bool(after) and all(
            self.view.get(Paths.of).find(query) is not None for query in (to_arrival, onward)
        )

    @cached_property
    def _publishing(self) -> frozenset[int]:
        """Fences and steps of cluster scope or wider, and whatever may hide one."""
        return frozenset(p for p, i in enumerate(self.view.cfg.instructions) if _publishes(i))


def _is_relaxed_arrival(instruction: Instruction) -> bool:
    operation = instruction.operation
    return operation.op is Op.BARRIER_CLUSTER_ARRIVE and operation.has(Mod.RELAXED)


def _same_bytes(a: Pointer, b: Pointer) -> bool:
    if a.symbol is None or a.symbol != b.symbol or not (a.is_variable and b.is_variable):
        return False
    if a.offset.signed is not None or b.offset.signed is not None:
        return a.offset.signed == b.offset.signed
    return a.offset.linear is not None and a.offset.linear == b.offset.linear


def _tells(instruction: Instruction) -> bool:
    """Tell whether an instruction may tell its thread that another CTA has started or arrived."""
    operation = instruction.operation
    if operation.traits & _TELLING:
        return True
    return Trait.LOAD in operation.traits and any(operation.has(word) for word in _STRONG)


def _publishes(instruction: Instruction) -> bool:
    operation = instruction.operation
    if operation.traits & frozenset({Trait.CALL, Trait.ANYTHING, Trait.ATOMIC}):
        return True
    if operation.op is Op.BARRIER_CLUSTER_ARRIVE:
        return not operation.has(Mod.RELAXED)
    ordered = Trait.FENCE in operation.traits or Trait.MBARRIER in operation.traits
    ordered = ordered or any(operation.has(word) for word in (Mod.RELEASE, Mod.ACQ_REL, Mod.SC))
    return ordered and any(operation.has(scope) for scope in _WIDE)


__all__ = ["ClusterMemory", "Unpublished"]
