"""From recorded events to strands of actions: which threads act together, and what each event means.

The meaning of an instruction is in the file of its mechanism; this module only finds the strands and hands each
event to the right one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ...cfg.cfg import Cfg
from ...isa.modifier import Mod
from ...opcodes.op import Op
from ...opcodes.spec import Operation
from ..symex.values.approximated_terms import numbers_wanted
from ..symex.values.register_file import lanes_of
from ..symex.values.substitution import at_thread
from ..symex.values.symbol import LANE, Form, Value
from ..symex.values.trace import (
    OFFSET_MASK,
    RANK_SHIFT,
    SHARED_WINDOW,
    Event,
    NotFollowedError,
    OutOfTimeError,
    Shape,
    ThreadSet,
    Trace,
)
from ..symex.values.trace import Access as MemoryAccess
from .actions import (
    OPEN_END,
    Access,
    Action,
    Barrier,
    Protocol,
    Span,
    Strand,
    Transfer,
)
from .lowering_cache import Lowered
from .partings import partings_of, threads_apart
from .tensor_address import Allocation, allocations_of
from .tensor_loads import LoadUses
from .unobserved_arrivals import without_unheard_arrivals

_WARP = 32
_WARP_MASK = (1 << _WARP) - 1


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One event as a strand sees it."""

    event: Event
    operation: Operation
    rank: int
    shape: Shape
    threads: ThreadSet
    origins: Mapping[int, Allocation] = field(default_factory=dict)
    """See `tensor_address.allocations_of`."""

    @property
    def point(self) -> int:
        return self.event.point

    @property
    def count(self) -> int:
        """Number of threads of the strand."""
        return self.threads.bit_count()

    def has(self, name: str) -> bool:
        return name in self.event.operands

    def values(self, name: str) -> Mapping[int, int]:
        """Return each number that an operand has in the strand, with how many threads have it.

        Raises NotFollowedError when it is a symbol.
        """
        value = self.event.operands[name]
        if isinstance(value, Form):
            text = f"operand '{name}' of '{self.operation.text}' is {value}"
            raise NotFollowedError(text, self.point, options=numbers_wanted(value.terms))
        if isinstance(value, int):
            return {value: self.count}
        held, counts = np.unique(value[lanes_of(self.threads, self.shape.threads)], return_counts=True)
        return dict(zip(held.tolist(), counts.tolist(), strict=True))

    def first(self, name: str) -> int | Form:
        """Return what an operand is in the lowest thread of the strand."""
        value = self.event.operands[name]
        thread = (self.threads & -self.threads).bit_length() - 1
        if isinstance(value, Form):
            value = at_thread(value, thread, self.shape.threads)
        return value if isinstance(value, int | Form) else int(value[thread])

    def is_alike(self, name: str) -> bool:
        """Tell whether all threads of the strand give an operand the same, as far as is known."""
        value = self.event.operands[name]
        if isinstance(value, int) or (isinstance(value, Form) and not value.differs & LANE):
            return True
        lanes = lanes_of(self.threads, self.shape.threads)
        if not isinstance(value, Form):
            return len(np.unique(value[lanes])) <= 1
        return (
            len({at_thread(value, thread, self.shape.threads) for thread in np.flatnonzero(lanes).tolist()})
            <= 1
        )

    def number(self, name: str) -> int:
        """Return the one number that an operand has in the strand. Raises NotFollowedError."""
        values = self.values(name)
        if len(values) != 1:
            raise NotFollowedError(
                f"operand '{name}' of '{self.operation.text}' differs between lanes", self.point
            )
        return next(iter(values))

    def rows(self, *names: str) -> Iterator[tuple[tuple[int, ...], int]]:
        """Yield each combination of numbers that operands have in a thread, with how many threads have it.

        Raises NotFollowedError when one is a symbol.
        """
        columns = []
        for name in names:
            value = self.event.operands[name]
            if isinstance(value, Form):
                self.values(name)
            columns.append(self._per_thread(value))
        counted: dict[tuple[int, ...], int] = {}
        for row in zip(*columns, strict=True):
            counted[row] = counted.get(row, 0) + 1
        yield from counted.items()

    def _per_thread(self, value: Value) -> list[int]:
        assert not isinstance(value, Form)
        if isinstance(value, int):
            return [value] * self.count
        return [int(each) for each in value[lanes_of(self.threads, self.shape.threads)].tolist()]

    def addressing(self, lanes: int) -> npt.NDArray[np.bool_]:
        """Return the threads among the first `lanes` lanes of each warp, as one boolean for each thread."""
        chosen = lanes_of(self.threads, self.shape.threads)
        return chosen & (np.arange(self.shape.threads) % _WARP < lanes)

    def span_at(self, address: int, size: int, *, exact: bool = True) -> Span:
        """Return the bytes at a shared or generic address."""
        barrier = self.barrier_at(address)
        return Span(barrier.cta, barrier.offset, size, exact)

    def spans(self, name: str, size: int) -> tuple[Span, ...]:
        """Return the bytes at an address operand, for all threads together; a place not known when it is a symbol."""
        value = self.event.operands[name]
        if isinstance(value, Form):
            return (Span(self.rank, -1, size, exact=False),)
        return tuple(merged(self.span_at(address, size) for address in set(self._per_thread(value))))

    def ranks(self, mask: int) -> Iterator[int]:
        """Yield the CTAs of the cluster that a mask names. Raises NotFollowedError."""
        for rank in range(mask.bit_length()):
            if mask >> rank & 1:
                if rank >= self.shape.ctas:
                    raise NotFollowedError(
                        f"mask names CTA {rank} of a cluster of {self.shape.ctas}", self.point, ctas=rank + 1
                    )
                yield rank

    @property
    def warp(self) -> int:
        """Return the warp of the strand."""
        return ((self.threads & -self.threads).bit_length() - 1) // _WARP

    @property
    def leads(self) -> bool:
        """Tell whether the strand has the lowest thread of its warp among those that came together."""
        first = (self.threads & -self.threads).bit_length() - 1
        start = first // _WARP * _WARP
        together = self.event.threads >> start & _WARP_MASK
        return together & -together == 1 << first - start

    def amount(self, name: str) -> int | Form:
        """Return a number or symbol of bytes. Raises NotFollowedError when it differs between lanes."""
        value = self.event.operands[name]
        return value if isinstance(value, Form) else self.number(name)

    def barriers(self, name: str) -> Iterator[tuple[Barrier, int]]:
        """Yield each mbarrier that an address operand names, with the number of threads that name it.

        In the window of the CTA itself the address of another CTA's mbarrier is that of none.
        """
        is_own = name == "addr" and (self.operation.has(Mod.SHARED_CTA) or self.operation.has(Mod.SHARED))
        for address, threads in self.values(name).items():
            barrier = self.barrier_at(address)
            if is_own and barrier.cta != self.rank:
                barrier = Barrier(self.rank, address & ~SHARED_WINDOW)
            yield barrier, threads

    def barrier_at(self, address: int) -> Barrier:
        """Return the mbarrier at a shared or generic address."""
        address &= ~SHARED_WINDOW
        rank = address >> RANK_SHIFT
        if rank >= self.shape.ctas:
            raise NotFollowedError(
                f"address {address:#x} is in CTA {rank} of a cluster of {self.shape.ctas}",
                self.point,
                ctas=rank + 1,
            )
        return Barrier(rank, address & OFFSET_MASK)


