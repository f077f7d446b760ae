"""From recorded events to strands of actions: which threads act together, and what each event means.

The meaning of an instruction is in the file of its mechanism; this module only finds the strands and hands each
event to the right one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..cfg.cfg import Cfg
from ..op import Op
from ..spec import Operation, Trait
from .actions import Action, Barrier, Protocol, Strand
from .machine.registers import lanes_of
from .machine.symbol import Form
from .machine.trace import (
    OFFSET_MASK,
    RANK_SHIFT,
    SHARED_WINDOW,
    Event,
    NotFollowedError,
    Shape,
    ThreadSet,
    Trace,
)

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
            raise NotFollowedError(f"operand '{name}' of '{self.operation.text}' is {value}", self.point)
        if isinstance(value, int):
            return {value: self.count}
        held, counts = np.unique(value[lanes_of(self.threads, self.shape.threads)], return_counts=True)
        return dict(zip(held.tolist(), counts.tolist(), strict=True))

    def number(self, name: str) -> int:
        """Return the one number that an operand has in the strand. Raises NotFollowedError."""
        values = self.values(name)
        if len(values) != 1:
            raise NotFollowedError(
                f"operand '{name}' of '{self.operation.text}' differs between lanes", self.point
            )
        return next(iter(values))

    def amount(self, name: str) -> int | Form:
        """Return a number or symbol of bytes. Raises NotFollowedError when it differs between lanes."""
        value = self.event.operands[name]
        return value if isinstance(value, Form) else self.number(name)

    def barriers(self, name: str) -> Iterator[tuple[Barrier, int]]:
        """Yield each mbarrier that an address operand names, with the number of threads that name it."""
        for address, threads in self.values(name).items():
            yield self.barrier_at(address), threads

    def barrier_at(self, address: int) -> Barrier:
        """Return the mbarrier at a shared or generic address."""
        address &= ~SHARED_WINDOW
        rank = address >> RANK_SHIFT
        if rank >= self.shape.ctas:
            raise NotFollowedError(
                f"address {address:#x} is in CTA {rank} of a cluster of {self.shape.ctas}", self.point
            )
        return Barrier(rank, address & OFFSET_MASK)


Lower = Callable[[Occurrence], Iterator[Action]]


def build_protocol(cfg: Cfg, traces: Sequence[Trace], meanings: Mapping[Op, Lower]) -> Protocol:
    """Return the protocol of the CTAs of a cluster. Raises NotFollowedError."""
    strands = [strand for trace in traces for strand in _strands(cfg, trace, meanings)]
    threads = sum(trace.shape.threads for trace in traces)
    return Protocol(tuple(strands), threads)


def _strands(cfg: Cfg, trace: Trace, meanings: Mapping[Op, Lower]) -> Iterator[Strand]:
    for threads in _classes(cfg, trace, meanings):
        actions = tuple(_actions(cfg, trace, threads, meanings))
        first = (threads & -threads).bit_length() - 1
        warp = first // _WARP
        lanes = threads >> warp * _WARP & _WARP_MASK
        yield Strand(trace.rank, warp, lanes, _name(trace, warp, lanes), actions)


def _name(trace: Trace, warp: int, lanes: int) -> str:
    cta = f"CTA {trace.rank} " if trace.shape.ctas > 1 else ""
    if lanes == _WARP_MASK:
        return f"{cta}warp {warp}"
    if lanes.bit_count() == 1:
        return f"{cta}warp {warp} lane {lanes.bit_length() - 1}"
    return f"{cta}warp {warp}, {lanes.bit_count()} lanes"


def _classes(cfg: Cfg, trace: Trace, meanings: Mapping[Op, Lower]) -> list[ThreadSet]:
    """Split each warp into threads that take part in the same events."""
    found: list[ThreadSet] = [
        mask
        for warp in range(0, trace.shape.threads, _WARP)
        if (mask := (_WARP_MASK << warp) & ((1 << trace.shape.threads) - 1))
    ]
    distinct = dict.fromkeys(
        event.threads for event in trace.events if cfg.instructions[event.point].operation.op in meanings
    )
    for threads in distinct:
        parts: list[ThreadSet] = []
        for mask in found:
            inside = mask & threads
            parts += [p for p in (inside, mask & ~threads) if p] if inside else [mask]
        found = parts
    return found


def _actions(cfg: Cfg, trace: Trace, threads: ThreadSet, meanings: Mapping[Op, Lower]) -> Iterator[Action]:
    for event in trace.events:
        if not event.threads & threads:
            continue
        operation = cfg.instructions[event.point].operation
        lower = meanings.get(operation.op)
        if lower is not None:
            yield from lower(Occurrence(event, operation, trace.rank, trace.shape, threads))
        elif Trait.MBARRIER in operation.traits or "mbar" in operation.operand_index:
            raise NotFollowedError(
                f"'{operation.text}' touches an mbarrier and has no meaning yet", event.point
            )
