"""What tcgen05 instructions do to shared memory and mbarriers (PTX ISA, "TensorCore 5th Generation").

Multiplications and copies read shared memory through the async proxy; a commit arrives when all earlier ones of its
thread are done. Tensor memory itself is not modelled here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..isa.modifier import Mod
from ..op import Op
from .actions import Access, Action, AsyncArrive, Barrier, Transfer
from .lowering import Lower, Occurrence, nothing
from .matrix_operands import TCGEN05, operand_spans

PIPELINE = "tcgen05"
_ADDRESS_BYTES = 4


def _read(occurrence: Occurrence) -> Iterator[Action]:
    rank = occurrence.rank
    ctas = (rank & ~1, rank | 1) if occurrence.operation.has(Mod.CTA_GROUP_2) else (rank,)
    reads = tuple(operand_spans(occurrence, TCGEN05, ("a_desc", "b_desc", "s_desc"), ctas))
    yield Transfer(occurrence.point, (), PIPELINE, reads=reads)


def _commit(occurrence: Occurrence) -> Iterator[Action]:
    for barrier, threads in occurrence.barriers("mbar"):
        if not occurrence.has("mask"):
            yield AsyncArrive(occurrence.point, barrier, threads, pipeline=PIPELINE)
            continue
        for rank in occurrence.ranks(occurrence.number("mask")):
            yield AsyncArrive(occurrence.point, Barrier(rank, barrier.offset), threads, pipeline=PIPELINE)


def _allocate(occurrence: Occurrence) -> Iterator[Action]:
    """The address is written to shared memory once for the warp."""
    if occurrence.leads:
        yield Access(occurrence.point, writes=occurrence.spans("dst", _ADDRESS_BYTES), blocks=True)


MEANINGS: Mapping[Op, Lower] = {
    Op.TCGEN05_MMA: _read,
    Op.TCGEN05_MMA_SP: _read,
    Op.TCGEN05_MMA_WS: _read,
    Op.TCGEN05_MMA_WS_SP: _read,
    Op.TCGEN05_CP: _read,
    Op.TCGEN05_COMMIT: _commit,
    Op.TCGEN05_ALLOC: _allocate,
    Op.TCGEN05_DEALLOC: nothing,
    Op.TCGEN05_RELINQUISH_ALLOC_PERMIT: nothing,
    Op.TCGEN05_SHIFT: nothing,
    Op.TCGEN05_LD: nothing,
    Op.TCGEN05_LD_RED: nothing,
    Op.TCGEN05_ST: nothing,
    Op.TCGEN05_WAIT: nothing,
    Op.TCGEN05_FENCE: nothing,
}