StoredNumbers: TypeAlias = "tuple[npt.NDArray[np.uint64], bool]"
"""The number that each thread stores, or one for all, and whether it is relative to a number that all of them have."""
Stored = Callable[[int], "StoredNumbers | None"]
"""Returns what threads store at a point, None where it is not known."""


def _nothing_known(_: int) -> None:
    """Know of no number that is stored."""


Lower = Callable[[Occurrence], Iterator[Action]]


def nothing(_: Occurrence) -> Iterator[Action]:
    """Mean nothing to barriers, groups and shared memory."""
    yield from ()


def merged(spans: Iterable[Span]) -> Iterator[Span]:
    """Yield exact spans with those that touch or overlap joined, in order."""
    joined: Span | None = None
    for span in sorted(spans, key=attrgetter("cta", "start")):
        if joined is not None and span.cta == joined.cta and span.start <= joined.end:
            joined = Span(joined.cta, joined.start, max(joined.end, span.end) - joined.start)
            continue
        if joined is not None:
            yield joined
        joined = span
    if joined is not None:
        yield joined


def _runs(places: Sequence[int], size: int) -> Iterator[tuple[int, int]]:
    """Yield start and end of the bytes at sorted addresses, with those that touch or overlap joined."""
    start = end = -1
    for place in places:
        if place > end:
            if end >= 0:
                yield start, end
            start = place
        end = place + size
    if end >= 0:
        yield start, end


