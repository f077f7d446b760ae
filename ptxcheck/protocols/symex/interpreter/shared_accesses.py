"""Accesses of shared memory in the trace of one CTA.

Property: every access of shared memory that a thread makes in the run is recorded, with an address, with bytes that
it stays inside, or as one that may be anywhere.

Argument: the guard of an access is not decided for its sake: where it is open, and does not follow from the thread
index, the access may happen (`certain` is false). Regions that are not followed record each of their accesses as one
that may happen.

Not covered: indices that leave their variable; they are taken to stay inside (`Layout.within`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ....cfg.special import MAX_CLUSTER
from ....ir import Guard, Instruction
from ..slice.accesses import AccessKind
from ..slice.endless_loops import ENDLESS
from ..slice.regions import Region
from ..values.kinds import Kind
from ..values.register_file import SplitError, set_of
from ..values.substitution import at_thread, failing
from ..values.symbol import (
    Condition,
    Form,
    Value,
)
from ..values.trace import (
    OFFSET_MASK,
    RANK_SHIFT,
    Access,
    Bytes,
    NotFollowedError,
    ThreadSet,
)
from ..values.value_ranges import interval_of
from .cta import Cta
from .generic_addresses import check_generic, check_offset, is_inside

_WARP = 32
_MOST_OF_A_THREAD = 16
"""Bytes of an access; what clears more is judged by what it meets."""


class AccessRecorder:
    """Records the accesses of one CTA, with what is known of their places."""

    def __init__(self, cta: Cta) -> None:
        self._cta = cta
        self._program = cta.program
        self._shape = cta.shape
        self._decider = cta.decider

    def record(self, point: int, instruction: Instruction, threads: ThreadSet) -> None:
        """Record an access of shared memory; its predicate is not decided for its sake."""
        guard, certain = threads, not self._decider.speculative
        if instruction.guard is not None:
            guard = 0
            for held, truth in self._cta.operands.truths(instruction.guard, threads):
                known = self._decider.known(truth, held)
                known = self._by_index(point, instruction.guard, held) if known is None else known
                certain = certain and known is not None
                guard |= held & ~failing(truth, self._cta.threads) if known is None else known
        if not guard:
            return
        kind = self._program.accesses[point]
        self._cta.log.begin_access()
        self._add_accesses(point, kind, guard, threads, certain=certain)

    def _by_index(self, point: int, guard: Guard, threads: ThreadSet) -> ThreadSet | None:
        """Return the threads for which a predicate holds that follows from their index, None where it does not."""
        held = self._program.facts.threads_where(point, guard.register, not guard.negated)
        return None if held is None or held.size < self._cta.threads else held.bits & threads

    def _add_accesses(
        self, point: int, kind: AccessKind, guard: ThreadSet, threads: ThreadSet, *, certain: bool
    ) -> None:
        try:
            addresses = [(guard, self._cta.operands.value(kind.operand, guard))]
        except SplitError as split:
            addresses = [(part, self._cta.operands.value(kind.operand, part)) for part in split.parts]
        for held, address in addresses:
            self._cta.operands.note_use(address)
            if certain:
                self._cta.note_unwritten(address, point)
            placed = self._decider.placed(address) if kind.space else self._decider.reduced(address)
            access = kind.at(placed, self._cta.threads)
            if access is None and certain and self._is_into_shared(point):
                check_generic(kind.operand, placed, held, self._cta.threads, point)
            if certain and kind.space:
                check_offset(kind.operand, address, held, self._cta.threads, point)
            if access is not None:
                if certain and kind.space and isinstance(placed, Form):
                    self._check_cluster(point, placed, held)
                if access.address is not None:
                    count, size = self._cta.threads, min(access.size, _MOST_OF_A_THREAD)
                    giving = held & set_of(np.arange(count) % _WARP < access.lanes)
                    if not is_inside(self._cta.layout, access.address, size, giving, count, certain=certain):
                        self._add_access(point, held, threads, replace(access, address=None, certain=certain))
                        continue
                access = self._bounded(point, replace(access, certain=certain))
                access = access if not kind.space else self._bounded_by_masks(placed, held, access)
                self._add_access(point, held, threads, access)

    def _is_into_shared(self, point: int) -> bool:
        """Tell whether the text computes the address of an access from a shared variable."""
        pointer = self._program.pointer(point)
        base = None if pointer is None else pointer.base
        return base is not None and (base.name, base.scope) in self._cta.layout.shared

    def record_skipped(self, region: Region, threads: ThreadSet) -> None:
        """Record the accesses of a region that is not followed, each as one that may happen.

        Raises NotFollowedError where threads may stay in it for ever: they do not come to what is behind it.
        """
        for loop in self._program.endless:
            if loop.header in region.blocks:
                raise NotFollowedError(ENDLESS, self._program.cfg.blocks[loop.latches[0]].last)
        for point, kind in self.accesses_of(region):
            if kind.operand.base in region.written:
                access = Access(kind.reads, kind.writes, None, kind.size, kind.lanes, certain=False)
                self._add_access(point, threads, threads, self._bounded(point, access))
            else:
                self._add_accesses(point, kind, threads, threads, certain=False)

    def accesses_of(self, region: Region) -> Iterator[tuple[int, AccessKind]]:
        for block in sorted(region.blocks):
            for point in self._program.regions.steps[block]:
                kind = self._program.accesses.get(point)
                if kind is not None:
                    yield point, kind

    def _bounded_by_masks(self, place: Value, threads: ThreadSet, access: Access) -> Access:
        """Return an access with the bytes that masks leave of a place which is not known, if that are fewer."""
        ends = interval_of(place, threads, self._cta.threads) if isinstance(place, Form) else None
        if ends is None or access.address is not None or not access.size:
            return access
        start, end = ends[0] & OFFSET_MASK, (ends[1] & OFFSET_MASK) + access.size
        if {each >> RANK_SHIFT for each in ends} != {self._cta.rank} or (
            access.within is not None and access.within.end - access.within.start <= end - start
        ):
            return access
        return replace(access, within=Bytes(start, end, of_any=False))

    def _bounded(self, point: int, access: Access) -> Access:
        """Return an access with the bytes that it stays inside, or where its array starts, if it has no address."""
        if access.address is not None:
            return access
        pointer = self._program.pointer(point)
        within = None if pointer is None else self._cta.layout.within(pointer, access.size)
        if within is not None:
            return replace(access, within=within)
        return replace(access, array=self._cta.layout.open_array(self._program.array_start(point)))

    def _check_cluster(self, point: int, address: Form, threads: ThreadSet) -> None:
        """Raise NotFollowedError when a symbol, in the first thread, is in a CTA that the cluster does not have."""
        first = (threads & -threads).bit_length() - 1
        number = _number_at(address, first)
        if number is not None and number < self._shape.ctas << RANK_SHIFT:
            return
        place = at_thread(address, first, self._cta.threads)
        if not isinstance(place, Form) or place.constant < self._shape.ctas << RANK_SHIFT:
            return
        rank = self._shape.ctas
        while (
            rank < MAX_CLUSTER
            and self._cta.decisions.implied(Condition("lt", place, (rank + 1) << RANK_SHIFT)) is False
        ):
            rank += 1
        if self._cta.decisions.implied(Condition("lt", place, rank << RANK_SHIFT)) is False:
            text = f"an address is in CTA {rank} of a cluster of {self._shape.ctas}"
            raise NotFollowedError(text, point, ctas=rank + 1)

    def _add_access(self, point: int, guard: ThreadSet, threads: ThreadSet, access: Access) -> None:
        self._cta.log.append(point, guard, {}, threads, access)


def _number_at(address: Form, thread: int) -> int | None:
    """Return what of an address is a number in one thread, None when operations in it may be numbers in part."""
    place = address.constant
    for name, factor in address.terms:
        if name.inner_kind is Kind.LANES:
            held = np.frombuffer(name.inner[1], dtype=np.uint64)  # type: ignore[call-overload]
            place += factor * int(held[thread])
        elif name.differs or name.inner_kind is Kind.SUM:
            return None
    return place
