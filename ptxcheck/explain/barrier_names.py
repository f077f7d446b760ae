"""Names of barriers for people: the shared variable and what lies where in it, and the stage of a ring.

A ring is found by its use: the mbarriers that one instruction names in one run, when their offsets go up in equal
steps, are its stages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from ..ir import Function, Module
from ..protocols.model.actions import (
    LANES,
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
    TensorAccess,
    Transfer,
    Wait,
)
from ..protocols.model.tensor_address import ABSOLUTE
from ..protocols.symex.slice.layout import layout_of

_LOCAL_NAME = re.compile(r"E(\d+)")
"""What separates a local name from its function (Itanium C++ ABI, 5.1.6)."""
_QUALIFIED = re.compile(r"_ZN\d\w*E")
_LENGTH = re.compile(r"\d{1,4}")
_OF_WARP = frozenset({"warp", LANES})
"""First words of the names of counted barriers of lanes."""
Place: TypeAlias = Barrier | Span | tuple[object, ...] | None
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

    def of(self, barrier: Place) -> str:
        """Return the name of any barrier or bytes: `full[1]`, `smem+4096 (stage 1 of 4)`, `barrier 3`."""
        if isinstance(barrier, Span):
            return self._span(barrier)
        if isinstance(barrier, Barrier):
            cta = f" of CTA {barrier.cta}" if self.ctas > 1 else ""
            return f"{self._place(barrier.offset)}{cta}"
        if barrier is None:
            return "a step"
        kind, *rest = barrier
        if kind == "shared" and len(rest) == 2:
            return self._span(Span(int(str(rest[0])), int(str(rest[1])), 0))
        if kind == "tmem":
            owner, origin, column = rest
            start = "tensor memory" if origin == ABSOLUTE else f"allocation {origin} of tensor memory"
            return f"column {column} of {start}" + (f" of CTA {owner}" if self.ctas > 1 else "")
        if kind == "cta":
            return f"shared memory of CTA {rest[0]}"
        if kind == "registers":
            return f"the registers of CTA {rest[0]}"
        if kind == "bar" and len(rest) == 2:
            return f"barrier {rest[1]}" + (f" of CTA {rest[0]}" if self.ctas > 1 else "")
        if kind == "cluster":
            return "the cluster barrier"
        if kind in _OF_WARP:
            return "the barrier of its warp"
        return " ".join(str(part) for part in barrier)

    def ring_of(self, barrier: Barrier | tuple[object, ...]) -> str:
        """Return one name for all stages of a ring: `full[0-3]`; the name of any other barrier."""
        if not isinstance(barrier, Barrier):
            return self.of(barrier)
        ring = next((ring for ring in self.rings if ring.stage(barrier.offset) is not None), None)
        if ring is None:
            return self.of(barrier)
        cta = f" of CTA {barrier.cta}" if self.ctas > 1 else ""
        start, name = self._variable(ring.base)
        if ring.base == start:
            return f"{name}[0-{ring.stages - 1}]{cta}"
        return f"{_plus(name, ring.base - start)} ({ring.stages} stages){cta}"

    def _variable(self, offset: int) -> tuple[int, str]:
        return max(((at, name) for at, name in self.variables if at <= offset), default=(0, "shared memory"))

    def _span(self, span: Span) -> str:
        """Return bytes of shared memory: `data+1024, 1024 bytes`."""
        if span.start < 0:
            return "shared memory at an unknown place"
        cta = f" of CTA {span.cta}" if self.ctas > 1 else ""
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
        return f"{_plus(name, offset - start)} (stage {stage} of {ring.stages})"


def _plus(name: str, shift: int) -> str:
    return f"{name}+{shift}" if shift else name


def barrier_names(function: Function, module: Module, protocol: Protocol) -> BarrierNames:
    """Return names for the barriers of a run."""
    layout = layout_of(function, module)
    variables = sorted((offset, readable(name)) for (name, _), offset in layout.shared.items())
    ctas = len({strand.cta for strand in protocol.strands})
    arrays = frozenset(_arrays([offset for offset, _ in variables], protocol))
    return BarrierNames(tuple(variables), tuple(_rings(protocol)), arrays, ctas)


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


def barriers_of(action: Action) -> tuple[Barrier | tuple[object, ...], ...]:
    """Return all barriers that an action is about."""
    if isinstance(action, Rendezvous):
        return (action.name,)
    return tuple(mbarriers_of(action))


def is_of_warp(action: Action) -> bool:
    """Tell whether an action only concerns lanes of one warp."""
    return isinstance(action, Rendezvous) and action.name[0] in _OF_WARP


def is_about(action: Action, place: Place) -> bool:
    """Tell whether an action is about a barrier, or touches some of the bytes."""
    match place:
        case Span():
            return _touches(action, place.cta, place.start, place.end)
        case ("shared", int(cta), int(start)):
            return _touches(action, cta, start, start + 1)
        case ("tmem", int(cta), int(origin), int(column)):
            return isinstance(action, TensorAccess) and any(
                (each.cta, each.origin) == (cta, origin) and each.start <= column < each.start + each.size
                for each in (*action.reads, *action.writes)
            )
        case ("cta", int(cta)):
            return any(isinstance(b, Barrier) and b.cta == cta for b in barriers_of(action))
        case ("registers", *_):
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


def _ring(offsets: Sequence[int]) -> _Ring | None:
    if len(offsets) < 2:
        return None
    stride = offsets[1] - offsets[0]
    if any(second - first != stride for first, second in pairwise(offsets)):
        return None
    return _Ring(offsets[0], stride, len(offsets))
