"""Roles: threads that do the same, named by what they do to barriers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..protocols.model.actions import (
    Action,
    Arrive,
    AsyncArrive,
    Barrier,
    Init,
    Protocol,
    Rendezvous,
    Strand,
    Transfer,
    Wait,
)

_LANES = 32
WORKER = "worker"
"""Who takes part and has no role that has a name."""


@dataclass(frozen=True, slots=True)
class RoleOf:
    """Strands of one CTA that execute the same synchronising instructions in the same order."""

    name: str
    duty: str
    """What it is, as a noun, which a sentence about it begins with."""
    strands: tuple[int, ...]


def alone(protocol: Protocol, strand: int) -> RoleOf:
    """Return the role of one strand without others that do the same."""
    return _role(protocol, [strand], len({each.cta for each in protocol.strands}))


def roles_of(protocol: Protocol) -> tuple[RoleOf, ...]:
    """Return the roles of a protocol, in the order of their first strands."""
    groups: dict[object, list[int]] = {}
    for index, strand in enumerate(protocol.strands):
        groups.setdefault((strand.cta, _points(strand)), []).append(index)
    ctas = len({strand.cta for strand in protocol.strands})
    return tuple(_role(protocol, members, ctas) for members in groups.values())


def _points(strand: Strand) -> tuple[int, ...]:
    return tuple(action.point for action in strand.actions)


def _role(protocol: Protocol, members: Sequence[int], ctas: int) -> RoleOf:
    strands = [protocol.strands[index] for index in members]
    duty = duty_of(strands[0])
    cta = f"CTA {strands[0].cta}, " if ctas > 1 else ""
    return RoleOf(f"{duty} ({cta}{_threads(strands)})", duty, tuple(members))


def _threads(strands: Sequence[Strand]) -> str:
    """Return `warp 0, lane 0`, `warps 4-7`, `warps 4-7, 31 lanes of each`."""
    warps = sorted({strand.warp for strand in strands})
    word = "warp" if len(warps) == 1 else "warps"
    each = " of each" if len(warps) > 1 else ""
    lanes = {strand.lanes for strand in strands}
    text = f"{word} {', '.join(_ranges(warps))}"
    if len(lanes) > 1:
        return text
    (mask,) = lanes
    if mask.bit_count() == _LANES:
        return text
    if mask.bit_count() == 1:
        return f"{text}, lane {mask.bit_length() - 1}{each}"
    return f"{text}, {mask.bit_count()} lanes{each}"


def _ranges(numbers: Sequence[int]) -> Iterator[str]:
    """Yield `4-7` for runs of numbers."""
    start = last = numbers[0]
    for number in (*numbers[1:], None):
        if number is not None and number == last + 1:
            last = number
            continue
        yield str(start) if start == last else f"{start}-{last}"
        if number is not None:
            start = last = number


_TENSOR_CORES = frozenset({"wgmma", "tcgen05"})


@dataclass(slots=True)
class _Deeds:
    """What the actions of a strand amount to."""

    waited: set[Barrier] = field(default_factory=set)
    arrived: set[Barrier] = field(default_factory=set)
    loads: bool = False
    stores: bool = False
    multiplies: bool = False
    initialises: bool = False
    meets: bool = False

    def add(self, action: Action) -> None:
        match action:
            case Transfer():
                self.multiplies |= action.pipeline in _TENSOR_CORES
                self.loads |= bool(action.completes)
                self.stores |= not action.completes and action.pipeline not in _TENSOR_CORES
            case AsyncArrive():
                self.arrived.add(action.barrier)
                self.multiplies |= action.pipeline in _TENSOR_CORES
            case Wait():
                self.waited.add(action.barrier)
            case Arrive():
                self.arrived.add(action.barrier)
            case Init():
                self.initialises = True
            case Rendezvous():
                self.meets = True
            case _:
                pass


def duty_of(strand: Strand) -> str:
    """Return what a strand is for: who issues copies is a producer, who waits and releases a consumer."""
    deeds = _Deeds()
    for action in strand.actions:
        deeds.add(action)
    if deeds.loads:
        return "producer and tensor core issuer" if deeds.multiplies else "producer"
    if deeds.multiplies:
        return "consumer and tensor core issuer" if deeds.waited else "tensor core issuer"
    if deeds.waited and deeds.arrived - deeds.waited:
        return "consumer and store issuer" if deeds.stores else "consumer"
    if deeds.waited or deeds.arrived:
        return WORKER
    if deeds.stores:
        return "store issuer"
    if deeds.initialises:
        return "initialiser"
    return WORKER if deeds.meets else "bystander"
