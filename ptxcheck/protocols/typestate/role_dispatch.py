"""Roles that a kernel hands to its warps by numbers in shared memory, as Triton's warp specialisation does.

A worker warp loads a byte that is stored for it and jumps through a table. Property: `warps(point)` are all warps that
come to a point, if each finds there what an ordinary store of the kernel puts there, and nothing else writes there.

Not followed: numbers that are computed, places that differ inside a warp.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from ...cfg import (
    AtomKind,
    Edge,
    EdgeKind,
    Linear,
    ThreadSet,
)
from ...cfg.optypes import typing_of
from ...ir import Instruction, Operand, Vector
from ...opcodes.op import Op
from .must_alias import ThreadOffsets
from .places import Place, Places
from .shared_access import find_shared_accesses

if TYPE_CHECKING:
    from ...view import KernelView

_WARP = 32
_BYTE = 8

_Roles = Mapping[int, frozenset[int]]
"""The numbers that may be stored for each warp."""


class HandedRoles:
    """Tables of roles of one kernel."""

    def __init__(self, view: KernelView) -> None:
        self._view = view

    def warps(self, point: int) -> tuple[int, ...] | None:
        """Return the warps that may come to a point, None where no role is handed out by a table."""
        threads = self._view.facts.execution(point).threads
        if threads is None or not self._tables:
            return None
        return tuple(warp for warp in threads.warps if self._comes(warp, point))

    def _comes(self, warp: int, point: int) -> bool:
        cfg = self._view.cfg
        goal = cfg.graph.block_of[point]
        work, seen = [0], {0}
        while work:
            block = work.pop()
            if block == goal:
                return True
            for edge in cfg.edges_from(block):
                if edge.target != cfg.exit and edge.target not in seen and self._takes(warp, edge):
                    seen.add(edge.target)
                    work.append(edge.target)
        return False

    def _takes(self, warp: int, edge: Edge) -> bool:
        """Tell whether some thread of a warp may take an edge."""
        if edge.kind is EdgeKind.INDIRECT:
            roles = self._tables.get(edge.source)
            return roles is None or warp not in roles or not roles[warp].isdisjoint(edge.cases)
        if edge.guard is None:
            return True
        facts = self._view.facts
        last = self._view.cfg.blocks[edge.source].last
        holding = facts.holding(facts.name(last, edge.guard.register), not edge.guard.negated)
        return holding is None or bool((holding & _threads_of(warp, holding.size)).bits)

    # ---- tables

    @cached_property
    def _tables(self) -> Mapping[int, _Roles]:
        """The roles behind each jump, by its block."""
        found: dict[int, _Roles] = {}
        for block in self._view.cfg.blocks:
            kinds = {edge.kind for edge in self._view.cfg.edges_from(block.index)}
            roles = self._roles(block.last) if EdgeKind.INDIRECT in kinds else None
            if roles is not None:
                found[block.index] = roles
        return found

    def _roles(self, jump: int) -> _Roles | None:
        """Return what may be stored for each warp that comes to a jump, None where some warp's number is not known."""
        facts, instructions = self._view.facts, self._view.body.instructions
        index = next((each for each in instructions[jump].reads()), None)
        site = -1 if index is None else facts.name(jump, index).site
        if site < 0 or instructions[site].operation.op is not Op.LD or instructions[site].guard is not None:
            return None
        place = self._view.get(Places).of(site, instructions[site].get("a"), ".shared")
        offsets = self._offsets(site)
        threads = facts.execution(site).threads
        if place is None or offsets is None or threads is None:
            return None
        size = typing_of(instructions[site].operation).width // _BYTE
        roles = {warp: self._stored(place, offsets[warp], size) for warp in threads.warps if warp in offsets}
        known = {warp: numbers for warp, numbers in roles.items() if numbers}
        return known if len(known) == len(threads.warps) else None

    def _offsets(self, load: int) -> Mapping[int, int] | None:
        """Return where each warp reads, in bytes from the start of the variable."""
        form = self._view.facts.value(load, self._view.body.instructions[load].get("a")).linear
        if form is None:
            return None
        rest = Linear(tuple(t for t in form.terms if t[0].kind is not AtomKind.ADDRESS), form.constant)
        own = self._view.get(ThreadOffsets).of_form(rest)
        if own is None:
            return None
        warps = {number // _WARP: set[int]() for number in range(len(own))}
        for number, offset in enumerate(own):
            warps[number // _WARP].add(int(offset))
        return {warp: offsets.pop() for warp, offsets in warps.items() if len(offsets) == 1}

    def _stored(self, place: Place, offset: int, size: int) -> frozenset[int] | None:
        """Return the numbers that stores of constants put into some bytes, None where another store writes there."""
        found: set[int] = set()
        for access in self._view.get(find_shared_accesses):
            target, instruction = access.place, self._view.body.instructions[access.point]
            if instruction.operation.op is not Op.ST or target is None or target.symbol != place.symbol:
                continue
            if target.at is None or not target.at - size < offset < target.at + access.size:
                continue
            number = self._bytes(access.point, instruction, offset - target.at, size)
            if number is None:
                return None
            found.add(number)
        return frozenset(found)

    def _bytes(self, point: int, store: Instruction, first: int, size: int) -> int | None:
        """Return some bytes of what a store writes, None when they are not known or not all of them its own."""
        width = typing_of(store.operation).width // _BYTE
        word = length = 0
        for element in _elements(store.operands[-1]):
            number = self._view.facts.constant(point, element)
            if number is None:
                return None
            word |= (number & (1 << width * _BYTE) - 1) << length * _BYTE
            length += width
        inside = first >= 0 and first + size <= length
        return word >> first * _BYTE & (1 << size * _BYTE) - 1 if inside else None


def _elements(operand: Operand) -> Iterator[Operand]:
    if isinstance(operand, Vector):
        yield from operand.elements
    else:
        yield operand


def _threads_of(warp: int, size: int) -> ThreadSet:
    return ThreadSet(((1 << _WARP) - 1 << warp * _WARP) & (1 << size) - 1, size)


__all__ = ["HandedRoles"]