def build_protocol(
    cfg: Cfg,
    traces: Sequence[Trace],
    meanings: Mapping[Op, Lower],
    loads: LoadUses,
    registers: int | None = None,
    lowered: Lowered | None = None,
    stored: Stored = _nothing_known,
    *,
    is_late: Callable[[], bool] = lambda: False,
) -> Protocol:
    """Return the protocol of the CTAs of a cluster; `registers` of a thread at the start, when known.

    `lowered` and `stored` serve all runs of a kernel. Raises NotFollowedError.
    """
    known = Lowered() if lowered is None else lowered
    strands: list[Strand] = []
    for trace in traces:
        for strand in _strands(cfg, trace, meanings, loads, known, stored):
            if is_late():
                raise OutOfTimeError
            strands.append(strand)
    threads = sum(trace.shape.threads for trace in traces)
    return Protocol(without_unheard_arrivals(cfg, strands), threads, registers, partings_of(traces))


def _strands(
    cfg: Cfg, trace: Trace, meanings: Mapping[Op, Lower], loads: LoadUses, lowered: Lowered, stored: Stored
) -> Iterator[Strand]:
    recorded = _Events(cfg, trace, meanings, allocations_of(cfg, trace), lowered, stored)
    for threads in _classes(cfg, trace, meanings):
        numbered = tuple(loads.settled(recorded.actions(threads)))
        actions = tuple(action for _, action in numbered)
        first = (threads & -threads).bit_length() - 1
        warp = first // _WARP
        lanes = threads >> warp * _WARP & _WARP_MASK
        events = tuple(event for event, _ in numbered)
        yield Strand(trace.rank, warp, lanes, _name(trace, warp, lanes), actions, events)


def _name(trace: Trace, warp: int, lanes: int) -> str:
    cta = f"CTA {trace.rank} " if trace.shape.ctas > 1 else ""
    if lanes == _WARP_MASK:
        return f"{cta}warp {warp}"
    if lanes.bit_count() == 1:
        return f"{cta}warp {warp} lane {lanes.bit_length() - 1}"
    return f"{cta}warp {warp}, {lanes.bit_count()} lanes"


def _classes(cfg: Cfg, trace: Trace, meanings: Mapping[Op, Lower]) -> list[ThreadSet]:
    """Split each warp into threads that take part in the same synchronising events, on the same sides of branches.

    Ordinary accesses do not split: threads of a strand that take no part in one have no bytes in it.
    """
    found: list[ThreadSet] = [
        mask
        for warp in range(0, trace.shape.threads, _WARP)
        if (mask := (_WARP_MASK << warp) & ((1 << trace.shape.threads) - 1))
    ]
    distinct = dict.fromkeys(
        event.threads
        for event in trace.events
        if event.access is None and cfg.instructions[event.point].operation.op in meanings
    )
    distinct.update(dict.fromkeys(threads_apart(trace)))
    for threads in distinct:
        parts: list[ThreadSet] = []
        for mask in found:
            inside = mask & threads
            parts += [p for p in (inside, mask & ~threads) if p] if inside else [mask]
        found = parts
    return found


