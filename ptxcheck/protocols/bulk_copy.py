"""What bulk and tensor copies do to mbarriers (PTX ISA, "Data Movement: Asynchronous copy")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..isa.modifier import Mod
from ..op import Op
from .actions import Action, Amount, Barrier, Transfer
from .lowering import Lower, Occurrence
from .machine.symbol import Form, atom, times
from .machine.trace import NotFollowedError


def _copy(occurrence: Occurrence) -> Iterator[Action]:
    if not occurrence.has("mbar"):
        return
    yield from _complete(occurrence, occurrence.amount("size"))


def _tensor(occurrence: Occurrence) -> Iterator[Action]:
    if not occurrence.has("mbar"):
        return
    yield from _complete(occurrence, _box(occurrence))


def _box(occurrence: Occurrence) -> Form:
    """Return the symbol of the bytes of one box of the tensor map that a copy names."""
    address = occurrence.event.operands["tensor_map"]
    if isinstance(address, Form):
        return atom("box_bytes", str(address))
    return atom("box_bytes", f"param+{occurrence.number('tensor_map') & 0xFFFF}")


def _complete(occurrence: Occurrence, amount: Amount) -> Iterator[Action]:
    for barrier, threads in occurrence.barriers("mbar"):
        total = times(amount, threads) if isinstance(amount, Form) else amount * threads
        yield Transfer(occurrence.point, tuple((target, total) for target in _targets(occurrence, barrier)))


def _targets(occurrence: Occurrence, barrier: Barrier) -> Iterator[Barrier]:
    """Return the barriers that a copy signals: its own, or the one at the same offset in each CTA of a mask."""
    if not occurrence.has("mask"):
        yield barrier
        return
    mask = occurrence.number("mask")
    pair = occurrence.operation.has(Mod.CTA_GROUP_2)
    for rank in range(mask.bit_length()):
        if mask >> rank & 1:
            if rank >= occurrence.shape.ctas:
                raise NotFollowedError(
                    f"mask names CTA {rank} of a cluster of {occurrence.shape.ctas}", occurrence.point
                )
            yield Barrier(rank & ~1 | barrier.cta & 1 if pair else rank, barrier.offset)


MEANINGS: Mapping[Op, Lower] = {
    Op.CP_ASYNC_BULK: _copy,
    Op.CP_REDUCE_ASYNC_BULK: _copy,
    Op.CP_ASYNC_BULK_TENSOR: _tensor,
}
