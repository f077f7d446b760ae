"""Names of barriers for people: the shared variable and what lies where in it, and the stage of a ring.

A ring is found by its use: the mbarriers that one instruction names in one run, when their offsets go up in equal
steps, are its stages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

from ..ir import Function, Module
from ..protocols.model.actions import (
    Access,
    Action,
    Arrive,
    AsyncArrive,
    Barrier,
    Expect,
    Init,
    Inval,
    Protocol,
    Registers,
    Rendezvous,
    Span,
    SyncObject,
    TensorAccess,
    Transfer,
    Wait,
)
from ..protocols.model.outcome import Location, SharedByte, SharedMemory, TensorColumn
from ..protocols.model.sync_objects import (
    ClusterBarrier,
    CountedBarrier,
    DivergentWarpBarrier,
    HaltPoint,
    LockstepBarrier,
    NamedBarrier,
    RegisterBudget,
    WarpBarrier,
)
from ..protocols.model.tensor_address import ABSOLUTE
from ..protocols.symex.slice.layout import layout_of
from .spoken import spoken

_LOCAL_NAME = re.compile(r"E(\d+)")
"""What separates a local name from its function (Itanium C++ ABI, 5.1.6)."""
_QUALIFIED = re.compile(r"_ZN\d\w*E")
_LENGTH = re.compile(r"\d{1,4}")
Place: TypeAlias = Location | Span | None
"""What a problem is about: a barrier of any kind, or bytes of shared memory."""


@dataclass(frozen=True, slots=True)
class _Ring:
    """Offsets `base`, `base + stride`, … of the same barrier in every stage."""

    base: int
    stride: int
    stages: int

    def stage(self, offset: int) -> int | None:
        stage, rest = divmod(offset - self.base, self.stride)
        return stage if rest == 0 and 0 <= stage < self.stages else None


@dataclass(frozen=True)
class BarrierNames:
    """How to call the barriers of one kernel."""

    variables: tuple[tuple[int, str], ...]
    """Offset and name of each shared variable, by offset."""
    rings: tuple[_Ring, ...]
    arrays: frozenset[int]
    """Offsets of variables that hold several mbarriers and nothing else, as far as initialisations show."""
    ctas: int
    duties: Mapping[int, str] = field(default_factory=dict)
    """What the rings are for whose mbarriers have no variable of their own: `full`, `empty`, by base."""
    say: Callable[[str], str] = str
    """Puts the names that the source has for parameters into a text."""

    def of(self, barrier: Place) -> str:
        """Return the name of any barrier or bytes: `full[1]`, `smem+4096 (stage 1 of 4)`, `barrier 3`."""
        match barrier:
            case None:
                return "a step"
            case Span():
                return self._span(barrier)
            case SharedByte():
                return self._span(Span(barrier.cta, barrier.offset, 0))
            case TensorColumn():
                allocation = f"allocation {barrier.origin} of "
                start = "" if barrier.origin == ABSOLUTE else allocation
                return f"column {barrier.column} of {start}tensor memory{self._owner(barrier.cta)}"
            case SharedMemory():
                return f"shared memory of CTA {barrier.cta}"
            case RegisterBudget():
                return f"the registers of CTA {barrier.cta}"
            case _:
                return self._barrier(barrier)

    def _barrier(self, barrier: Barrier | CountedBarrier) -> str:
        match barrier:
            case Barrier():
                return f"{self._place(barrier.offset)}{self._owner(barrier.cta)}"
            case NamedBarrier():
                return f"barrier {barrier.number}{self._owner(barrier.cta)}"
            case ClusterBarrier():
                return "the cluster barrier"
            case WarpBarrier() | DivergentWarpBarrier() | LockstepBarrier():
                return "the barrier of its warp"
            case HaltPoint():
                return f"stopped {barrier.cta} {barrier.warp} {barrier.lanes}"

    def _owner(self, cta: int) -> str:
        return f" of CTA {cta}" if self.ctas > 1 else ""

    def ring_of(self, barrier: SyncObject) -> str:
        """Return one name for all stages of a ring: `full[0-3]`; the name of any other barrier."""
        if not isinstance(barrier, Barrier):
            return self.of(barrier)
        ring = next((ring for ring in self.rings if ring.stage(barrier.offset) is not None), None)
        if ring is None:
            return self.of(barrier)
        cta = self._owner(barrier.cta)
        start, name = self._variable(ring.base)
        if ring.base == start:
            return f"{name}[0-{ring.stages - 1}]{cta}"
        duty = self.duties.get(ring.base)
        if duty:
            return f"{duty}[0-{ring.stages - 1}] ({_plus(name, ring.base - start)}){cta}"
        return f"{_plus(name, ring.base - start)} ({ring.stages} stages){cta}"

    def _variable(self, offset: int) -> tuple[int, str]:
        return max(((at, name) for at, name in self.variables if at <= offset), default=(0, "shared memory"))

    def _span(self, span: Span) -> str:
        """Return bytes of shared memory: `data+1024, 1024 bytes`."""
        if span.start < 0:
            return "shared memory at an unknown place"
        cta = self._owner(span.cta)
        size = f", {span.size} bytes" if span.size else ""
        return f"{self._plain(span.start)}{cta}{size}"

    def _plain(self, offset: int) -> str:
        start, name = self._variable(offset)
        return _plus(name, offset - start)

    def _place(self, offset: int) -> str:
        start, name = self._variable(offset)
        ring = next((ring for ring in self.rings if ring.stage(offset) is not None), None)
        if ring is None:
            return f"{name}[{(offset - start) // 8}]" if start in self.arrays else _plus(name, offset - start)
        stage = ring.stage(offset)
        if ring.base == start:
            return f"{name}[{stage}]"
        duty = self.duties.get(ring.base)
        if duty:
            return f"{duty}[{stage}] ({_plus(name, offset - start)})"
        return f"{_plus(name, offset - start)} (stage {stage} of {ring.stages})"


def _plus(name: str, shift: int) -> str:
    return f"{name}+{shift}" if shift else name


def barrier_names(function: Function, module: Module, protocol: Protocol) -> BarrierNames:
    """Return names for the barriers of a run."""
    layout = layout_of(function, module)
    variables = sorted((offset, readable(name)) for (name, _), offset in layout.shared.items())
    ctas = len({strand.cta for strand in protocol.strands})
    arrays = frozenset(_arrays([offset for offset, _ in variables], protocol))
    rings = tuple(_rings(protocol))
    return BarrierNames(
        tuple(variables), rings, arrays, ctas, dict(_duties(protocol, rings)), spoken(function)
    )


def readable(name: str) -> str:
    """Return the name that a `__shared__` variable has in C++.

    That of a variable in a function is its own, `_ZZ4loadPKcE3bar` → `bar`; that of one in a namespace is qualified,
    `_ZN7cutlass4smemE` → `cutlass::smem`.
    """
    if _QUALIFIED.fullmatch(name):
        return "::".join(_parts(name[len("_ZN") : -1])) or name
    if name.startswith("_ZZ"):
        for match in _LOCAL_NAME.finditer(name):
            length, rest = int(match[1]), name[match.end() :]
            if re.fullmatch(r"(_\d+)?", rest[length:]) and len(rest) >= length:
                return rest[:length]
    return name


def _parts(text: str) -> list[str]:
    """Return the names of `7cutlass4smem`; none when the lengths do not fit."""
    found: list[str] = []
    while text:
        match = _LENGTH.match(text)
        if match is None or match.end() + int(match[0]) > len(text):
            return []
        found.append(text[match.end() : match.end() + int(match[0])])
        text = text[match.end() + int(match[0]) :]
    return found


def _arrays(starts: Sequence[int], protocol: Protocol) -> Iterator[int]:
    made = {a.barrier.offset for strand in protocol.strands for a in strand.actions if isinstance(a, Init)}
    for start, end in pairwise((*starts, 1 << 30)):
        inside = sorted(offset for offset in made if start <= offset < end)
        if len(inside) > 1 and inside == list(range(start, start + 8 * len(inside), 8)):
            yield start


def mbarriers_of(action: Action) -> Iterator[Barrier]:
    """Yield the mbarriers that an action is about."""
    match action:
        case Init() | Inval() | Arrive() | Expect() | AsyncArrive() | Wait():
            yield action.barrier
        case Transfer():
            yield from (barrier for barrier, _ in action.completes)
        case _:
            return


def barriers_of(action: Action) -> tuple[Barrier | CountedBarrier, ...]:
    """Return all barriers that an action is about."""
    if isinstance(action, Rendezvous):
        return (action.name,)
    return tuple(mbarriers_of(action))


def is_of_warp(action: Action) -> bool:
    """Tell whether an action only concerns lanes of one warp."""
    return isinstance(action, Rendezvous) and isinstance(
        action.name, WarpBarrier | DivergentWarpBarrier | LockstepBarrier
    )


def is_about(action: Action, place: Place) -> bool:
    """Tell whether an action is about a barrier, or touches some of the bytes."""
    match place:
        case Span():
            return _touches(action, place.cta, place.start, place.end)
        case SharedByte():
            return _touches(action, place.cta, place.offset, place.offset + 1)
        case TensorColumn():
            return isinstance(action, TensorAccess) and any(
                (each.cta, each.origin) == (place.cta, place.origin)
                and each.start <= place.column < each.start + each.size
                for each in (*action.reads, *action.writes)
            )
        case SharedMemory():
            return any(isinstance(b, Barrier) and b.cta == place.cta for b in barriers_of(action))
        case RegisterBudget():
            return isinstance(action, Registers)
        case _:
            return place in barriers_of(action)


def _touches(action: Action, cta: int, start: int, end: int) -> bool:
    spans = (*action.reads, *action.writes) if isinstance(action, Access | Transfer) else ()
    return any(span.cta == cta and span.start < end and start < span.end for span in spans)


def _rings(protocol: Protocol) -> Iterator[_Ring]:
    """Yield the rings that single instructions go round in, longest first."""
    offsets: dict[int, set[int]] = {}
    for strand in protocol.strands:
        for action in strand.actions:
            offsets.setdefault(action.point, set()).update(b.offset for b in mbarriers_of(action))
    found = dict.fromkeys(ring for used in offsets.values() if (ring := _ring(sorted(used))) is not None)
    yield from sorted(found, key=lambda ring: (-ring.stages, ring.base))


def _duties(protocol: Protocol, rings: Sequence[_Ring]) -> Iterator[tuple[int, str]]:
    """Yield what rings are for: copies complete on `full`, and who issues them waits for `empty`."""
    filled: set[int] = set()
    awaited: set[int] = set()
    for strand in protocol.strands:
        brings = {
            barrier.offset
            for action in strand.actions
            if isinstance(action, Transfer)
            for barrier, _ in action.completes
        }
        filled |= brings
        if brings:
            awaited |= {action.barrier.offset for action in strand.actions if isinstance(action, Wait)}
    for ring in rings:
        offsets = {ring.base + ring.stride * stage for stage in range(ring.stages)}
        if offsets & filled:
            yield ring.base, "full"
        elif offsets & awaited:
            yield ring.base, "empty"


def _ring(offsets: Sequence[int]) -> _Ring | None:
    if len(offsets) < 2:
        return None
    stride = offsets[1] - offsets[0]
    if any(second - first != stride for first, second in pairwise(offsets)):
        return None
    return _Ring(offsets[0], stride, len(offsets))
