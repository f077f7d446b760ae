"""Where the buffers and barriers of a run lie in shared memory, stage by stage.

A buffer is what instructions copy into or out of, or multiply from: what one instruction names from round to round are
its stages, and instructions that share a start share the buffer. Threads that copy through the generic proxy fill a
stage together; through the async proxy each one that copies has a stage of its own. Operands inside a buffer belong to
its stages.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from ..protocols.model.actions import (
    Barrier,
    Init,
    Protocol,
    Proxy,
    Span,
    Transfer,
)
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
    """Places that copies of one stage start at."""

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
    pieces: int = 1

    def join(self, other: _Found) -> None:
        self.starts |= other.starts
        self.size = max(self.size, other.size)
        self.is_exact &= other.is_exact
        self.uses |= other.uses
        self.pieces = max(self.pieces, other.pieces)


def shared_map(protocol: Protocol, names: BarrierNames, cta: int = 0) -> tuple[Buffer, ...]:
    """Return the buffers and mbarriers of one CTA, by their first bytes."""
    found = _joined(_by_instruction(_copied(protocol, cta)))
    for operand in _joined(_by_instruction(_multiplied(protocol, cta))):
        _add_operand(found, operand)
    plain = replace(names, ctas=1)
    buffers = [
        Buffer(
            plain.of(Span(cta, min(each.starts), 0)), tuple(sorted(each.starts)), each.size, each.is_exact,
            tuple(each.uses), each.pieces,
        )
        for each in found
    ]  # fmt: skip
    return tuple(sorted((*_whole(buffers), *_barriers(protocol, plain, cta)), key=_place))


def _place(buffer: Buffer) -> tuple[tuple[int, ...], str]:
    return buffer.starts, buffer.name


def _whole(buffers: list[Buffer]) -> Iterator[Buffer]:
    """Yield buffers, those as one that lie side by side in each stage, when they are many or of no certain extent."""
    chain: list[Buffer] = []
    for buffer in sorted(buffers, key=_place):
        if chain and not _is_piece(chain[0], buffer):
            yield from _merged(chain)
            chain = []
        chain.append(buffer)
    yield from _merged(chain)


def _merged(chain: list[Buffer]) -> list[Buffer]:
    if len(chain) < 2 or (len(chain) <= _OPERANDS and all(buffer.is_exact for buffer in chain)):
        return chain
    first, last = chain[0], max(chain, key=lambda buffer: buffer.starts[0] + buffer.size)
    uses = dict.fromkeys(use for buffer in chain for use in buffer.uses)
    size = last.starts[0] + last.size - first.starts[0]
    is_exact = all(buffer.is_exact for buffer in chain)
    pieces = sum(buffer.pieces for buffer in chain)
    return [replace(first, size=size, is_exact=is_exact, uses=tuple(uses), pieces=pieces)]


_OPERANDS = 4
"""So many exact buffers side by side are operands of their own; more are parts of one."""


def _is_piece(first: Buffer, other: Buffer) -> bool:
    """Tell whether a buffer lies inside each stage of another one, always at the same distance."""
    if len(first.starts) != len(other.starts) or len(first.starts) < 2:
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


def _copied(protocol: Protocol, cta: int) -> Iterator[tuple[int, _Found]]:
    """Yield what one instruction copies in one round: by one strand, or by all threads together."""
    rounds: dict[tuple[int, int, int], list[Transfer]] = {}
    for number, strand in enumerate(protocol.strands):
        seen: Counter[int] = Counter()
        last: dict[int, int] = {}
        for index, action in enumerate(strand.actions):
            if not isinstance(action, Transfer) or action.pipeline in _TENSOR_CORES:
                continue
            event = strand.events[index] if strand.events else index
            if last.get(action.point) != event:
                seen[action.point] += 1
                last[action.point] = event
            owner = number if action.proxy is Proxy.ASYNC else -1
            rounds.setdefault((action.point, owner, seen[action.point]), []).append(action)
    for (point, _, _), transfers in rounds.items():
        for use, spans in (
            (BufferUse.COPIED_IN, [span for each in transfers for span in each.writes]),
            (BufferUse.COPIED_OUT, [span for each in transfers for span in each.reads]),
        ):
            mine = [span for span in spans if span.cta == cta and span.start >= 0]
            if mine:
                start, end = min(span.start for span in mine), max(span.end for span in mine)
                pieces = len({span.start for span in mine})
                is_exact = all(span.exact for span in mine)
                yield point, _Found({start}, end - start, is_exact, {use: None}, pieces)


def _by_instruction(found: Iterator[tuple[int, _Found]]) -> list[_Found]:
    """Join what one instruction names: its stages."""
    owners: dict[tuple[int, BufferUse], _Found] = {}
    for point, each in found:
        known = owners.setdefault((point, next(iter(each.uses))), each)
        if known is not each:
            known.join(each)
    return list(owners.values())


def _multiplied(protocol: Protocol, cta: int) -> Iterator[tuple[int, _Found]]:
    for strand in protocol.strands:
        for action in strand.actions:
            if isinstance(action, Transfer) and action.pipeline in _TENSOR_CORES:
                for span in action.reads:
                    if span.cta == cta and span.start >= 0:
                        found = _Found(
                            {span.start}, span.size or span.reach, span.exact, {BufferUse.MULTIPLIED: None}
                        )
                        yield action.point, found


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
