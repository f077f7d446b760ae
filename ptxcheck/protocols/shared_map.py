"""Where the buffers and barriers of a run lie in shared memory, stage by stage.

A buffer is what instructions copy into or out of, or multiply from: the starts that one instruction names in a run
are its stages, and instructions that share a start share the buffer. Operands inside a buffer belong to its stages.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from .actions import Barrier, Init, Protocol, Span, Transfer
from .barrier_names import BarrierNames

MBARRIER_BYTES = 8
_TENSOR_CORES = frozenset({"wgmma", "tcgen05"})


class BufferUse(Enum):
    """What asynchronous work does with a buffer."""

    COPIED_IN = "copied in"
    COPIED_OUT = "copied out"
    MULTIPLIED = "read by the tensor core"
    BARRIER = "mbarrier"


@dataclass(frozen=True, slots=True)
class Buffer:
    """Some bytes of shared memory in each of its stages."""

    name: str
    starts: tuple[int, ...]
    """Offset of each stage in shared memory, ascending."""
    size: int
    """Bytes of a stage that are certain."""
    is_exact: bool
    """False when a stage may go on up to the next thing in memory."""
    uses: tuple[BufferUse, ...]
    pieces: int = 1
    """Copies that fill one stage together, one behind the other."""

    def stage_of(self, offset: int) -> int | None:
        """Return the stage that an offset lies in, None for none."""
        stage = bisect_right(self.starts, offset) - 1
        if stage < 0:
            return None
        end = self.starts[stage] + self.size
        if not self.is_exact and stage + 1 < len(self.starts):
            end = max(end, self.starts[stage + 1])
        elif not self.is_exact and stage > 0:
            end = max(end, self.starts[stage] + self.starts[stage] - self.starts[stage - 1])
        return stage if offset < end or offset == self.starts[stage] else None


@dataclass(slots=True)
class _Found:
    """What is known so far of a buffer."""

    starts: set[int]
    size: int
    is_exact: bool
    uses: dict[BufferUse, None]

    def join(self, other: _Found) -> None:
        self.starts |= other.starts
        self.size = max(self.size, other.size)
        self.is_exact &= other.is_exact
        self.uses |= other.uses


def shared_map(protocol: Protocol, names: BarrierNames, cta: int = 0) -> tuple[Buffer, ...]:
    """Return the buffers and mbarriers of one CTA, by their first bytes."""
    found = _joined(list(_copied(protocol, cta)))
    for operand in _joined(list(_multiplied(protocol, cta))):
        _add_operand(found, operand)
    plain = replace(names, ctas=1)
    buffers = [
        Buffer(
            plain.of(Span(cta, min(each.starts), 0)), tuple(sorted(each.starts)), each.size, each.is_exact,
            tuple(each.uses),
        )
        for each in found
    ]  # fmt: skip
    return tuple(sorted((*_whole(buffers), *_barriers(protocol, plain, cta)), key=_place))


def _place(buffer: Buffer) -> tuple[tuple[int, ...], str]:
    return buffer.starts, buffer.name


def _whole(buffers: list[Buffer]) -> Iterator[Buffer]:
    """Yield buffers, those as one that lie side by side in each stage and are of no certain extent."""
    last: Buffer | None = None
    for buffer in sorted(buffers, key=_place):
        if last is not None and _is_piece(last, buffer):
            uses = tuple(dict.fromkeys((*last.uses, *buffer.uses)))
            last = replace(last, uses=uses, pieces=last.pieces + 1)
            continue
        if last is not None:
            yield last
        last = buffer
    if last is not None:
        yield last


def _is_piece(first: Buffer, other: Buffer) -> bool:
    """Tell whether a buffer lies inside each stage of another one, always at the same distance."""
    if first.is_exact or other.is_exact or len(first.starts) != len(other.starts) or len(first.starts) < 2:
        return False
    shifts = {theirs - own for own, theirs in zip(first.starts, other.starts, strict=True)}
    return len(shifts) == 1 and other.starts[0] < first.starts[1]


def _add_operand(found: list[_Found], operand: _Found) -> None:
    """Note that a matrix operand is read: of buffers that are copied into, or of one of its own."""
    buffers = [(each, Buffer("", tuple(sorted(each.starts)), each.size, each.is_exact, ())) for each in found]
    rest: set[int] = set()
    for start in operand.starts:
        owner = next((each for each, buffer in buffers if buffer.stage_of(start) is not None), None)
        if owner is None:
            rest.add(start)
        else:
            owner.uses.update(operand.uses)
    if rest:
        found.append(_Found(rest, operand.size, operand.is_exact, dict(operand.uses)))


def _copied(protocol: Protocol, cta: int) -> Iterator[_Found]:
    for transfer in _transfers(protocol):
        if transfer.pipeline not in _TENSOR_CORES:
            yield from _spans(transfer.writes, cta, BufferUse.COPIED_IN)
            yield from _spans(transfer.reads, cta, BufferUse.COPIED_OUT)


def _multiplied(protocol: Protocol, cta: int) -> Iterator[_Found]:
    for transfer in _transfers(protocol):
        if transfer.pipeline in _TENSOR_CORES:
            yield from _spans(transfer.reads, cta, BufferUse.MULTIPLIED)


def _transfers(protocol: Protocol) -> Iterator[Transfer]:
    """Yield the work of each instruction by instruction."""
    found: dict[int, dict[Transfer, None]] = {}
    for strand in protocol.strands:
        for action in strand.actions:
            if isinstance(action, Transfer):
                found.setdefault(action.point, {})[action] = None
    for transfers in found.values():
        starts = {span.start for transfer in transfers for span in (*transfer.writes, *transfer.reads)}
        if len(starts) <= _MOST_STAGES:
            reads = tuple(dict.fromkeys(span for transfer in transfers for span in transfer.reads))
            writes = tuple(dict.fromkeys(span for transfer in transfers for span in transfer.writes))
            yield replace(next(iter(transfers)), reads=reads, writes=writes)
        else:
            yield from transfers


_MOST_STAGES = 64
"""More places than that are no stages: the threads of a warp copy a row each."""


def _spans(spans: tuple[Span, ...], cta: int, use: BufferUse) -> Iterator[_Found]:
    mine = [span for span in spans if span.cta == cta and span.start >= 0]
    if mine:
        size = max(span.size for span in mine)
        yield _Found({span.start for span in mine}, size, all(span.exact for span in mine), {use: None})


def _joined(found: list[_Found]) -> list[_Found]:
    """Join what shares a start."""
    owners: dict[int, _Found] = {}
    for each in found:
        for start in tuple(each.starts):
            known = owners.get(start)
            if known is not None and known is not each:
                each.join(known)
        owners.update(dict.fromkeys(each.starts, each))
    return list({id(each): each for each in owners.values()}.values())


def _barriers(protocol: Protocol, names: BarrierNames, cta: int) -> Iterator[Buffer]:
    rings: dict[str, set[int]] = {}
    for strand in protocol.strands:
        for action in strand.actions:
            if isinstance(action, Init) and action.barrier.cta == cta:
                name = names.ring_of(Barrier(0, action.barrier.offset))
                rings.setdefault(name, set()).add(action.barrier.offset)
    for name, starts in rings.items():
        yield Buffer(name, tuple(sorted(starts)), MBARRIER_BYTES, True, (BufferUse.BARRIER,))
