"""How many bytes copies out of shared memory read at least, where nothing says what the box of their tensor map is.

Threads fill the place that a copy starts at, and copy it out behind that. What they store from there on is for this
copy, as far as nothing behind it reads it, too: else it would be stored for nobody. That is so where the copy is made
whenever its bytes are stored, by threads that their numbers choose: where sizes of the host decide about copies,
another one may read the rest in another run. What a run does not come to reads where its text says, or nothing is
known.

More than these bytes may be read, so nothing is shown to be right by them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ....cfg import Facts
from ....cfg.addresses import Pointer
from ....cfg.cfg import Cfg
from ....cfg.definitions import Name
from ....ir import Address
from ....opcodes.op import Op
from ....opcodes.spec import Trait
from ...model.actions import (
    OBJECT_BYTES,
    OPEN_END,
    Access,
    Action,
    Init,
    Protocol,
    Span,
    Strand,
    Transfer,
)
from ...model.bulk_copy import LEAST_BYTES
from ...symex.slice.layout import Layout
from ...symex.slice.sliced_program import Program

_COPIES = frozenset({Op.CP_ASYNC_BULK_TENSOR, Op.CP_REDUCE_ASYNC_BULK_TENSOR})
_OTHER_COPIES = frozenset({Op.CP_ASYNC_BULK, Op.CP_REDUCE_ASYNC_BULK})
_COMPUTING = frozenset({Trait.PURE, Trait.CROSS_LANE, Trait.COLLECTIVE})
_Bytes: TypeAlias = tuple[int, int]
"""The first byte and the one behind the last, as offsets in shared memory."""
_Touched: TypeAlias = tuple[Span, bool]
"""Bytes, and whether a copy reads or fills them."""


@dataclass(frozen=True)
class StoredBoxes:
    """What the stores of one kernel tell of its copies out of shared memory."""

    program: Program
    layout: Layout

    def told(self, protocol: Protocol) -> Protocol:
        """Return the protocol of a run with copies that read all that is stored for them."""
        if not self._stores:
            return protocol
        touching = list(_touching(protocol))
        copies = [each for each in touching if isinstance(each, Transfer) and _is_open(each, self._stores)]
        came_to = {action.point for strand in protocol.strands for action in strand.actions}
        elsewhere = [found for point, found in self._readers.items() if point not in came_to]
        if not copies or None in elsewhere or any(s.start < 0 for each in touching for s in each.reads):
            return protocol
        left = [each for each in elsewhere if each is not None]
        known: dict[int, Transfer] = {}
        sizes: dict[tuple[int, Span], int] = {}
        counting = _barriers(protocol)
        stored: dict[frozenset[int], Mapping[int, Sequence[_Bytes]]] = {}
        wanted: dict[frozenset[int], Mapping[int, _Wanted]] = {}
        for copy in copies:
            (span,) = copy.reads
            key = copy.point, span
            points = self._stores[copy.point]
            if points not in stored:
                stored[points] = _stored(touching, points)
                wanted[points] = _by_cta(_behind(self.program.cfg, protocol, points))
            if key not in sizes:
                around = wanted[points].get(span.cta)
                limit = OPEN_END if around is None else around.limit(span)
                others = (*counting.get(span.cta, ()), *left)
                sizes[key] = _filled(span, stored[points].get(span.cta, ()), limit, others)
            if sizes[key] > span.size:
                told = Span(span.cta, span.start, sizes[key], exact=False)
                known[id(copy)] = replace(copy, reads=(told,), told_by_stores=True)
        if not known:
            return protocol
        return replace(protocol, strands=tuple(_with(strand, known) for strand in protocol.strands))

    @cached_property
    def _stores(self) -> Mapping[int, frozenset[int]]:
        if not self.program.accesses:
            return {}
        return dict(stores_before_copies(self.program.cfg, self.program.facts))

    @cached_property
    def _readers(self) -> Mapping[int, _Bytes | None]:
        """What may read shared memory, matrix operands left out: where, None when that is not known."""
        found: dict[int, _Bytes | None] = {}
        for point, instruction in enumerate(self.program.cfg.instructions):
            kind = self.program.accesses.get(point)
            if kind is not None and kind.reads:
                found[point] = self._bytes(self.program.pointer(point), kind.size)
            elif instruction.operation.op in _COPIES | _OTHER_COPIES and self._copies_out(point):
                source = instruction["src"]
                address = source if isinstance(source, Address) else None
                found[point] = self._bytes(self.program.facts.address(point, address), LEAST_BYTES)
        return {point: where for point, where in found.items() if self.program.cfg.connected(point)}

    def _copies_out(self, point: int) -> bool:
        instruction = self.program.cfg.instructions[point]
        source = instruction.operation.slots.get("src_space", ".shared")
        is_out = source.startswith(".shared") and instruction.get("src") is not None
        return is_out and not (instruction.get("mbar") is not None and instruction.operation.op in _COPIES)

    def _bytes(self, pointer: Pointer | None, size: int) -> _Bytes | None:
        within = None if pointer is None else self.layout.within(pointer, size)
        return None if within is None else (within.start, within.end)


def stores_before_copies(cfg: Cfg, facts: Facts) -> Iterator[tuple[int, frozenset[int]]]:
    """Yield the points of tensor copies out of shared memory, each with those of the stores in front of it.

    Only of copies that are made whenever threads come to the stores.
    """
    for point, instruction in enumerate(cfg.instructions):
        if instruction.operation.op not in _COPIES or instruction.get("mbar") is not None:
            continue
        guard = instruction.guard
        if not cfg.connected(point) or (
            guard is not None and not _is_by_thread(cfg, facts, facts.name(point, guard.register))
        ):
            continue
        before = (each for points in _ranges_before(cfg, facts, point) for each in points)
        stores = frozenset(each for each in before if Trait.STORE in cfg.instructions[each].operation.traits)
        if stores:
            yield point, stores


def _ranges_before(cfg: Cfg, facts: Facts, point: int) -> Iterator[range]:
    """Yield points from which one thread or another always comes to a point: of its block, and of those in front."""
    block = cfg.graph.block_of[point]
    yield range(cfg.blocks[block].start, point)
    while len(entering := cfg.edges_into(block)) == 1:
        block = entering[0].source
        if len(cfg.graph.outgoing[block]) > 1:
            branch = cfg.blocks[block].last
            guard = cfg.instructions[branch].guard
            if guard is None or not _is_by_thread(cfg, facts, facts.name(branch, guard.register)):
                return
        yield range(cfg.blocks[block].start, cfg.blocks[block].last + 1)


def _is_by_thread(cfg: Cfg, facts: Facts, name: Name) -> bool:
    """Tell whether numbers of threads, and which lane is elected, give a value: nothing of the host does."""
    waiting, seen = [name], {name}
    while waiting:
        each = waiting.pop()
        if facts.by_thread(each) is not None:
            continue
        if each.site < 0:
            return False
        instruction = cfg.instructions[each.site]
        if not instruction.operation.traits <= _COMPUTING:
            return False
        read = set(instruction.reads())
        if instruction.guard is not None:  # without it, the register keeps what it had
            read |= {instruction.guard.register, *instruction.writes()}
        behind = {facts.name(each.site, register) for register in read}
        waiting.extend(behind - seen)
        seen |= behind
    return True


def _touching(protocol: Protocol) -> Iterable[Access | Transfer]:
    """Return what touches memory in a run, each once: the same actions come again and again."""
    actions = (action for strand in protocol.strands for action in strand.actions)
    return {id(each): each for each in actions if isinstance(each, Access | Transfer)}.values()


def _is_open(copy: Transfer, stores: Mapping[int, frozenset[int]]) -> bool:
    """Tell whether a copy reads from one place on, as many bytes as nobody knows."""
    if copy.point not in stores or len(copy.reads) != 1:
        return False
    (span,) = copy.reads
    return span.start >= 0 and not span.exact and not span.reach


def _stored(touching: Iterable[Access | Transfer], points: frozenset[int]) -> Mapping[int, Sequence[_Bytes]]:
    """Return what threads certainly store at some points, as runs of bytes in order, by CTA."""
    stores = (each for each in touching if isinstance(each, Access) and each.certain and each.point in points)
    spans = {span for each in stores for span in each.writes if span.exact and span.start >= 0}
    found: dict[int, list[_Bytes]] = {}
    for cta, start, end in sorted((span.cta, span.start, span.end) for span in spans):
        together = found.setdefault(cta, [])
        if together and start <= together[-1][1]:
            together[-1] = together[-1][0], max(end, together[-1][1])
        else:
            together.append((start, end))
    return found


def _behind(cfg: Cfg, protocol: Protocol, stores: frozenset[int]) -> Iterable[Access | Transfer]:
    """Return what touches memory behind the first store at some points, in the order of its strand, each once.

    What a strand has read before was not stored there, but where a further round leads from the stores to it.
    """
    again = {
        action.point
        for action in _touching(protocol)
        if any(cfg.reaches(store, action.point) for store in stores)
    }
    found: dict[int, Access | Transfer] = {}
    for strand in protocol.strands:
        known = (i for i, a in enumerate(strand.actions) if isinstance(a, Access) and a.point in stores)
        first = next(known, 0)
        for index, action in enumerate(strand.actions):
            if isinstance(action, Access | Transfer) and (index >= first or action.point in again):
                found[id(action)] = action
    return found.values()


@dataclass(frozen=True, eq=False)
class _Wanted:
    """The bytes that are read, or filled by copies, in one CTA."""

    copies: Mapping[Span, int]
    """Which of them copies read or fill."""
    first: npt.NDArray[np.int64]
    behind: npt.NDArray[np.int64]

    def limit(self, copy: Span) -> int:
        """Return where the bytes begin, behind the start of a copy, that others want than copies from there."""
        meets = self.behind > copy.start
        if copy in self.copies:
            meets[self.copies[copy]] = False
        return int(np.maximum(self.first[meets], copy.start).min(initial=OPEN_END))


def _by_cta(touching: Iterable[Access | Transfer]) -> Mapping[int, _Wanted]:
    """Return what is wanted in each CTA."""
    found: dict[int, dict[_Touched, int]] = {}
    for each in touching:
        is_copy = isinstance(each, Transfer)
        for span in (*each.reads, *(each.writes if is_copy else ())):
            known = found.setdefault(span.cta, {})
            known.setdefault((span, is_copy), len(known))
    return {cta: _wanted(touched) for cta, touched in found.items()}


def _wanted(touched: Mapping[_Touched, int]) -> _Wanted:
    spans = [span for span, _ in touched]
    first = np.array([span.start for span in spans], np.int64)
    lengths = np.array([max(span.size, span.reach, 1) for span in spans], np.int64)
    copies = {span: index for (span, is_copy), index in touched.items() if is_copy}
    return _Wanted(copies, first, first + lengths)


def _barriers(protocol: Protocol) -> Mapping[int, Sequence[_Bytes]]:
    """Return the bytes of each CTA that count."""
    found: dict[int, dict[_Bytes, None]] = {}
    for strand in protocol.strands:
        for action in strand.actions:
            if isinstance(action, Init):
                offset = action.barrier.offset
                found.setdefault(action.barrier.cta, {})[offset, offset + OBJECT_BYTES] = None
    return {cta: tuple(places) for cta, places in found.items()}


def _filled(copy: Span, stored: Sequence[_Bytes], limit: int, others: Iterable[_Bytes]) -> int:
    """Return how many bytes are stored from the start of a copy on, up to what others may want."""
    at = bisect_right(stored, (copy.start, OPEN_END)) - 1
    end = max(stored[at][1], copy.start) if at >= 0 else copy.start
    limits = (max(first, copy.start) for first, behind in others if behind > copy.start)
    return min(end, limit, *limits) - copy.start


def _with(strand: Strand, known: Mapping[int, Transfer]) -> Strand:
    actions: Iterator[Action] = (known.get(id(action), action) for action in strand.actions)
    return replace(strand, actions=tuple(actions))