class _Events:
    """The events of a trace, to be lowered for one set of threads after the other."""

    def __init__(
        self,
        cfg: Cfg,
        trace: Trace,
        meanings: Mapping[Op, Lower],
        origins: Mapping[int, Allocation],
        lowered: Lowered,
        stored: Stored,
    ) -> None:
        self._stored = stored
        self._cfg = cfg
        self._trace = trace
        self._meanings = meanings
        self._origins = origins
        self._lowered = lowered
        self._numbered = [(event, lowered.number(event, trace.rank, origins)) for event in trace.events]

    def actions(self, threads: ThreadSet) -> Iterator[tuple[int, Action]]:
        """Yield the actions of a strand, each with the number of its event."""
        for event, number in self._numbered:
            own = event.threads & threads
            if not own:
                continue
            actions = self._lowered.find(number, own)
            if actions is None:
                actions = tuple(self._lower(event, own))
                self._lowered.keep(number, own, actions)
            for action in actions:
                yield event.index, action

    def _lower(self, event: Event, threads: ThreadSet) -> Iterator[Action]:
        operation = self._cfg.instructions[event.point].operation
        trace = self._trace
        occurrence = Occurrence(event, operation, trace.rank, trace.shape, threads, self._origins)
        if event.access is not None:
            yield from _access(occurrence, self._stored)
            return
        lower = self._meanings.get(operation.op)
        if lower is None:
            raise NotFollowedError(f"'{operation.text}' has no meaning yet", event.point)
        for action in lower(occurrence):
            if operation.op is Op.CP_ASYNC and isinstance(action, Transfer):
                yield _with_sources(occurrence, action, self._stored)
            else:
                yield action


def _with_sources(occurrence: Occurrence, copy: Transfer, stored: Stored) -> Transfer:
    """Return a copy of several threads to the same bytes with where from each of them copies, as far as it is known."""
    event = occurrence.event
    copied, _ = _stored_together(occurrence, event.operands["dst"], stored, is_certain=event.certain)
    return replace(copy, copied=copied) if copied else copy


def _unknown(occurrence: Occurrence, access: MemoryAccess) -> Iterator[Span]:
    """Yield what an access may touch whose address is not known."""
    within = access.within
    if within is None and access.array is not None:
        yield Span(occurrence.rank, access.array, 0, exact=False, reach=OPEN_END - access.array)
        return
    if within is None:
        yield Span(occurrence.rank, -1, access.size, exact=False)
        return
    for rank in range(occurrence.shape.ctas) if within.of_any else (occurrence.rank,):
        yield Span(rank, within.start, 0, exact=False, reach=within.end - within.start)


def _access(occurrence: Occurrence, stored: Stored) -> Iterator[Action]:
    """An ordinary access: the bytes of all threads of the strand that take part."""
    access = occurrence.event.access
    assert access is not None
    spans: tuple[Span, ...]
    if access.address is None or isinstance(access.address, Form):
        spans = tuple(_unknown(occurrence, access))
    else:
        address = access.address
        numbers = (
            [address] if isinstance(address, int) else address[occurrence.addressing(access.lanes)].tolist()
        )
        places = sorted(set(numbers))
        if access.size:
            spans = tuple(occurrence.span_at(start, end - start) for start, end in _runs(places, access.size))
        else:
            spans = tuple(occurrence.span_at(place, 0, exact=False) for place in places)
    if spans:
        reads, writes = (spans if does else () for does in (access.reads, access.writes))
        is_store = access.writes and not access.reads
        numbers, is_relative = (
            _stored_together(occurrence, access.address, stored, is_certain=access.certain)
            if is_store
            else ((), False)
        )
        yield Access(occurrence.point, reads, writes, access.certain, stored=numbers, is_relative=is_relative)


def _stored_together(
    occurrence: Occurrence, address: Value | None, stored: Stored, *, is_certain: bool
) -> tuple[tuple[tuple[int, int], ...], bool]:
    """Return the places that several threads store to, with the numbers that those of the strand store there.

    And whether these are relative to a number that all threads have.
    """
    if isinstance(address, Form | None) or not is_certain:
        return (), False
    threads = occurrence.shape.threads
    places = np.broadcast_to(np.asarray(address, dtype=np.uint64), threads)
    _, where, counts = np.unique(
        places[lanes_of(occurrence.event.threads, threads)], return_inverse=True, return_counts=True
    )
    known = None if counts.max() == 1 else stored(occurrence.point)
    if known is None or 1 < len(known[0]) < threads:
        return (), False
    numbers, is_relative = known
    numbers = np.broadcast_to(numbers, threads) if len(numbers) == 1 else numbers
    shared = np.zeros(threads, dtype=np.bool_)
    shared[lanes_of(occurrence.event.threads, threads)] = counts[where] > 1
    own = shared & lanes_of(occurrence.threads, threads)
    rows = np.unique(np.stack([places[own], numbers[:threads][own]]), axis=1).T
    return tuple((int(place), int(number)) for place, number in rows.tolist()), is_relative
